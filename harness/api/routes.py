"""The calls of the settlement API (sla.md, Feed and API)."""

import json
import re
from collections.abc import Mapping
from datetime import date
from itertools import chain
from typing import Annotated, Any, Final

import msgspec
from fastapi import APIRouter, Depends, Header, Path, Query, Request, Security
from fastapi.responses import Response, StreamingResponse
from fastapi.security import HTTPBearer

from harness.api.models import (
    AcknowledgementIn,
    AcknowledgementOut,
    PeriodOut,
    SettlementHistoryOut,
    SettlementsOut,
)
from harness.api.problems import Problem, documented
from harness.api.queries import MONTH, Cursor, Filters, Page
from harness.clock import Clock, utc_text
from harness.nightly import periods
from harness.sla.export import csv_lines, settlement_row
from harness.sla.settlement import settlement_after
from harness.store import acknowledgements as store
from harness.store.acknowledgements import Acknowledgement, KeyReused, UnknownRevision
from harness.store.ledger import Ledger
from harness.testset.digest import digest

BATCH: Final = "application/cloudevents-batch+json"
CSV: Final = "text/csv; charset=utf-8; header=present"
_FOR_EVER: Final = "private, max-age=31536000, immutable"
_TYPE: Final = re.compile(r"application/([^;\s]+\+)?json\s*(;.*)?", re.IGNORECASE)


SubjectIn = Annotated[
    str, Path(description="A settlement's subject.", examples=["slf_sae_citation_correctness_2026-12-01"])
]


def routes(ledger: Ledger, clock: Clock) -> APIRouter:
    """The router over one ledger."""
    bearer = Security(HTTPBearer(auto_error=False, description="A token of `harness tokens create`."))
    errors = documented(401, 403, 422, 429, 503)
    router = APIRouter(prefix="/v1/sla", dependencies=[bearer, Depends(_refuse_repeated)], responses=errors)
    _feed(router, ledger)
    _settlements(router, ledger)
    _one(router, ledger)
    _periods(router, ledger)
    _acknowledgements(router, ledger, clock)
    return router


