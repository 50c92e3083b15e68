"""The OpenAPI document says what is served, whole: checked on everything that can happen to a settlement."""

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import jsonschema_rs
import pytest
from sqlalchemy import Engine

from harness.sla.acts import draft_dispute
from harness.sla.evaluation import Coverage, Evaluated, Evidence
from harness.sla.model import LedgerEvent, Status
from harness.sla.windows import month_window, night_window
from harness.store.terms import use_terms
from tests.api.server import Caller, Reply, serving, token_for
from tests.clock import FakeClock
from tests.sla.acting import after, dispute, uphold, void
from tests.sla.factories import NIGHT, NOW, SUBJECT, act, breach, counted, evaluated, extend, floor, said, terms, tick
from tests.store.journals import feed, ledger_of

NOTHING_RAN: Final = Evidence(scorer_version=1, harness_version="0.1.0")
LATER: Final = tuple(night_window(NIGHT + timedelta(days=day)) for day in range(1, 6))
STRICT: Final = terms(dispute_days=30, floors=(floor("0.9500001", "exact_binomial_95"),))
DISPUTED: Final = f"slf_asme_citation_correctness_{LATER[4].label}"


def evaluations() -> list[Evaluated]:
    """Every status, rule and kind of window, with and without numbers, tier and evidence."""
    return [
        said(Status.NOT_RUN, window=LATER[0], evidence=NOTHING_RAN),
        said(Status.INSUFFICIENT_DATA, window=LATER[1], warnings=("a warning",)),
        evaluated(100, under=STRICT, window=LATER[2]),
        evaluated(counts=counted(0, 0, harness=200), window=LATER[3], interval=None, claim=None),
        breach("33.333333333333333333", window=LATER[4]),
        evaluated(
            under=terms(dispute_days=30),
            society_id="AWWA Größe 名",
            slug="awwa",
            window=month_window(NIGHT),
            coverage=Coverage(expected=30, missed=("2026-11-29", "2026-11-30")),
        ),
    ]


