"""What came back for a question, whichever transport carried it (gateway.md, One response type)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol


class Reason(StrEnum):
    """Why a call gave no usable answer. Published as counts; the words are part of the format."""

    TIMEOUT = "timeout"
    CONNECT = "connect"
    DNS = "dns"
    TLS = "tls"
    DISCONNECTED = "disconnected"
    UNAUTHORIZED = "unauthorized"  # 401
    FORBIDDEN = "forbidden"  # 403
    HTTP_4XX = "http_4xx"
    HTTP_5XX = "http_5xx"
    REDIRECTED = "redirected"
    RATE_LIMITED = "rate_limited"
    NOT_JSON = "not_json"
    BAD_SHAPE = "bad_shape"
    TOO_LARGE = "too_large"
    TOOL_ERROR = "tool_error"
    TASK_FAILED = "task_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One call to make. `editions` is set only for a cross-edition item and is sent as strings.

    `ref` is the asker's own mark of the item; it is never sent.
    """

    corpus: str
    society: str
    query: str = field(repr=False)
    max_tokens: int
    editions: tuple[int, ...] | None = None
    ref: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One request that was sent. `elapsed_ms` is our clock, whole milliseconds; each attempt may be billed.

    `retry_after_s` is what the gateway asked us to wait, in seconds, None where it did not.
    """

    elapsed_ms: int
    http_status: int | None = None
    reason: Reason | None = None
    ledger_entry_id: str | None = None
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The last attempt's outcome. `reason` None means usable: `passages` are decoded JSON objects, untyped on purpose.

    `raw` is the body byte for byte (empty where none came); `latency_ms` is the last attempt's.
    """

    passages: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    raw: bytes = field(default=b"", repr=False)
    reason: Reason | None = None
    ledger_entry_id: str | None = None
    tokens_returned: int | None = None
    attempts: tuple[Attempt, ...] = ()
    transport: Literal["rest", "mcp", "a2a"] = "rest"
    protocol_version: str = ""

    @property
    def usable(self) -> bool:
        return self.reason is None

    @property
    def latency_ms(self) -> int:
        return self.attempts[-1].elapsed_ms if self.attempts else 0


class GatewayClient(Protocol):
    """A transport: sends one question once and never raises for what the gateway does wrong (law 6)."""

    async def ask_once(self, question: Question) -> Answer:
        """One attempt, exactly one entry in `attempts`."""

    async def aclose(self) -> None: ...
