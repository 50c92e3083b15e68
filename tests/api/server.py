"""The API on a real server, and a caller that returns errors instead of raising them."""

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import uvicorn
from sqlalchemy import Engine
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from harness.api.app import create_app
from harness.clock import Clock
from harness.store.ledger import Ledger
from harness.store.tokens import SCOPES, create_token

BOTH: Final = SCOPES
NO_SITE: Final = Path("/nonexistent/site")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def kind(self) -> str:
        """The kind of a problem, which every answer of this caller's must be that is none of success."""
        assert self.headers["content-type"] == "application/problem+json", self.headers
        problem = self.json
        assert set(problem) == {"type", "title", "status", "detail"} and problem["status"] == self.status
        return str(problem["type"]).removeprefix("urn:citehouse:problem:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Calls one server with one token; without one where `token` is None."""

    url: str
    token: str | None = field(default=None, repr=False)

    def get(self, path: str) -> Reply:
        return self.call("GET", path)

    def post(self, path: str, content: Any, key: str | None = None) -> Reply:
        """Post JSON, or bytes as they are."""
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        headers = {"Content-Type": "application/json"} | ({} if key is None else {"Idempotency-Key": key})
        return self.call("POST", path, body, headers)

    def call(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        parts = urlsplit(self.url)
        connection = HTTPConnection(str(parts.hostname), parts.port, timeout=30)
        sent = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        try:
            connection.request(method, path, body, sent | dict(headers or {}))
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(status=answer.status, headers=found, body=answer.read())
        finally:
            connection.close()


class HeldCall:
    """Middleware that lets one call of several wait before it is looked at, until `go` is set."""

    def __init__(self) -> None:
        self._app: ASGIApp | None = None
        self._left = 0
        self.reached = threading.Event()
        self.go = threading.Event()

    def around(self, app: ASGIApp) -> ASGIApp:
        self._app = app
        return self

    def hold(self, number: int) -> None:
        """Hold the so-manieth call from now on."""
        self.reached.clear()
        self.go.clear()
        self._left = number

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._app is not None
        self._left -= 1
        if self._left == 0:
            self.reached.set()
            await run_in_threadpool(self.go.wait)
        await self._app(scope, receive, send)


@contextmanager
def serving(
    ledger: Ledger, clock: Clock, around: Callable[[ASGIApp], ASGIApp] | None = None, site: Path = NO_SITE
) -> Iterator[str]:
    """The API's address while the block lasts; `around` puts something before it, `site` is the site's root."""
    app: ASGIApp = create_app(ledger, clock, site)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()  # from now on a call waits until the server has begun
        served = app if around is None else around(app)
        config = uvicorn.Config(served, log_config=None, access_log=False, lifespan="off", server_header=False)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(timeout=30)


def token_for(engine: Engine, clock: Clock, *scopes: str, days: int = 365) -> str:
    """A token of these scopes, of all where none is named."""
    now = clock.now()
    return create_token(engine, "test", scopes or BOTH, now, now + timedelta(days=days))[1]
