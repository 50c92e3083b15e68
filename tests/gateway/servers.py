"""Servers below HTTP, so that a client meets what no well-behaved server would send."""

import asyncio
import random
import shutil
import socket
import ssl
import struct
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.clock import Clock, SystemClock
from harness.gateway.answer import Answer, Question
from harness.gateway.pacing import Budget, Pacer
from harness.gateway.rest import RestClient, RestSettings
from harness.gateway.retry import Asker, RetryPolicy

KEY: Final = "secret-key-of-the-tests"
QUERY: Final = "How thick must the held-out pipe be?"
QUESTION: Final = Question(corpus="acme-p100", society="ACME", query=QUERY, max_tokens=1200, ref="acme/0001")

Respond = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass(slots=True)
class Server:
    """A listening server: its base URL, and the requests that came, byte for byte."""

    url: str = ""
    requests: list[bytes] = field(default_factory=list)


@asynccontextmanager
async def serving(respond: Respond, tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    """A server on loopback that reads one request a connection, responds and closes."""
    seen = Server()
    connections: set[asyncio.Task[None]] = set()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            connections.add(task)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            sizes = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            seen.requests.append(head + await reader.readexactly(int(sizes[0].split(b":")[1]) if sizes else 0))
            await respond(writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client went away, or the test is over
        finally:
            writer.close()

    server = await asyncio.start_server(converse, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    seen.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    try:
        yield seen
    finally:
        server.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        await server.wait_closed()


def sending(raw: bytes) -> Respond:
    """Responds with these bytes."""

    async def respond(writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        await writer.drain()

    return respond


def replying(body: bytes = b"", *, status: str = "200 OK", **headers: str) -> Respond:
    """Responds with a well-formed HTTP response; a keyword `Retry_After` becomes the header Retry-After."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return sending("\r\n".join([*lines, "", ""]).encode("latin-1") + body)


async def hanging(_: asyncio.StreamWriter) -> None:
    """Never responds."""
    await asyncio.get_running_loop().create_future()


def dripping(head: bytes, piece: bytes) -> Respond:
    """Sends the head and then one piece for ever, so that no single read ever waits for long."""

    async def respond(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.005)

    return respond


async def resetting(writer: asyncio.StreamWriter) -> None:
    """Breaks the connection off with a reset."""
    raw: socket.socket = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def ask_at(url: str, question: Question = QUESTION, clock: Clock | None = None, **settings: Any) -> Answer:
    """One attempt at that address by a client of its own."""
    client = RestClient(RestSettings(url=url, key=KEY, **settings), clock or SystemClock())
    try:
        return await client.ask_once(question)
    finally:
        await client.aclose()


async def ask_patiently(url: str, question: Question, clock: Clock, key: str = KEY) -> Answer:
    """The question asked through the retry layer, with its defaults, over a client of its own."""
    client = RestClient(RestSettings(url=url, key=key), clock)
    asker = Asker(
        client,
        clock,
        pacer=Pacer(clock, concurrency=2),
        budget=Budget(),
        policy=RetryPolicy(),
        jitter=random.Random(1),
    )
    try:
        return await asker.ask(question)
    finally:
        await client.aclose()


def ask(respond: Respond, question: Question = QUESTION, clock: Clock | None = None, **settings: Any) -> Answer:
    """One attempt against a server of its own."""
    return ask_and_see(respond, question, clock, **settings)[0]


def ask_and_see(
    respond: Respond, question: Question = QUESTION, clock: Clock | None = None, **settings: Any
) -> tuple[Answer, list[bytes]]:
    """One attempt against a server of its own, and the requests that reached it."""

    async def run() -> tuple[Answer, list[bytes]]:
        async with serving(respond) as server:
            return await ask_at(server.url, question, clock, **settings), server.requests

    return asyncio.run(run())


def self_signed(folder: Path, name: str) -> tuple[Path, ssl.SSLContext]:
    """A new certificate for that alternative name, such as `IP:127.0.0.1`, and a server's context that uses it."""
    command = shutil.which("openssl")
    if command is None:
        raise AssertionError("the tests need the openssl command")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    whose = ["-subj", "/CN=test", "-addext", f"subjectAltName={name}"]
    subprocess.run(
        [command, "req", *kind, *whose, "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return certificate, context
