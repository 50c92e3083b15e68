"""The feed: whole CloudEvents in sequence, whatever the batch size, while events are being written."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import jsonschema_rs
import pytest
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.conftest import Served
from tests.api.server import Caller, Reply

BATCH: Final = "application/cloudevents-batch+json"

CLOUD_EVENT: Final = {
    "type": "object",
    "required": ["id", "source", "specversion", "type"],
    "propertyNames": {"pattern": "^[a-z0-9]{1,20}$"},
    "properties": {
        "id": {"type": "string", "minLength": 1},
        "source": {"type": "string", "minLength": 1, "format": "uri-reference"},
        "specversion": {"const": "1.0"},
        "type": {"type": "string", "minLength": 1},
        "subject": {"type": "string", "minLength": 1},
        "time": {"type": "string", "format": "date-time"},
        "recordedtime": {"type": "string", "format": "date-time"},
        "sequence": {"type": "string", "pattern": "^[0-9]{20}$"},
        "datacontenttype": {"const": "application/json"},
    },
}
"""The rules of CloudEvents 1.0 for attributes and its JSON format, with the documented extensions sequence and
recordedtime."""


def read_all(caller: Caller, limit: int) -> list[str]:
    """Every event of the feed as it was served, read in batches of that size."""
    bodies: list[str] = []
    after = ""
    while True:
        reply = caller.get(f"/v1/sla/events?limit={limit}{after}")
        assert (reply.status, reply.headers["content-type"]) == (200, BATCH)
        batch = reply.json
        if not batch:
            return bodies
        bodies += _split(reply)
        after = f"&after={batch[-1]['sequence']}"


def _split(reply: Reply) -> list[str]:
    """The events of a batch, each as its own text: canonical, so that reading and writing it again changes nothing."""
    return [json.dumps(each, sort_keys=True, ensure_ascii=False, separators=(",", ":")) for each in reply.json]


@pytest.mark.parametrize("limit", [1, 7, 15, 1000])
def test_any_batch_size_gives_the_ledgers_own_text(served: Served, limit: int) -> None:
    stored = [event.body for event in served.ledger.events()]
    assert len(stored) == 25
    assert read_all(served.caller, limit) == stored


def test_a_batch_is_the_stored_bodies_byte_for_byte(served: Served) -> None:
    bodies = [event.body for event in served.ledger.events()][2:5]
    reply = served.caller.get("/v1/sla/events?limit=3&after=2")
    assert reply.body.decode() == f"[{','.join(bodies)}]"


def test_a_full_batch_never_changes_and_says_so(served: Served) -> None:
    full = served.caller.get("/v1/sla/events?limit=10&after=00000000000000000005")
    last = served.caller.get("/v1/sla/events?limit=10&after=20")
    assert full.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert last.headers["cache-control"] == "no-store"
    served.assess(100, 20)
    assert served.caller.get("/v1/sla/events?limit=10&after=5").body == full.body
    assert len(served.caller.get("/v1/sla/events?limit=10&after=20").json) == len(last.json) + 1


def test_the_end_is_an_empty_batch(served: Served) -> None:
    end = served.ledger.count()
    reply = served.caller.get(f"/v1/sla/events?after={end:020d}")
    assert (reply.status, reply.json, reply.headers["cache-control"]) == (200, [], "no-store")


@pytest.mark.parametrize("after", ["0", "00000000000000000000", "26", "99999999999999999999"])
def test_error_a_cursor_that_the_ledger_does_not_have(served: Served, after: str) -> None:
    reply = served.caller.get(f"/v1/sla/events?after={after}")
    assert (reply.status, reply.kind) == (410, "cursor-gone")
    assert "Stop and call: never start over." in reply.json["detail"]


@pytest.mark.parametrize(
    "query", ["after=x", "after=-1", "after=1.0", "after=%00", "after=%EF%BC%91", "limit=0", "limit=1001", "limit=x"]
)
def test_error_a_query_that_cannot_be_meant(served: Served, query: str) -> None:
    reply = served.caller.get(f"/v1/sla/events?{query}")
    assert (reply.status, reply.kind) == (422, "invalid-request")
    assert reply.json["detail"].startswith(f"query {query.partition('=')[0]}: ")


def test_every_event_is_a_cloud_event(served: Served) -> None:
    validator = jsonschema_rs.validator_for(CLOUD_EVENT, validate_formats=True)
    reply = served.caller.get("/v1/sla/events?limit=1000")
    for event in reply.json:
        validator.validate(event)
        assert event["id"] and event["subject"] == event["data"]["subject"]
        assert re.fullmatch(r"com\.citehouse\.eval\.window\.[a-z]+\.v1", event["type"])


def test_the_ecosystems_reader_reads_a_batch(served: Served) -> None:
    reply = served.caller.get("/v1/sla/events?limit=1000")
    events = [JSONFormat().read(CloudEvent, json.dumps(each)) for each in reply.json]
    assert [event.get_subject() for event in events] == [each["subject"] for each in reply.json]
    assert [event.get_extension("sequence") for event in events] == [f"{n:020d}" for n in range(1, 26)]


def test_two_writers_and_four_readers_see_one_order(served: Served) -> None:
    first = served.ledger.count()
    total = 60

    def write(slug: str) -> None:
        for night in range(total // 2):
            served.assess(200, night, slug)

    def read(_number: int) -> list[int]:
        seen: list[int] = []
        cursor = first
        while len(seen) < total:
            for event in served.caller.get(f"/v1/sla/events?limit=9&after={cursor}").json:
                cursor = int(event["sequence"])
                seen.append(cursor)
        return seen

    with ThreadPoolExecutor(6) as pool:
        writers = [pool.submit(write, slug) for slug in ("one", "two")]
        readers = list(pool.map(read, range(4)))
        for each in writers:
            each.result()
    assert readers == [list(range(first + 1, first + total + 1))] * 4
    assert served.ledger.find_fault() is None


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(limits=st.lists(st.integers(1, 12), min_size=1, max_size=8))
def test_batch_sizes_may_change_from_call_to_call(served: Served, limits: list[int]) -> None:
    seen: list[Any] = []
    cursor = ""
    for limit in [*limits, 1000]:
        batch = served.caller.get(f"/v1/sla/events?limit={limit}{cursor}").json
        seen += batch
        cursor = f"&after={seen[-1]['sequence']}"
    assert [int(each["sequence"]) for each in seen] == list(range(1, 26))
