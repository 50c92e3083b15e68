"""Events as the ledger keeps them, and its chain against every change."""

import json
import re
from dataclasses import replace
from datetime import date, datetime, timedelta
from hashlib import sha256
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.sla.ledger import GENESIS, BrokenLink, LedgerSettings, find_broken_link, link_of
from harness.sla.model import LedgerEvent
from harness.sla.windows import night_window
from tests.sla.acting import after, dispute, opened, uphold
from tests.sla.factories import NOW, SUBJECT, breach, evaluated, extend, ledger, tick


def two_subjects() -> list[LedgerEvent]:
    """Seven events: a night, the next one, and the first again."""
    events = extend(ledger(189), evaluated(190, window=night_window(date(2026, 11, 30))))
    return extend(extend(events, evaluated(179), NOW + timedelta(hours=1)), evaluated(190), NOW + timedelta(hours=2))


def every_kind() -> list[LedgerEvent]:
    """A settlement with one event of each type, in the order of their names in sla.md."""
    return tick(uphold(dispute(extend(opened(), breach("100"), after(1)), 2), 3, "12.5"), after(33))


def test_an_event_is_a_cloud_event_in_canonical_json() -> None:
    first = ledger(189)[0]
    body = json.loads(first.body)
    data = body.pop("data")
    assert body == {
        "specversion": "1.0",
        "id": sha256(json.dumps(["urn:citehouse:test", SUBJECT, 1], separators=(",", ":")).encode()).hexdigest(),
        "source": "urn:citehouse:test",
        "type": "com.citehouse.eval.window.evaluated.v1",
        "subject": SUBJECT,
        "time": "2026-11-30T00:00:00Z",
        "recordedtime": NOW.isoformat(),
        "sequence": "00000000000000000001",
        "datacontenttype": "application/json",
    }
    canonical = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert first.body == json.dumps(body | {"data": data}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert first.data_sha256 == sha256(canonical.encode()).hexdigest()
    assert (first.seq, first.event_id, first.subject, first.revision) == (1, body["id"], SUBJECT, 1)
    assert (first.type, first.recorded_at) == (body["type"], NOW.isoformat())


def test_a_life_has_events_of_five_types() -> None:
    assert [event.type for event in every_kind()] == [
        "com.citehouse.eval.window.evaluated.v1",
        "com.citehouse.eval.window.revised.v1",
        "com.citehouse.eval.window.disputed.v1",
        "com.citehouse.eval.window.resolved.v1",
        "com.citehouse.eval.window.finalized.v1",
    ]
    assert find_broken_link(every_kind()) is None


def test_the_time_of_every_event_is_the_end_of_its_window_and_its_record_tells_when_it_was_written() -> None:
    bodies = [json.loads(event.body) for event in every_kind()]
    assert {body["time"] for body in bodies} == {"2026-11-30T00:00:00Z"}
    assert [body["recordedtime"] for body in bodies] == [after(days).isoformat() for days in (0, 1, 2, 3, 33)]


def test_the_prefix_of_types_is_the_deployments() -> None:
    named = LedgerSettings(source="urn:citehouse:test", type_prefix="org.example.")
    assert extend([], evaluated(), settings=named)[0].type == "org.example.window.evaluated.v1"


@pytest.mark.parametrize("event", every_kind(), ids=lambda event: event.type.split(".")[-2])
def test_every_attribute_is_one_that_cloud_events_allows(event: LedgerEvent) -> None:
    body = json.loads(event.body)
    assert all(re.fullmatch(r"[a-z0-9]{1,20}", name) for name in body)
    assert isinstance(body.pop("data"), dict)
    assert {"specversion", "id", "source", "type"} <= body.keys()
    assert all(isinstance(value, str) and value for value in body.values())
    assert all(datetime.fromisoformat(body[name]).utcoffset() == timedelta(0) for name in ("time", "recordedtime"))
    assert re.fullmatch(r"[0-9]{20}", body["sequence"])


def test_events_are_numbered_in_order_and_chained_from_the_first() -> None:
    events = two_subjects()
    assert [event.seq for event in events] == [1, 2, 3, 4, 5, 6, 7]
    assert events[0].prev_sha256 == GENESIS
    assert all(later.prev_sha256 == link_of(earlier) for earlier, later in pairwise(events))
    assert len({event.event_id for event in events}) == 7


def test_the_id_tells_the_deployment() -> None:
    other = LedgerSettings(source="urn:citehouse:demo", type_prefix="com.citehouse.eval.")
    assert extend([], evaluated(), settings=other)[0].event_id != ledger(190)[0].event_id


def test_an_untouched_ledger_holds() -> None:
    assert find_broken_link([]) is None
    assert find_broken_link(iter(two_subjects())) is None


def tampered(at: int, changes: dict[str, Any]) -> BrokenLink | None:
    return find_broken_link(replace(event, **changes) if event.seq == at else event for event in two_subjects())


def body_with(seq: int, **changes: Any) -> str:
    body = json.loads(two_subjects()[seq - 1].body)
    return json.dumps(body | changes, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@pytest.mark.parametrize(
    ("seq", "changes", "broken_at", "says"),
    [
        (3, {"seq": 4}, 4, "sequence 4 stands where 3 is due"),
        (3, {"prev_sha256": GENESIS}, 3, "the event before it was altered, or this one's link was"),
        (3, {"recorded_at": "2026-11-30"}, 3, "its body and its row disagree"),
        (3, {"revision": 2}, 3, "revision 2 of its subject stands where 1 is due"),
        (3, {"data_sha256": GENESIS}, 3, "its data differs from the digest beside it"),
        (3, {"event_id": GENESIS}, 3, "its id is not that of its source, subject and revision"),
        (3, {"type": "other"}, 3, "its body and its row disagree"),
        (3, {"body": "{"}, 3, "its body is no event"),
        (3, {"body": "[]"}, 3, "its body is no event"),
        (3, {"body": "[" * 100_000}, 3, "its body is no event"),
        (3, {"body": "{}"}, 3, "its body is no event"),
        (3, {"body": body_with(3) + " "}, 3, "its body is not in the canonical form"),
        (3, {"body": body_with(3, data={})}, 3, "its data differs from the digest beside it"),
        (3, {"body": body_with(3, source="urn:other")}, 3, "its id is not that of its source, subject and revision"),
        (7, {"body": body_with(7, time="2026-11-29T00:00:00Z")}, 7, "its body and its row disagree"),
        (7, {"body": body_with(7, extra="more")}, 7, "its body and its row disagree"),
        (7, {"body": body_with(7, sequence="7")}, 7, "its body and its row disagree"),
    ],
)
def test_the_first_broken_link_is_named(seq: int, changes: dict[str, Any], broken_at: int, says: str) -> None:
    broken = tampered(seq, changes)
    assert broken is not None
    assert (broken.seq, broken.says) == (broken_at, says)


@pytest.mark.parametrize(
    ("kept", "says"),
    [
        ((0, 2, 3, 4, 5, 6), "sequence 3 stands where 2 is due"),
        ((1, 2, 3), "sequence 2 stands where 1 is due"),
        ((0, 1, 1, 2), "sequence 2 stands where 3 is due"),
        ((0, 2, 1), "sequence 3 stands where 2 is due"),
    ],
)
def test_an_event_that_is_gone_doubled_or_moved_is_named(kept: tuple[int, ...], says: str) -> None:
    events = two_subjects()
    broken = find_broken_link(events[place] for place in kept)
    assert broken is not None
    assert broken.says == says


@pytest.mark.parametrize("changes", [{"subject": "slf_other"}, {"revision": 9}])
def test_data_about_another_settlement_is_found_though_its_digest_fits(changes: dict[str, Any]) -> None:
    data = json.loads(two_subjects()[6].body)["data"] | changes
    canonical = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digest = sha256(canonical.encode()).hexdigest()
    broken = tampered(7, {"body": body_with(7, data=data), "data_sha256": digest})
    assert broken == BrokenLink(seq=7, subject=SUBJECT, says="its body and its row disagree")


@given(gone=st.integers(0, 5))
def test_any_event_but_the_last_is_missed_when_it_is_gone(gone: int) -> None:
    events = two_subjects()
    says = f"sequence {gone + 2} stands where {gone + 1} is due"
    following = events[gone + 1]
    broken = find_broken_link([*events[:gone], *events[gone + 1 :]])
    assert broken == BrokenLink(seq=following.seq, subject=following.subject, says=says)


@given(places=st.lists(st.integers(0, 6), min_size=2, max_size=2, unique=True).map(sorted), renumbered=st.booleans())
def test_any_two_events_that_changed_places_are_found(places: list[int], renumbered: bool) -> None:
    events = two_subjects()
    one, other = places
    events[one], events[other] = events[other], events[one]
    if renumbered:
        events = [replace(event, seq=seq) for seq, event in enumerate(events, start=1)]
    broken = find_broken_link(events)
    assert broken is not None
    assert broken.seq == events[one].seq


def test_an_event_rewritten_with_its_digest_breaks_the_next_link() -> None:
    events = two_subjects()
    forged = extend(events[:2], evaluated(200, window=night_window(date(2026, 11, 30)), warnings=("forged",)))[2]
    broken = find_broken_link([*events[:2], forged, *events[3:]])
    assert broken == BrokenLink(
        seq=4, subject=events[3].subject, says="the event before it was altered, or this one's link was"
    )


TEXT_FIELDS = ("event_id", "subject", "type", "body", "data_sha256", "prev_sha256", "recorded_at")


@given(place=st.integers(0, 6), name=st.sampled_from(TEXT_FIELDS), data=st.data())
def test_any_changed_character_of_any_event_is_found(place: int, name: str, data: st.DataObject) -> None:
    events = two_subjects()
    text = getattr(events[place], name)
    at = data.draw(st.integers(0, len(text) - 1))
    character = data.draw(st.characters(exclude_categories=["Cs"]))
    assume(text[at] != character)
    events[place] = replace(events[place], **{name: text[:at] + character + text[at + 1 :]})
    broken = find_broken_link(events)
    assert broken is not None
    assert broken.seq in (events[place].seq, events[place].seq + 1)


@given(place=st.integers(0, 6), name=st.sampled_from(["seq", "revision"]), number=st.integers(0, 9))
def test_any_changed_number_of_any_event_is_found(place: int, name: str, number: int) -> None:
    events = two_subjects()
    assume(getattr(events[place], name) != number)
    changes: dict[str, Any] = {name: number}
    events[place] = replace(events[place], **changes)
    assert find_broken_link(events) is not None
