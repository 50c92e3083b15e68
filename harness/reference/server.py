"""The reference gateway as a running server: on this thread until it is told to stop, or on its own beside a caller."""

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import structlog
import uvicorn

from harness.clock import Clock, SystemClock
from harness.errors import UsageError
from harness.reference.app import Gateway
from harness.reference.corpus import load_library
from harness.reference.faults import load_profile
from harness.reference.ledger import Ledger
from harness.reference.limit import RateLimit
from harness.reference.service import Service

_BACKLOG: Final = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceSettings:
    """How the gateway runs. `port` 0 takes a free one; `keys` maps a bearer key to the corpora it may ask (None: all).

    `faults` is a built-in profile or a TOML file; `ledger` None keeps the calls in memory; `rate` is calls a second
    for each key, None for no limit.
    """

    testsets: Path
    host: str = "127.0.0.1"
    port: int = 0
    keys: Mapping[str, tuple[str, ...] | None] = field(repr=False)
    faults: str | Path = "none"
    seed: int = 0
    ledger: Path | None = None
    rate: float | None = None
    clock: Clock = field(default_factory=SystemClock, repr=False)


def run_gateway(settings: ReferenceSettings, on_ready: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT, then finish what is in flight and return; called on the main thread.

    `on_ready` gets the base URL once connections are accepted. Raises UsageError for an address that cannot be
    listened on, an unknown profile, a ledger that cannot be opened or no test sets, InvalidInput for files that cannot
    be read.
    """
    with _prepared(settings) as (server, listener):
        server.on_ready = on_ready
        asyncio.run(_serve_until_signalled(server, listener))


@contextmanager
def running_gateway(settings: ReferenceSettings) -> Iterator[str]:
    """A gateway on a thread of its own; gives its base URL once it accepts connections, and has stopped at the end.

    Raises as run_gateway does.
    """
    with _prepared(settings) as (server, listener):
        ready = threading.Event()
        server.on_ready = lambda _: ready.set()

        def serve() -> None:
            try:
                asyncio.run(server.serve(sockets=[listener]))
            finally:
                ready.set()

        thread = threading.Thread(target=serve, name="reference-gateway", daemon=True)
        thread.start()
        ready.wait()
        try:
            if not server.started:
                raise UsageError(f"the reference gateway did not start on {server.url}")
            yield server.url
        finally:
            server.should_exit = True
            thread.join()


class _Server(uvicorn.Server):
    """uvicorn's server that says when it is ready, leaves signals to us, and wakes what hangs when it stops."""

    def __init__(self, config: uvicorn.Config, gateway: Gateway, url: str) -> None:
        super().__init__(config)
        self.url = url
        self.on_ready: Callable[[str], None] = lambda _: None
        self._gateway = gateway

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.on_ready(self.url)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._gateway.stopping.set()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextmanager
def _prepared(settings: ReferenceSettings) -> Iterator[tuple[_Server, socket.socket]]:
    """A server with its listening socket, and everything it holds closed at the end."""
    profile = load_profile(settings.faults)
    library = load_library(settings.testsets, settings.clock.now().date())
    log = structlog.get_logger(__name__)
    for problem in library.left_out:
        log.warning("corpus left out", problem=str(problem))
    with ExitStack() as held:
        service = held.enter_context(closing(Service(library, profile, settings.seed)))
        ledger = held.enter_context(closing(Ledger(settings.ledger)))
        listener, url = _listen(settings.host, settings.port)
        held.enter_context(listener)
        gateway = Gateway(
            service,
            ledger,
            keys=settings.keys,
            limit=RateLimit(settings.clock, settings.rate),
            clock=settings.clock,
        )
        config = uvicorn.Config(
            gateway,
            http="h11",
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=5,
        )
        yield _Server(config, gateway, url), listener


def _listen(host: str, port: int) -> tuple[socket.socket, str]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        why = str(error.strerror).partition(" (while")[0]
        raise UsageError(f"cannot listen on {host}:{port}: {why}") from None
    shown = f"[{host}]" if ":" in host else host
    return listener, f"http://{shown}:{listener.getsockname()[1]}"


async def _serve_until_signalled(server: _Server, listener: socket.socket) -> None:
    def stop() -> None:
        server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    try:
        await server.serve(sockets=[listener])
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