def history() -> list[LedgerEvent]:
    """One settlement disputed, upheld, revised, voided and final, one disputed, and the first events of others."""
    events = uphold(dispute(extend([], breach("25")), 1), 2, "12.5")
    events = tick(void(extend(events, breach("100"), after(3)), 4, "harness_fault"), after(60))
    for evaluation in evaluations():
        events = extend(events, evaluation)
    return act(events, lambda stands: draft_dispute(stands, after(1)), after(1), DISPUTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Documented:
    """A caller, and the document that it has read."""

    caller: Caller
    document: dict[str, Any]

    def require(self, reply: Reply, path: str, method: str = "get") -> Any:
        """The answer's JSON, which is as the document says, with nothing that it does not name."""
        answer = self.document["paths"][path][method]["responses"][str(reply.status)]
        kind = reply.headers["content-type"]
        schema = closed(answer["content"][kind]["schema"]) | {"components": closed(self.document["components"])}
        jsonschema_rs.validator_for(schema, validate_formats=True).validate(reply.json)
        for name, header in answer.get("headers", {}).items():
            if name.lower() in reply.headers:
                jsonschema_rs.validate(header["schema"], reply.headers[name.lower()])
        return reply.json


def closed(schema: Any) -> Any:
    """The schema with every object refusing what it does not name; only a claim part is another page's."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {name: closed(each) for name, each in deepcopy(schema).items()}
    return copy | {"additionalProperties": False} if isinstance(copy.get("properties"), dict) else copy


@pytest.fixture
def documented(engine: Engine) -> Iterator[Documented]:
    clock = FakeClock(NOW)
    ledger = ledger_of(engine)
    use_terms(engine, "asme", "ASME", terms(dispute_days=30), NIGHT.isoformat())
    feed(ledger, history())
    with serving(ledger, clock) as url:
        caller = Caller(url=url, token=token_for(engine, clock))
        yield Documented(caller=caller, document=caller.get("/openapi.json").json)


def test_the_history_has_everything_that_can_be_said() -> None:
    bodies = [event.body for event in history()]
    for text in (
        *(f'"state":"{state}"' for state in ("open", "disputed", "final")),
        *(f'"status":"{status}"' for status in ("met", "breached", "insufficient_data", "not_run")),
        *(f"window.{kind}.v1" for kind in ("evaluated", "revised", "disputed", "resolved", "finalized")),
        *(f'"rule":"{rule}"' for rule in ("point", "exact_binomial_95")),
        *(f'"kind":"{kind}"' for kind in ("night", "calendar_month")),
        '"tier":null', '"tier":{', '"reason":null', '"reason":"dispute_upheld"', '"claim":null', '"claim":{',
        '"run_id":null', '"decide_by":"', '"good":0',
    ):  # fmt: skip
        assert any(text in body for body in bodies), text


def test_every_answer_is_what_the_document_says(documented: Documented) -> None:
    caller = documented.caller
    events = documented.require(caller.get("/v1/sla/events?limit=1000"), "/v1/sla/events")
    assert len(events) == len(history())
    settlements = documented.require(caller.get("/v1/sla/settlements"), "/v1/sla/settlements")["settlements"]
    assert len(settlements) == 7
    subject = "/v1/sla/settlements/{subject}"
    acknowledge = f"{subject}/acknowledgements"
    body = {"revision": 1, "invoice_ref": "2026-12 / 17"}
    for each in settlements:
        path = acknowledge.replace("{subject}", each["subject"])
        for _ in range(2):
            documented.require(caller.post(path, body, each["subject"]), acknowledge, "post")
        found = documented.require(caller.get(path.removesuffix("/acknowledgements")), subject)
        assert found["settlement"] == each and len(found["acknowledgements"]) == 1
    for month, societies in (("2026-11", 2), ("2026-12", 1)):
        found = documented.require(caller.get(f"/v1/sla/periods/{month}"), "/v1/sla/periods/{month}")
        assert len(found["societies"]) == societies
    for path in ("/healthz", "/readyz"):
        assert documented.require(caller.get(path), path) == {"status": "ok"}


def test_every_error_is_what_the_document_says(documented: Documented) -> None:
    caller, stranger = documented.caller, Caller(url=documented.caller.url)
    acknowledge = "/v1/sla/settlements/{subject}/acknowledgements"
    path = acknowledge.replace("{subject}", SUBJECT)
    body = {"revision": 1, "invoice_ref": "x"}
    gets = {
        "/v1/sla/events": [(401, stranger, ""), (410, caller, "?after=0"), (422, caller, "?after=x")],
        "/v1/sla/settlements": [(401, stranger, ""), (422, caller, "?limit=0")],
        "/v1/sla/settlements.csv": [(401, stranger, ""), (422, caller, "?state=x")],
        "/v1/sla/settlements/{subject}": [(401, stranger, ""), (404, caller, "")],
        "/v1/sla/periods/{month}": [(401, stranger, ""), (422, caller, "")],
    }
    for address, cases in gets.items():
        for status, who, query in cases:
            reply = who.get(address.replace("{subject}", "slf_x").replace("{month}", "x") + query)
            assert documented.require(reply, address)["status"] == reply.status == status
    posts = [
        (400, caller.post(path, body)),
        (401, stranger.post(path, body, "k")),
        (404, caller.post(path.replace(SUBJECT, "slf_x"), body, "k")),
        (413, caller.post(path, b"x" * 70_000, "k")),
        (415, caller.call("POST", path, b"x", {"Idempotency-Key": "k", "Content-Type": "text/plain"})),
        (422, caller.post(path, {**body, "revision": 9}, "k")),
        (422, caller.post(path, {**body, "more": 1}, "k")),
    ]
    for status, reply in posts:
        assert documented.require(reply, acknowledge, "post")["status"] == reply.status == status


def test_what_is_said_of_headers_is_so(documented: Documented) -> None:
    paths = documented.document["paths"]
    for path, methods in paths.items():
        for operation in methods.values():
            for status, answer in operation["responses"].items():
                named = set(answer.get("headers", {}))
                assert ("Retry-After" in named) == (status in ("429", "503")), (path, status)
                assert ("WWW-Authenticate" in named) == (status == "401"), (path, status)
    stranger = Caller(url=documented.caller.url)
    assert stranger.get("/v1/sla/events").headers["www-authenticate"].startswith("Bearer ")
    table = documented.caller.get("/v1/sla/settlements.csv")
    assert table.headers["content-disposition"] == 'attachment; filename="settlements.csv"'
    assert set(paths["/v1/sla/settlements.csv"]["get"]["responses"]["200"]["headers"]) == {"Content-Disposition"}
    batch = documented.caller.get("/v1/sla/events?limit=1")
    for name in paths["/v1/sla/events"]["get"]["responses"]["200"]["headers"]:
        assert name.lower() in batch.headers


def test_the_document_stands_by_itself(documented: Documented) -> None:
    """Names that a client's code is made from, references that lead somewhere, examples that are what they show."""
    document = documented.document
    names = [operation["operationId"] for methods in document["paths"].values() for operation in methods.values()]
    assert sorted(names) == [
        "acknowledge", "events", "healthz", "period", "readyz", "settlement", "settlements", "settlements_csv",
    ]  # fmt: skip
    text = str(document)
    for name in re.findall(r"#/components/schemas/(\w+)", text):
        assert name in document["components"]["schemas"]
    assert "http://" not in text and "https://" not in text
    shown = 0
    for node in _nodes(document):
        for example in node.get("examples", []) if isinstance(node.get("examples"), list) else []:
            schema = {name: each for name, each in node.items() if name != "examples"}
            jsonschema_rs.validate(schema | {"components": document["components"]}, example)
            shown += 1
    assert shown > 10


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from _nodes(each)
    elif isinstance(value, list):
        for each in value:
            yield from _nodes(each)
