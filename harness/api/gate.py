"""Who may call: bearer tokens compared in constant time, failed attempts limited, before anything else is looked at."""

import hmac
import re
import traceback
from collections import OrderedDict, deque
from threading import Lock
from typing import Final

import structlog
from sqlalchemy import Engine
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.api.problems import UNAVAILABLE, Problem, unavailable
from harness.clock import Clock
from harness.store.tokens import PREFIX, Token, find_token, hash_token

READ: Final = "read:sla"
WRITE: Final = "write:ack"
PROTECTED: Final = "/v1/"

MOST_FAILURES: Final = 10
WINDOW_SECONDS: Final = 60.0
"""Failed attempts of one address on one token that are answered with 401 within this time; more get 429."""

MOST_BYTES: Final = 64 * 1024
"""Of a request's body: an acknowledgement is a line."""

_KEPT: Final = 10_000
_TOKEN: Final = re.compile(rf"{PREFIX}_([0-9a-f]{{12}})_[A-Za-z0-9_-]{{43}}")
_NO_HASH: Final = "0" * 64

_HEADERS: Final = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'",
    "Referrer-Policy": "no-referrer",
}
"""Of every answer that does not say otherwise; only pages do, which need their styles and images."""

_log = structlog.get_logger()


class Failures:
    """Failed attempts by address and token, the least recent forgotten first."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._times: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()
        self._lock = Lock()

    def wait(self, key: tuple[str, str]) -> float:
        """Seconds until another attempt is looked at; 0 for now."""
        with self._lock:
            times = self._times.get(key)
            if times is None or len(times) < MOST_FAILURES:
                return 0.0
            return times[0] + WINDOW_SECONDS - self._clock.monotonic()

    def note(self, key: tuple[str, str]) -> None:
        """Count a failed attempt."""
        with self._lock:
            self._times.setdefault(key, deque(maxlen=MOST_FAILURES)).append(self._clock.monotonic())
            self._times.move_to_end(key)
            while len(self._times) > _KEPT:
                self._times.popitem(last=False)


class Gate:
    """Middleware: no address below `/v1/` answers without a token of the right scope. The token is then in the scope's
    state as `token`. Every answer has security headers, also the one to an error of ours."""

    def __init__(self, app: ASGIApp, engine: Engine, clock: Clock) -> None:
        self._app = app
        self._engine = engine
        self._clock = clock
        self._failures = Failures(clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            if scope["path"].startswith(PROTECTED):
                scope.setdefault("state", {})["token"] = await run_in_threadpool(self._admit, scope)
            await self._app(scope, _at_most(MOST_BYTES, receive), send_with_headers)
        except Problem as problem:
            await problem.response()(scope, receive, send_with_headers)
        except Exception:
            if started:  # what was begun is broken off: the caller must not take it for whole
                raise
            _log.error("request_failed", traceback=traceback.format_exc())
            unexpected = Problem(500, "unexpected", "Something failed on our side; it is in our log.")
            await unexpected.response()(scope, receive, send_with_headers)

    def _admit(self, scope: Scope) -> Token:
        """The token that may make this call. Raises Problem."""
        client = scope.get("client")
        text = _presented(Headers(scope=scope).get("authorization", ""))
        if not text:
            raise _unknown()  # nothing was tried: not an attempt to count
        match = _TOKEN.fullmatch(text)
        try:
            token = None if match is None else find_token(self._engine, match[1])
        except UNAVAILABLE as error:
            raise unavailable(error) from None
        key = ("" if client is None else client[0], "" if token is None else token.token_id)
        if (wait := self._failures.wait(key)) > 0:
            headers = {"Retry-After": str(int(wait) + 1)}
            raise Problem(
                429, "too-many-failures", "Too many failed authentications; wait, and mend the token.", headers
            )
        same = hmac.compare_digest(hash_token(text), _NO_HASH if token is None else token.secret_sha256)
        if token is None or not same or token.state(self._clock.now()) != "active":
            self._failures.note(key)
            raise _unknown()
        needed = WRITE if scope["method"] == "POST" else READ
        if needed not in token.scopes:
            raise Problem(403, "wrong-scope", f"The token lacks the scope {needed}.")
        return token


def _at_most(size: int, receive: Receive) -> Receive:
    """Receive a body of at most that many bytes. Raises HTTPException as soon as more have come."""
    left = size

    async def receive_some() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise HTTPException(413)
        return message

    return receive_some


def _unknown() -> Problem:
    return Problem(
        401,
        "no-token",
        "No valid token: send Authorization: Bearer with one that `harness tokens create` made.",
        {"WWW-Authenticate": 'Bearer realm="citehouse"'},
    )


def _presented(header: str) -> str:
    """The credential of a Bearer header; empty for any other."""
    scheme, _, credential = header.partition(" ")
    return credential.strip() if scheme.lower() == "bearer" else ""
