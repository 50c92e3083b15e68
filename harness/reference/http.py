"""The little of HTTP that the gateway needs over ASGI: a request's parts, a reply, problem+json."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from harness.reference.service import Refusal

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

BODY_LIMIT: Final = 64 * 1024
"""Bytes of a request's body that are taken."""

_encode: Final = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request; `segments` are the path's parts, each decoded on its own so that `%2F` stays inside its part."""

    method: str
    segments: tuple[str, ...]
    headers: Mapping[str, str] = field(repr=False)
    receive: Receive = field(repr=False)

    @classmethod
    def of(cls, scope: Scope, receive: Receive) -> "Request":
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        path = raw.decode("latin-1").partition("?")[0]
        return cls(
            method=scope["method"],
            segments=tuple(unquote(part) for part in path.strip("/").split("/")),
            headers={name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]},
            receive=receive,
        )

    async def body(self) -> bytes:
        """The whole body. Raises Refusal 413 once it is over the limit."""
        chunks, size = list[bytes](), 0
        while True:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise Refusal(400, "The connection ended before the body did.")
            chunk: bytes = message.get("body", b"")
            size += len(chunk)
            if size > BODY_LIMIT:
                raise Refusal(413, f"A body has at most {BODY_LIMIT} bytes.")
            chunks.append(chunk)
            if not message.get("more_body", False):
                return b"".join(chunks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One response, complete."""

    status: int = 200
    body: bytes = field(repr=False)
    media_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)

    def start(self) -> MutableMapping[str, Any]:
        """The ASGI message that opens the response."""
        headers = {"content-type": self.media_type, "content-length": str(len(self.body)), **self.headers}
        return {
            "type": "http.response.start",
            "status": self.status,
            "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()],
        }

    async def send(self, send: Send) -> None:
        await send(self.start())
        await send({"type": "http.response.body", "body": self.body})


def json_reply(value: Any) -> Reply:
    return Reply(body=_encode(value))


def problem_reply(refusal: Refusal, **members: Any) -> Reply:
    """The refusal as problem+json (RFC 9457)."""
    told = {
        "type": "about:blank",
        "title": HTTPStatus(refusal.status).phrase,
        "status": refusal.status,
        "detail": refusal.detail,
    }
    return Reply(
        status=refusal.status,
        body=_encode(told | members),
        media_type="application/problem+json",
        headers=refusal.headers,
    )


async def pause(seconds: float, receive: Receive, stopping: asyncio.Event) -> bool:
    """Wait that long; false where the caller went away or the server stops before."""
    gone = asyncio.ensure_future(_gone(receive))
    stopped = asyncio.ensure_future(stopping.wait())
    try:
        done, _ = await asyncio.wait({gone, stopped}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return not done
    finally:
        gone.cancel()
        stopped.cancel()
        await asyncio.gather(gone, stopped, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
