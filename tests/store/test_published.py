"""What the pages read: verdicts in the published order beside their calls, and figures over the last answers."""

from math import ceil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, event

from harness.gateway.answer import Attempt, Reason
from harness.store.engine import open_engine, reading
from harness.store.migrate import upgrade
from harness.store.published import (
    CallTotals,
    PublishedItem,
    call_totals,
    count_diagnoses,
    count_reasons,
    iter_published,
    latency_percentile,
)
from harness.store.runs import find_runs, iter_answers
from harness.store.scores import RevisionKey
from tests.databases import empty_database
from tests.store.factories import IDS_BY_CODE_POINT, answer, key, revised, score, scored, started, transcript


def _published(engine: Engine, here: RevisionKey) -> list[tuple[str, str, int | None, int, int | None]]:
    return [
        (each.item_hash, each.score.item, each.latency_ms, each.attempts, each.tokens_returned)
        for each in iter_published(engine, [here])
    ]


def test_items_come_by_published_id_beside_their_last_answer(engine: Engine) -> None:
    started(engine, "r1", ("aci", "asme"))
    started(engine, "r2", attempt=2)
    here = revised(engine, scored("i1", published="z"), scored("i2", published="B"), scored("i3", published="a"))
    revised(engine, scored("i1", published="q"), revision=2)
    answer(engine, transcript("i1", ms=10, reason=Reason.TIMEOUT), transcript("i2", ms=20, tokens_returned=7))
    answer(engine, transcript("i1", ms=30, tokens_returned=9), transcript("i3", "aci"), sitting=2, segment="s2")
    answer(engine, transcript("i3"), run_id="r2")
    assert _published(engine, here) == [("B", "i2", 20, 1, 7), ("a", "i3", None, 0, None), ("z", "i1", 30, 1, 9)]
    assert next(iter_published(engine, [key(2)])) == PublishedItem(
        item_hash="q", score=score("i1"), latency_ms=30, attempts=1, tokens_returned=9
    )
    assert list(iter_published(engine, [key(3)])) == []


def test_published_ids_sort_by_code_point(engine: Engine) -> None:
    started(engine)
    here = revised(engine, *(scored(item, published=item) for item in reversed(IDS_BY_CODE_POINT)))
    assert [each.item_hash for each in iter_published(engine, [here])] == list(IDS_BY_CODE_POINT)


def test_totals_are_sums_over_the_last_answers(engine: Engine) -> None:
    started(engine, "r1", ("aci", "asme"))
    twice = (Attempt(elapsed_ms=5, http_status=503, ledger_entry_id="e1"), Attempt(elapsed_ms=6, ledger_entry_id="e2"))
    answer(engine, transcript("i1", ms=1, reason=Reason.TIMEOUT), transcript("i2", ms=2, reason=Reason.HTTP_5XX))
    answer(
        engine,
        transcript("i1", ms=6, attempts=twice, tokens_returned=2**40),
        transcript("i3", ms=9, tokens_returned=2**40),
        transcript("i1", "aci", ms=99, tokens_returned=5),
        sitting=2,
        segment="s2",
    )
    assert call_totals(engine, "r1", "asme") == CallTotals(
        asked=3,
        attempts=4,
        billed=2,
        tokens_returned=2**41,
        first_answer_at="2026-03-01T02:17:02.000002Z",
        last_answer_at="2026-03-01T02:17:02.000009Z",
        usable=2,
    )


def test_without_answers_there_are_no_figures(engine: Engine) -> None:
    started(engine)
    totals = CallTotals(
        asked=0, attempts=0, billed=0, tokens_returned=0, first_answer_at=None, last_answer_at=None, usable=0
    )
    assert call_totals(engine, "r1", "asme") == totals
    assert latency_percentile(engine, ["r1"], "asme", 50, 0) is None
    assert count_reasons(engine, "r1", "asme") == {}
    assert count_diagnoses(engine, key()) == {}


def test_reasons_are_counted_over_the_last_answers(engine: Engine) -> None:
    started(engine, "r1", ("aci", "asme"))
    answer(
        engine,
        *(transcript(f"i{number}", reason=Reason.TIMEOUT) for number in range(3)),
        transcript("i3", reason=Reason.NOT_JSON),
        transcript("i4"),
        transcript("i1", "aci", reason=Reason.TLS),
    )
    answer(engine, transcript("i1"), transcript("i2", reason=Reason.NOT_JSON), sitting=2, segment="s2")
    assert list(count_reasons(engine, "r1", "asme").items()) == [("not_json", 2), ("timeout", 1)]


def test_equal_diagnoses_are_counted_together(engine: Engine) -> None:
    started(engine)
    revised(engine, scored("i1", faults={1: '{"f":9}'}))
    here = revised(
        engine, scored("i1", faults={1: '{"f":1}', 2: '{"f":2}'}), scored("i2", faults={1: '{"f":1}'}), revision=2
    )
    assert count_diagnoses(engine, here) == {'{"f":1}': 2, '{"f":2}': 1}


def _nearest_rank(values: list[int], percent: int) -> int:
    """The smallest value such that at least `percent` of the values are not above it, counted one by one."""
    return next(
        value for value in sorted(values) if 100 * sum(each <= value for each in values) >= percent * len(values)
    )


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(st.integers(0, 50), min_size=1, max_size=25), percents=st.sets(st.integers(1, 100), min_size=4))
def test_a_percentile_is_the_nearest_rank(engine: Engine, values: list[int], percents: set[int]) -> None:
    attempt = len(find_runs(engine)) + 1
    run_id = started(engine, f"r{attempt}", attempt=attempt)
    failed = transcript("failed", ms=7, reason=Reason.TIMEOUT)
    answer(engine, *(transcript(f"i{n}", ms=ms) for n, ms in enumerate(values)), failed, run_id=run_id)
    for percent in sorted(percents):
        found = latency_percentile(engine, [run_id], "asme", percent, len(values))
        assert found == _nearest_rank(values, percent) == sorted(values)[ceil(percent * len(values) / 100) - 1]


@pytest.mark.parametrize(("percent", "expected"), [(0, 15), (5, 15), (30, 20), (40, 20), (50, 35), (100, 50)])
def test_known_percentiles(engine: Engine, percent: int, expected: int) -> None:
    started(engine)
    answer(engine, *(transcript(f"i{ms}", ms=ms) for ms in (40, 20, 50, 15, 35)))
    assert latency_percentile(engine, ["r1"], "asme", percent, 5) == expected


def test_no_read_is_planned_as_each_row_against_all(tmp_path: Path) -> None:
    """On PostgreSQL without statistics, as every night begins; SQLite always goes through the primary key."""
    sent: list[tuple[str, Any]] = []
    plan: list[str] = []
    with empty_database("postgresql", tmp_path) as url:
        engine = open_engine(url)
        upgrade(engine)
        started(engine)
        here = revised(engine, scored())

        @event.listens_for(engine, "before_cursor_execute")
        def _keep(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
            sent.append((statement, parameters))

        assert len(list(iter_published(engine, [here]))) == len(list(iter_answers(engine, "r1", "asme"))) + 1
        call_totals(engine, "r1", "asme")
        event.remove(engine, "before_cursor_execute", _keep)
        with reading(engine) as connection:
            for statement, parameters in sent:
                if statement.startswith("SELECT"):
                    plan += connection.exec_driver_sql(f"EXPLAIN {statement}", parameters).scalars()
                else:
                    connection.exec_driver_sql(statement)
        engine.dispose()
    assert sum("on answer" in line for line in plan) >= 3
    assert not [line for line in plan if "Nested Loop" in line]
