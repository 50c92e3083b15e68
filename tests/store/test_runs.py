"""Runs and their answers: sittings are counted, answers only added, the latest sitting's is an item's answer."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from harness.errors import StoreError
from harness.gateway.answer import Attempt, Reason
from harness.store.files import BlobStore
from harness.store.runs import (
    PAGE,
    CallCounts,
    Run,
    Supersession,
    add_answers,
    answer_ends,
    begin_sitting,
    complete_run,
    count_usable,
    create_run,
    end_sitting,
    find_answers,
    find_run,
    find_runs,
    find_supersessions,
    iter_answers,
    nights_without_terms,
    refuse_society,
    revised_parts,
    run_societies,
    unassessed_nights,
)
from harness.store.scores import Rescore, save_assessments, save_revision
from harness.store.transcripts import read_places, save_segment
from tests.sla.factories import evaluated
from tests.store.factories import (
    IDS_BY_CODE_POINT,
    NIGHT,
    SCORED_AT,
    answer,
    key,
    part,
    run,
    scored,
    started,
    transcript,
)


def test_a_run_comes_back_as_it_was(engine: Engine) -> None:
    societies = [part("sae", terms_version=None, terms_sha256=None), part("asme", refused="forbidden")]
    create_run(engine, run(), societies)
    assert find_run(engine, "r1") == run()
    assert find_run(engine, "r2") is None
    assert run_societies(engine, "r1") == societies[::-1]
    assert run_societies(engine, "r2") == []


def test_runs_come_by_night_and_attempt(engine: Engine) -> None:
    runs = [
        run("z", night="2026-02-28"),
        run("y"),
        run("x", attempt=2),
        run("a", attempt=10),
        run("b", night="2026-03-02"),
    ]
    for each in reversed(runs):
        create_run(engine, each, [part(run_id=each.run_id)])
    assert find_runs(engine) == runs
    assert find_runs(engine, "2026-03-01") == runs[1:4]
    assert find_runs(engine, "2026-03-09") == []


def test_societies_sort_by_code_point(engine: Engine) -> None:
    create_run(engine, run(), [part(slug) for slug in reversed(IDS_BY_CODE_POINT)])
    assert [each.slug for each in run_societies(engine, "r1")] == list(IDS_BY_CODE_POINT)


def test_error_a_run_is_recorded_whole_or_not_at_all(engine: Engine) -> None:
    with pytest.raises(StoreError):
        create_run(engine, run(), [part("asme"), part("asme")])
    assert find_runs(engine) == []


@pytest.mark.parametrize("other", [run("r1", attempt=2), run("r2")], ids=["same id", "same attempt"])
def test_error_a_run_is_not_recorded_over_another(engine: Engine, other: Run) -> None:
    create_run(engine, run(), [part()])
    with pytest.raises(StoreError):
        create_run(engine, replace(other, seed="t"), [part(run_id=other.run_id)])
    assert find_runs(engine) == [run()]


def test_sittings_are_counted_and_totals_kept(engine: Engine) -> None:
    create_run(engine, run(), [part()])
    assert begin_sitting(engine, "r1", totals=CallCounts(sent=0, asked_again=0)) == 1
    end_sitting(engine, "r1", totals=CallCounts(sent=7, asked_again=0), stopped="interrupted")
    assert find_run(engine, "r1") == run(sittings=1, calls_sent=7, stopped="interrupted")
    assert begin_sitting(engine, "r1", totals=CallCounts(sent=8, asked_again=1)) == 2
    assert find_run(engine, "r1") == run(sittings=2, calls_sent=8, asked_again=1, stopped="interrupted")
    done = CallCounts(sent=12, asked_again=3)
    complete_run(engine, "r1", totals=done, stopped=None, finished_at="2026-03-01T02:30:00.000000Z")
    assert find_run(engine, "r1") == run(
        state="complete", finished_at="2026-03-01T02:30:00.000000Z", sittings=2, calls_sent=12, asked_again=3
    )


def test_only_the_named_run_and_society_change(engine: Engine) -> None:
    started(engine, "r1", ("aci", "asme"))
    started(engine, "r2", ("aci", "asme"), attempt=2)
    before = find_run(engine, "r2")
    refuse_society(engine, "r1", "asme", Reason.FORBIDDEN)
    begin_sitting(engine, "r1", totals=CallCounts(sent=5, asked_again=5))
    end_sitting(engine, "r1", totals=CallCounts(sent=6, asked_again=6), stopped="x")
    complete_run(engine, "r1", totals=CallCounts(sent=7, asked_again=7), stopped="x", finished_at="t")
    assert find_run(engine, "r2") == before
    assert [(each.slug, each.refused) for each in run_societies(engine, "r1")] == [("aci", None), ("asme", "forbidden")]
    assert [each.refused for each in run_societies(engine, "r2")] == [None, None]


def test_an_answers_row_tells_its_calls_without_the_transcript(engine: Engine) -> None:
    started(engine)
    attempts = (
        Attempt(elapsed_ms=30, http_status=503, reason=Reason.HTTP_5XX, ledger_entry_id="e1"),
        Attempt(elapsed_ms=40, http_status=429, reason=Reason.RATE_LIMITED),
        Attempt(elapsed_ms=25, http_status=200, ledger_entry_id="e2"),
    )
    answer(
        engine,
        transcript("i0", attempts=(), reason=Reason.CONNECT),
        transcript("i1", attempts=attempts, ledger_entry_id="e2", tokens_returned=2**40),
    )
    never, row = iter_answers(engine, "r1", "asme")
    assert (never.item_id, never.place, never.reason, never.http_status) == ("i0", 0, "connect", None)
    assert (never.attempts, never.billed, never.latency_ms, never.tokens_returned) == (0, 0, 0, None)
    assert (row.item_id, row.segment, row.place, row.sitting) == ("i1", "s1", 1, 1)
    assert (row.reason, row.http_status, row.ledger_entry_id, row.tokens_returned) == (None, 200, "e2", 2**40)
    assert (row.latency_ms, row.attempts, row.billed) == (25, 3, 2)
    assert (row.asked_at, row.answered_at) == ("2026-03-01T02:17:01.000000Z", "2026-03-01T02:17:02.000010Z")


def test_the_answer_of_the_latest_sitting_is_the_items(engine: Engine) -> None:
    started(engine, "r1", ("aci", "asme"))
    failed: dict[str, Any] = {"reason": Reason.TIMEOUT}
    answer(engine, transcript("i1", **failed), transcript("i2", **failed), transcript("i1", "aci", **failed))
    answer(engine, transcript("i1"), sitting=2, segment="s0")
    answer(engine, transcript("i1", **failed), transcript("i3"), sitting=3, segment="s2")
    assert [(row.item_id, row.sitting, row.reason) for row in iter_answers(engine, "r1", "asme")] == [
        ("i2", 1, "timeout"),
        ("i1", 3, "timeout"),
        ("i3", 3, None),
    ]
    assert [(row.item_id, row.sitting) for row in iter_answers(engine, "r1", "aci")] == [("i1", 1)]
    assert {item for item, _, _ in answer_ends(engine, "r1", "asme")} == {"i1", "i2", "i3"}
    assert [item for item, _, _ in answer_ends(engine, "r1", "aci")] == ["i1"]
    assert count_usable(engine, "r1") == 2


def test_every_answer_of_an_item_is_found_oldest_first(engine: Engine) -> None:
    started(engine, "r1", ("aci", "asme"))
    answer(engine, transcript("i1", reason=Reason.TIMEOUT), transcript("i2"), segment="s9")
    answer(engine, transcript("i1"), transcript("i1", "aci"), sitting=2, segment="s1")
    found = find_answers(engine, "r1", "i1")
    assert [(row.slug, row.sitting, row.segment) for row in found] == [
        ("aci", 2, "s1"),
        ("asme", 1, "s9"),
        ("asme", 2, "s1"),
    ]
    assert find_answers(engine, "r1", "i1", "asme") == found[1:]
    assert find_answers(engine, "r1", "i3") == find_answers(engine, "r2", "i1") == []


def test_error_an_answer_is_never_replaced(engine: Engine) -> None:
    started(engine)
    answer(engine, transcript("i1", ms=10))
    with pytest.raises(StoreError):
        answer(engine, transcript("i2"), transcript("i1", ms=99), segment="s2")
    assert [(row.item_id, row.latency_ms) for row in iter_answers(engine, "r1", "asme")] == [("i1", 10)]


def test_error_an_answer_to_a_society_that_is_not_in_the_run(engine: Engine) -> None:
    started(engine)
    with pytest.raises(StoreError):
        answer(engine, transcript("i1", "sae"))


def test_more_rows_than_a_page_stream_while_another_connection_writes(engine: Engine) -> None:
    started(engine)
    ids = [f"i{number:05d}" for number in range(PAGE + 10)]
    one = transcript()
    for start in range(0, len(ids), PAGE):
        batch = [replace(one, item_id=item_id) for item_id in ids[start : start + PAGE]]
        add_answers(engine, "r1", 1, f"s{start:05d}", batch)
    seen = []
    for number, row in enumerate(iter_answers(engine, "r1", "asme")):
        seen.append(row)
        if number % PAGE == 5:
            answer(engine, transcript(f"new{number}"), sitting=2, segment=f"z{number}")
    assert [row.item_id for row in seen] == ids
    assert all((a.segment, a.place) < (b.segment, b.place) for a, b in pairwise(seen))
    assert len({item for item, _, _ in answer_ends(engine, "r1", "asme")}) == len(ids) + 2


def test_a_stream_that_is_left_early_holds_nothing(engine: Engine) -> None:
    started(engine)
    answer(engine, *(transcript(f"i{number}") for number in range(9)))
    stream = iter_answers(engine, "r1", "asme")
    next(stream)
    del stream
    assert engine.pool.status().endswith("Current Checked out connections: 0")


def test_rows_lead_to_their_transcripts(engine: Engine, tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)
    started(engine)
    segments = [[transcript(f"i{number}-{place}", raw=b"%d" % place) for place in range(3)] for number in range(3)]
    for segment in segments:
        add_answers(engine, "r1", 1, save_segment(blobs, segment), segment)
    rows = list(iter_answers(engine, "r1", "asme"))
    read = read_places(blobs, ((row.segment, row.place) for row in rows))
    assert [each.item_id for each in read] == [row.item_id for row in rows]
    assert {row.item_id for row in rows} == {each.item_id for segment in segments for each in segment}


def superseded(run_id: str, by_run_id: str, slug: str = "asme", **changes: str) -> Supersession:
    fields = {
        "run_id": run_id,
        "slug": slug,
        "by_run_id": by_run_id,
        "reason": "harness_fault",
        "recorded_at": "2026-03-01T04:00:00.000000Z",
    }
    return Supersession(**(fields | changes))


def test_what_a_run_supersedes_is_found_by_its_night(engine: Engine) -> None:
    create_run(engine, run("r1"), [part("aci"), part("asme")])
    create_run(engine, run("n1", night="2026-03-02"), [part(run_id="n1")])
    assert find_supersessions(engine, NIGHT) == []
    one, other = superseded("r1", "r2"), superseded("r1", "r3", "aci", reason="night_resumed")
    create_run(engine, run("r2", attempt=2), [part(run_id="r2")], [one])
    create_run(engine, run("r3", attempt=3), [part("aci", "r3")], [other])
    create_run(engine, run("n2", night="2026-03-02", attempt=2), [part(run_id="n2")], [superseded("n1", "n2")])
    found = find_supersessions(engine, NIGHT)
    assert sorted(found, key=lambda each: each.slug) == [other, one]
    assert find_supersessions(engine, "2026-03-02") == [superseded("n1", "n2")]
    assert find_supersessions(engine, "2026-03-03") == []
    assert [each.run_id for each in find_runs(engine, NIGHT)] == ["r1", "r2", "r3"]  # all stay visible


@pytest.mark.parametrize(
    "wrong",
    [
        superseded("none", "r3"),
        superseded("r1", "r3", "sae"),
        superseded("r1", "none"),
        superseded("r1", "r3"),  # r2 has taken that place already
    ],
    ids=["no such run", "no such society in it", "by no such run", "superseded before"],
)
def test_error_a_run_that_supersedes_what_cannot_be_is_not_recorded(engine: Engine, wrong: Supersession) -> None:
    create_run(engine, run("r1"), [part("aci"), part("asme")])
    create_run(engine, run("r2", attempt=2), [part(run_id="r2")], [superseded("r1", "r2")])
    with pytest.raises(StoreError):
        create_run(engine, run("r3", attempt=3), [part(run_id="r3")], [superseded("r1", "r3", "aci"), wrong])
    assert find_run(engine, "r3") is None
    assert run_societies(engine, "r3") == []
    assert find_supersessions(engine, NIGHT) == [superseded("r1", "r2")]


DONE = CallCounts(sent=1, asked_again=0)


def ended(engine: Engine, day: int, run_id: str = "r", *slugs: str, **changes: Any) -> str:
    """A complete run of a night of March with these societies; changes are of their parts."""
    night, name = f"2026-03-{day:02d}", f"{run_id}-{day}"
    attempt = len(find_runs(engine, night)) + 1
    parts = [part(slug, name, **changes) for slug in slugs or ("asme",)]
    create_run(engine, run(name, night=night, attempt=attempt), parts)
    complete_run(engine, name, totals=DONE, stopped=None, finished_at=f"{night}T03:00:00.000000Z")
    return name


def scoring(engine: Engine, run_id: str, slug: str = "asme", *, revision: int = 1, assessed: bool = True) -> None:
    at = save_revision(engine, key(revision, slug, run_id), [scored()], (), SCORED_AT).key
    if assessed:
        save_assessments(engine, at, [evaluated().assessment], SCORED_AT)


def test_a_night_is_owed_until_its_runs_are_complete_scored_and_assessed(engine: Engine) -> None:
    owed = set[int]()
    create_run(engine, run("r-1", night="2026-03-01"), [part(run_id="r-1")])
    owed.add(1)  # open
    ended(engine, 2)
    owed.add(2)  # not scored
    scoring(engine, ended(engine, 3), assessed=False)
    owed.add(3)  # not assessed
    scoring(engine, ended(engine, 4))  # done
    rescored = ended(engine, 5)
    scoring(engine, rescored)
    scoring(engine, rescored, revision=2, assessed=False)
    owed.add(5)  # its rescore is not assessed
    rescored = ended(engine, 6)
    scoring(engine, rescored, assessed=False)
    scoring(engine, rescored, revision=2)  # done by its rescore
    no_terms: dict[str, Any] = {"terms_version": None, "terms_sha256": None, "window": None}
    scoring(engine, ended(engine, 7, **no_terms), assessed=False)  # has nothing to be assessed against
    ended(engine, 8, **no_terms)
    owed.add(8)  # yet is to be scored
    scoring(engine, ended(engine, 9, "r", "aci", "asme"), "aci")
    owed.add(9)  # one of two societies is not scored
    two = ended(engine, 10, "r", "aci", "asme")
    scoring(engine, two, "aci", assessed=False)
    scoring(engine, two, "asme")
    owed.add(10)  # one of two is not assessed
    scoring(engine, ended(engine, 11))
    create_run(engine, run("r2-11", night="2026-03-11", attempt=2), [part(run_id="r2-11")])
    owed.add(11)  # a second run is open
    scoring(engine, ended(engine, 12))
    scoring(engine, ended(engine, 12, "r2"), revision=2, assessed=False)
    owed.add(12)  # a second run is not assessed
    scoring(engine, ended(engine, 13, window="calendar_month"), assessed=False)
    owed.add(13)  # a month is made of nights that are
    create_run(engine, run("r-20", night="2026-03-20"), [part(run_id="r-20")])
    owed.add(20)
    nights = [f"2026-03-{day:02d}" for day in sorted(owed)]
    assert unassessed_nights(engine, "2026-04-01") == nights
    assert unassessed_nights(engine, "2026-03-20") == nights[:-1]
    assert unassessed_nights(engine, "2026-03-03") == nights[:2]
    assert unassessed_nights(engine, "2026-03-01") == []


def test_an_owed_night_is_paid_by_what_was_missing(engine: Engine) -> None:
    create_run(engine, run(), [part()])
    steps: tuple[Callable[[], object], ...] = (
        lambda: complete_run(engine, "r1", totals=DONE, stopped=None, finished_at="t"),
        lambda: scoring(engine, "r1", assessed=False),
        lambda: save_assessments(engine, key(), [evaluated().assessment], SCORED_AT),
    )
    for step in steps:
        assert unassessed_nights(engine, "2026-03-02") == [NIGHT]
        step()
    assert unassessed_nights(engine, "2026-03-02") == []


def test_nights_without_terms_are_those_of_complete_runs(engine: Engine) -> None:
    without: dict[str, Any] = {"terms_version": None, "terms_sha256": None, "window": None}
    ended(engine, 3, "r", "asme", **without)
    ended(engine, 3, "r2", "asme", **without)
    ended(engine, 1, "r", "asme", "aci", **without)
    ended(engine, 2, "r", "asme")
    ended(engine, 5, "r", "aci", **without)
    create_run(engine, run("r-4", night="2026-03-04"), [part(run_id="r-4", **without)])
    assert sorted(nights_without_terms(engine, "asme")) == [date(2026, 3, 1), date(2026, 3, 3)]
    assert sorted(nights_without_terms(engine, "aci")) == [date(2026, 3, 1), date(2026, 3, 5)]
    assert nights_without_terms(engine, "sae") == []


def test_what_was_rescored_or_superseded_since_is_told_by_society_and_night(engine: Engine) -> None:
    def save(run_id: str, slug: str, revision: int, at: str, rescore: Rescore | None) -> None:
        save_revision(engine, key(revision, slug, run_id), [scored()], (), at, rescore)

    first, second = ended(engine, 1, "r", "aci", "asme"), ended(engine, 2, "r", "aci", "asme")
    save(first, "asme", 1, "2026-03-05T01:00:00.000000Z", None)  # a night's own scoring is no revision of anything
    save(first, "asme", 2, "2026-03-06T01:00:00.000000Z", Rescore(reason="gold_corrected"))
    save(second, "aci", 1, "2026-03-07T01:00:00.000000Z", Rescore(reason="scorer_corrected"))
    create_run(
        engine,
        run("r2-2", night="2026-03-02", attempt=2),
        [part(run_id="r2-2")],
        [superseded(second, "r2-2", recorded_at="2026-03-02T04:00:00.000000Z")],
    )
    told = {("asme", "2026-03-02"), ("asme", "2026-03-01"), ("aci", "2026-03-02")}
    assert revised_parts(engine, "2026-03-01") == told
    assert revised_parts(engine, "2026-03-02T04:00:00.000000Z") == told
    assert revised_parts(engine, "2026-03-02T04:00:00.000001Z") == told - {("asme", "2026-03-02")}
    assert revised_parts(engine, "2026-03-06T01:00:00.000001Z") == {("aci", "2026-03-02")}
    assert revised_parts(engine, "2026-03-08") == set()