def _feed(router: APIRouter, ledger: Ledger) -> None:
    @router.get(
        "/events",
        summary="The feed: settlement events in sequence",
        response_class=Response,
        responses={
            200: {
                "description": "A CloudEvents batch, ascending; an empty one is the end. A full batch never changes.",
                "content": {BATCH: {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/EventOut"}}}},
                "headers": {
                    "Cache-Control": {
                        "description": "Immutable for a full batch.",
                        "schema": {"type": "string", "enum": [_FOR_EVER, "no-store"]},
                    },
                    "Link": {"description": "The next batch, but for an empty one.", "schema": {"type": "string"}},
                },
            },
            **documented(410),
        },
    )
    def events(cursor: Annotated[Cursor, Query()]) -> Response:
        through = ledger.journalled()
        number = 0 if cursor.after is None else int(cursor.after)
        if cursor.after is not None and not 1 <= number <= through:
            has = f"events 1 to {through}; {number} is none of them" if through else f"no event yet; {number} is none"
            raise Problem(410, "cursor-gone", f"The ledger has {has}. Stop and call: never start over.")
        batch = ledger.batch(after=number, through=through, limit=cursor.limit)
        headers = {"Cache-Control": _FOR_EVER if len(batch) == cursor.limit else "no-store"}
        if batch:
            headers["Link"] = f'</v1/sla/events?after={batch[-1].seq:020d}&limit={cursor.limit}>; rel="next"'
        body = "[" + ",".join(event.body for event in batch) + "]"
        return Response(body.encode(), media_type=BATCH, headers=headers)


def _settlements(router: APIRouter, ledger: Ledger) -> None:
    @router.get(
        "/settlements",
        summary="Settlements as they stand",
        response_class=Response,
        responses={200: {"model": SettlementsOut, "description": "A page of settlements by subject."}},
    )
    def settlements(page: Annotated[Page, Query()]) -> Response:
        found = page.stands(ledger, page.after, page.limit + 1)
        more = found[page.limit - 1].event.subject if len(found) > page.limit else None
        return _json({"settlements": [stand.settlement.data for stand in found[: page.limit]], "next": more})

    @router.get(
        "/settlements.csv",
        summary="The same as a table: one row a settlement, all of them",
        response_class=Response,
        responses={
            200: {
                "description": "RFC 4180, UTF-8, CRLF, with a head.",
                "content": {"text/csv": {"schema": {"type": "string"}}},
                "headers": {"Content-Disposition": {"schema": {"type": "string"}}},
            }
        },
    )
    def settlements_csv(filters: Annotated[Filters, Query()]) -> Response:
        pages = filters.pages(ledger)
        first = next(pages, [])  # before the answer begins: what fails later can only break it off
        rows = (settlement_row(stand.settlement.data) for page in chain([first], pages) for stand in page)
        headers = {"Content-Disposition": 'attachment; filename="settlements.csv"'}
        return StreamingResponse(csv_lines(rows), media_type=CSV, headers=headers)


def _one(router: APIRouter, ledger: Ledger) -> None:
    @router.get(
        "/settlements/{subject}",
        summary="One settlement with all its events, evidence and acknowledgements",
        response_class=Response,
        responses={200: {"model": SettlementHistoryOut, "description": "The settlement."}, **documented(404)},
    )
    def settlement(subject: SubjectIn) -> Response:
        _require_known(ledger, subject)
        said = [_said(each) for each in store.find_acknowledgements(ledger.engine, subject)]
        events = list(ledger.events(subject=subject))
        ledger.journalled()
        body = (
            f'{{"settlement":{json.dumps(settlement_after(events[-1]).data)},'
            f'"events":[{",".join(event.body for event in events)}],"acknowledgements":{json.dumps(said)}}}'
        )
        return Response(body.encode(), media_type="application/json")


def _periods(router: APIRouter, ledger: Ledger) -> None:
    @router.get(
        "/periods/{month}",
        summary="A month: what is billable for each society and window",
        response_class=Response,
        responses={200: {"model": PeriodOut, "description": "The period."}, **documented(404)},
    )
    def period(month: Annotated[str, Path(pattern=MONTH, examples=["2026-11"])]) -> Response:
        found = periods.period(ledger, date.fromisoformat(f"{month}-01"))
        ledger.journalled()
        if found is None:
            raise Problem(404, "no-such-period", "No contract that this deployment knows has a window in that month.")
        return Response(msgspec.json.encode(found), media_type="application/json")


def _acknowledgements(router: APIRouter, ledger: Ledger, clock: Clock) -> None:
    @router.post(
        "/settlements/{subject}/acknowledgements",
        summary="Say what billing did",
        status_code=201,
        response_class=Response,
        responses={
            201: {
                "model": AcknowledgementOut,
                "description": "Recorded, now or by an earlier call with this key.",
                "headers": {"Idempotency-Replayed": {"schema": {"type": "string", "enum": ["true"]}}},
            },
            **documented(400, 404, 413, 415),
        },
        dependencies=[Depends(_require_json)],
    )
    def acknowledge(
        request: Request,
        subject: SubjectIn,
        body: AcknowledgementIn,
        idempotency_key: Annotated[str, Header(pattern=r"^[!-~]{1,255}$", examples=["invoice-2026-12/sae"])],
    ) -> Response:
        ledger.journalled()
        _require_known(ledger, subject)
        offered = Acknowledgement(
            idempotency_key=idempotency_key,
            subject=subject,
            revision=body.revision,
            invoice_ref=body.invoice_ref,
            token_id=request.state.token.token_id,
            request_sha256=digest([subject, body.revision, body.invoice_ref]),
            recorded_at=utc_text(clock.now()),
        )
        try:
            recorded, new = store.acknowledge(ledger.engine, offered)
        except KeyReused as error:
            raise Problem(422, "idempotency-key-reused", str(error)) from None
        except UnknownRevision as error:
            raise Problem(422, "unknown-revision", str(error)) from None
        return _json(_said(recorded), 201, {} if new else {"Idempotency-Replayed": "true"})


async def _refuse_repeated(request: Request) -> None:
    """One value of several would be taken silently."""
    names = [name for name, _ in request.query_params.multi_items()]
    if len(names) != len(set(names)):
        raise Problem(422, "invalid-request", "query: a name comes twice; expected each at most once")


async def _require_json(request: Request) -> None:
    if not _TYPE.fullmatch(request.headers.get("content-type", "")):
        raise Problem(415, "not-json", "The body must be JSON, with Content-Type: application/json.")


def _require_known(ledger: Ledger, subject: str) -> None:
    """Raise Problem for a subject without a settlement; the database is not asked for what no subject is like."""
    if not (subject.isascii() and subject.isprintable()) or ledger.settlement(subject) is None:
        raise Problem(404, "no-such-settlement", "This ledger has no settlement of that subject.")


def _said(recorded: Acknowledgement) -> dict[str, Any]:
    return {name: getattr(recorded, name) for name in ("subject", "revision", "invoice_ref", "recorded_at")}


def _json(content: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(json.dumps(content).encode(), status, headers, media_type="application/json")
