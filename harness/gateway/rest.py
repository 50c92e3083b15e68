"""Asking over REST: one POST, one answer, whatever the gateway does (gateway.md, REST)."""

import ssl
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Final

import aiohttp

from harness.clock import Clock
from harness.gateway.answer import Answer, Attempt, Question, Reason
from harness.gateway.body import error_ledger_entry, read_body
from harness.gateway.mapping import RestMapping

SIZE_LIMIT: Final = 8 * 1024 * 1024
"""Bytes of a body that are read before it is given up as too large."""

PROTOCOL_VERSION: Final = "v1"
_CHUNK: Final = 64 * 1024
_CHARSETS: Final = frozenset({"utf-8", "utf8", "us-ascii"})
_STATUS_REASONS: Final = {401: Reason.UNAUTHORIZED, 403: Reason.FORBIDDEN, 429: Reason.RATE_LIMITED}


@dataclass(frozen=True, slots=True, kw_only=True)
class RestSettings:
    """Where and how to ask. `url` is the base without trailing slash; `call_timeout` seconds of one attempt."""

    url: str
    key: str | None = field(default=None, repr=False)
    call_timeout: float = 30.0
    connections: int = 64
    ca_file: Path | None = None
    mapping: RestMapping = field(default_factory=RestMapping)


class RestClient:
    """A transport over one connection pool; made inside a running event loop, closed with `aclose`."""

    def __init__(self, settings: RestSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        headers = {"Accept": "application/json"}
        if settings.key is not None:
            scheme = settings.mapping.auth_scheme
            headers[settings.mapping.auth_header] = f"{scheme} {settings.key}" if scheme else settings.key
        trusted = ssl.create_default_context(cafile=None if settings.ca_file is None else str(settings.ca_file))
        self._session = aiohttp.ClientSession(
            headers=headers,
            connector=aiohttp.TCPConnector(limit=settings.connections, ssl=trusted),
            # 0 would mean "no limit" to the library; to us 0 means 0 (operations.md), so at least a tick is given.
            timeout=aiohttp.ClientTimeout(total=max(settings.call_timeout, 1e-6)),
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def aclose(self) -> None:
        await self._session.close()

    async def ask_once(self, question: Question) -> Answer:
        """One attempt; what the gateway does wrong is a reason in the answer, never an exception (law 6)."""
        begun = self._clock.monotonic()
        try:
            answer, attempt = await self._post(question)
        except TimeoutError:
            answer, attempt = _failed(Reason.TIMEOUT)
        except aiohttp.ClientError as error:
            answer, attempt = _failed(_connection_reason(error))
        except (OSError, ValueError):  # a reset outside of the library's own errors; a reply that is no HTTP
            answer, attempt = _failed(Reason.DISCONNECTED)
        elapsed = round((self._clock.monotonic() - begun) * 1000)
        attempt = replace(attempt, elapsed_ms=elapsed, reason=answer.reason, ledger_entry_id=answer.ledger_entry_id)
        return replace(answer, attempts=(attempt,), transport="rest", protocol_version=PROTOCOL_VERSION)

    async def _post(self, question: Question) -> tuple[Answer, Attempt]:
        mapping = self._settings.mapping
        url = self._settings.url + mapping.path(question)
        async with self._session.post(url, json=mapping.body(question), allow_redirects=False) as response:
            raw = await _read_within_limit(response.content)
            attempt = Attempt(
                elapsed_ms=0,
                http_status=response.status,
                retry_after_s=_retry_after(response.headers.get("Retry-After"), self._clock.now()),
            )
            if raw is None:
                return Answer(reason=Reason.TOO_LARGE), attempt
            if response.status != 200:
                ledger = error_ledger_entry(raw, mapping)
                return Answer(raw=raw, reason=_status_reason(response.status), ledger_entry_id=ledger), attempt
            if (response.charset or "utf-8").lower() not in _CHARSETS:
                return Answer(raw=raw, reason=Reason.NOT_JSON), attempt
            return read_body(Answer(raw=raw), mapping), attempt


async def _read_within_limit(content: aiohttp.StreamReader) -> bytes | None:
    """The body, or None once it is known to be over the limit; no more than that is ever held."""
    chunks, size = list[bytes](), 0
    async for chunk in content.iter_chunked(_CHUNK):
        size += len(chunk)
        if size > SIZE_LIMIT:
            return None
        chunks.append(chunk)
    return b"".join(chunks)


def _failed(reason: Reason) -> tuple[Answer, Attempt]:
    return Answer(reason=reason), Attempt(elapsed_ms=0)


def _status_reason(status: int) -> Reason:
    if status in _STATUS_REASONS:
        return _STATUS_REASONS[status]
    if 300 <= status < 400:
        return Reason.REDIRECTED
    if 400 <= status < 500:
        return Reason.HTTP_4XX
    return Reason.HTTP_5XX if status >= 500 else Reason.BAD_SHAPE


def _connection_reason(error: aiohttp.ClientError) -> Reason:
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return Reason.DNS
    if isinstance(error, aiohttp.ClientSSLError | aiohttp.ServerFingerprintMismatch):
        return Reason.TLS
    if isinstance(error, aiohttp.ClientConnectorError):
        return Reason.CONNECT
    return Reason.DISCONNECTED


def _retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds to wait as the header says, in either of its forms (RFC 9110, 10.2.3); nonsense is taken for none."""
    if value is None:
        return None
    seconds = value.strip()
    if seconds.isascii() and seconds.isdecimal() and len(seconds) <= 9:
        return float(seconds)
    try:
        moment = parsedate_to_datetime(value)
        # A zone of "-0000" reads as none; it is UTC, not the zone of this machine.
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):  # years and zones that no calendar has
        return None
    return max(0.0, (moment - now).total_seconds())
