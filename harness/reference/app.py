"""The contract over REST as an ASGI application: authenticate, limit, answer, meter, and only then reply."""

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import msgspec
import structlog

from harness.clock import Clock, utc_text
from harness.reference.faults import Fault, Rule
from harness.reference.http import Receive, Reply, Request, Scope, Send, json_reply, pause, problem_reply
from harness.reference.ledger import Call, Ledger, digest_of, new_entry_id
from harness.reference.limit import RateLimit
from harness.reference.service import Found, Query, Refusal, Service

OVERSIZED_BYTES: Final = 9 * 1024 * 1024
"""An oversized body: more than any client of the contract should take."""

_DRIP_BYTES: Final = 64
_HTML: Final = b"<!doctype html>\n<title>Service</title>\n<h1>Something is not right</h1>\n"
_decode_query: Final = msgspec.json.Decoder(Query).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whose call it is: the key's digest, and the corpora it may ask (None: all)."""

    key_sha256: str
    licensed: tuple[str, ...] | None


@dataclass(slots=True, kw_only=True)
class Metered:
    """A call on its way: what the ledger will say of it, filled in as it becomes known."""

    operation: str
    begun: float
    entry: str
    corpus: str | None = None
    question_sha256: str | None = None
    rule: Rule | None = None


class Gateway:
    """The ASGI application. `stopping` ends what hangs, so that the server can stop."""

    def __init__(
        self,
        service: Service,
        ledger: Ledger,
        *,
        keys: Mapping[str, tuple[str, ...] | None],
        limit: RateLimit,
        clock: Clock,
    ) -> None:
        self._service = service
        self._ledger = ledger
        self._callers = {
            (digest := digest_of(key)): Caller(key_sha256=digest, licensed=licensed) for key, licensed in keys.items()
        }
        self._limit = limit
        self._clock = clock
        self.stopping = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request.of(scope, receive)
        try:
            caller = self._authenticate(request)
            reply, rule = await self._route(request, caller)
        except Refusal as refusal:
            reply, rule = problem_reply(refusal), None
        except Exception as error:
            # Its text may hold the question, so the log gets its kind alone and the caller not even that.
            structlog.get_logger(__name__).error("call failed", error=type(error).__name__)
            reply, rule = problem_reply(Refusal(500, "The gateway failed.")), None
        await self._deliver(reply, rule, receive, send)

    def _authenticate(self, request: Request) -> Caller:
        """Who calls. Raises Refusal 401."""
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        caller = self._callers.get(digest_of(key.strip())) if scheme.lower() == "bearer" else None
        if caller is None:
            raise Refusal(401, "The key is missing or unknown.", {"WWW-Authenticate": "Bearer"})
        return caller

    async def _route(self, request: Request, caller: Caller) -> tuple[Reply, Rule | None]:
        match request.segments:
            case ("api", "v1", "corpora"):
                _only(request, "GET")
                return self._meter(caller, self._begin("list_corpora"), partial(self._list_corpora, caller))
            case ("api", "v1", "corpora", corpus, "query"):
                _only(request, "POST")
                return await self._query(request, caller, corpus)
            case ("api", "v1", "standards", standard, "sections", section):
                _only(request, "GET")
                look_up = partial(self._look_up, caller, standard, section)
                return self._meter(caller, self._begin("lookup_section"), look_up)
            case ("api", "v1", "calls", entry):
                _only(request, "GET")
                return self._audit(caller, entry), None
        raise Refusal(404, "There is nothing at this address.")

    def _begin(self, operation: str) -> Metered:
        return Metered(operation=operation, begun=self._clock.monotonic(), entry=new_entry_id())

    def _list_corpora(self, caller: Caller) -> tuple[dict[str, Any], int]:
        return {"corpora": self._service.corpora(caller.licensed)}, 0

    def _look_up(self, caller: Caller, standard: str, section: str) -> tuple[dict[str, Any], int]:
        return _told(self._service.section(standard, section, caller.licensed))

    def _audit(self, caller: Caller, entry: str) -> Reply:
        """A metered call that this key made; reading it is not metered."""
        call = self._ledger.find(entry, caller.key_sha256)
        if call is None:
            raise Refusal(404, "This key made no such call.")
        return json_reply(call.wire())

    async def _query(self, request: Request, caller: Caller, corpus: str) -> tuple[Reply, Rule | None]:
        metered = self._begin("query_standard")
        metered.corpus = corpus
        try:
            body = await request.body()
        except Refusal as refusal:
            return self._meter(caller, metered, partial(_refuse, refusal))
        return self._meter(caller, metered, partial(self._answer, caller, metered, body))

    def _answer(self, caller: Caller, metered: Metered, body: bytes) -> tuple[dict[str, Any], int]:
        try:
            query = _decode_query(body)
        except (msgspec.DecodeError, ValueError) as error:
            raise Refusal(422, f"The body is not a query: {error}.") from None
        metered.question_sha256 = digest_of(query.question)
        corpus = self._service.corpus(metered.corpus or "", caller.licensed)
        metered.rule = self._service.rule_for(corpus, query.question)
        _refuse_as_ruled(metered.rule)
        return _told(self._service.query(corpus, query, metered.rule))

    def _meter(
        self, caller: Caller, metered: Metered, answer: Callable[[], tuple[dict[str, Any], int]]
    ) -> tuple[Reply, Rule | None]:
        """Answer or refuse the call, and write it to the ledger before anything of it is sent."""
        refusal: Refusal | None = None
        body: dict[str, Any] = {}
        tokens = 0
        try:
            self._admit(caller)
            body, tokens = answer()
        except Refusal as refused:
            refusal = refused
        latency = round((self._clock.monotonic() - metered.begun) * 1000)
        self._ledger.write(
            Call(
                id=metered.entry,
                at=utc_text(self._clock.now()),
                key_sha256=caller.key_sha256,
                operation=metered.operation,
                corpus=metered.corpus,
                question_sha256=metered.question_sha256,
                status=200 if refusal is None else refusal.status,
                tokens_returned=tokens,
                latency_ms=latency,
            )
        )
        if refusal is not None:
            return problem_reply(refusal, ledger_entry_id=metered.entry), None
        named = {} if _is(metered.rule, Fault.DROPPED_LEDGER_ID) else {"ledger_entry_id": metered.entry}
        return json_reply(body | {"latency_ms": latency} | named), metered.rule

    def _admit(self, caller: Caller) -> None:
        """Raises Refusal 429 where the key calls too often."""
        wait = self._limit.take(caller.key_sha256)
        if wait is not None:
            raise Refusal(429, "This key calls too often.", {"Retry-After": str(wait)})

    async def _deliver(self, reply: Reply, rule: Rule | None, receive: Receive, send: Send) -> None:
        """Send the reply, or what the rule makes of it."""
        match None if rule is None else rule.fault:
            case Fault.TRUNCATED_JSON:
                reply = Reply(body=reply.body[: len(reply.body) // 2])
            case Fault.HTML_PAGE:
                reply = Reply(body=_HTML, media_type="text/html; charset=utf-8")
            case Fault.OVERSIZED:
                padding = b" " * (OVERSIZED_BYTES - len(reply.body))
                reply = Reply(body=reply.body + padding)
            case Fault.HANG if rule is not None:
                if not await pause(rule.seconds, receive, self.stopping):
                    reply = problem_reply(Refusal(503, "The gateway is stopping."))
            case Fault.SLOW_DRIP if rule is not None:
                await self._drip(reply, rule.seconds, receive, send)
                return
        await reply.send(send)

    async def _drip(self, reply: Reply, seconds: float, receive: Receive, send: Send) -> None:
        """Send the body little by little over that many seconds; all at once when the server stops."""
        await send(reply.start())
        pieces = [reply.body[place : place + _DRIP_BYTES] for place in range(0, len(reply.body), _DRIP_BYTES)]
        for number, piece in enumerate(pieces):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            if not await pause(seconds / len(pieces), receive, self.stopping):
                await send({"type": "http.response.body", "body": b"".join(pieces[number + 1 :])})
                return
        await send({"type": "http.response.body", "body": b""})


def _only(request: Request, method: str) -> None:
    if request.method != method:
        raise Refusal(405, f"Only {method} is answered here.", {"Allow": method})


def _refuse(refusal: Refusal) -> tuple[dict[str, Any], int]:
    raise refusal


def _told(found: Found) -> tuple[dict[str, Any], int]:
    return {"passages": found.passages, "tokens_returned": found.tokens}, found.tokens


def _is(rule: Rule | None, fault: Fault) -> bool:
    return rule is not None and rule.fault is fault


def _refuse_as_ruled(rule: Rule | None) -> None:
    """Raises Refusal where the fault is a status of its own."""
    match None if rule is None else rule.fault:
        case Fault.UNLICENSED:
            raise Refusal(403, "This key has no licence for the corpus.")
        case Fault.RATE_LIMIT_BURST if rule is not None:
            raise Refusal(429, "This key calls too often.", {"Retry-After": str(math.ceil(rule.seconds))})
        case Fault.HTTP_500:
            raise Refusal(500, "The gateway failed.")
        case Fault.HTTP_503 | Fault.HTTP_503_ONCE:
            raise Refusal(503, "The gateway is not available.")
