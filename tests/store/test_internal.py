"""What the internal report reads: verdicts with their diagnoses and last answers, and the calls that stand out."""

from sqlalchemy import Engine

from harness.gateway.answer import Attempt, Reason
from harness.store.internal import iter_examined, retried_calls, slowest_calls
from harness.store.runs import AnswerRow, find_answers
from tests.store.factories import answer, key, revised, scored, started, transcript

TWICE = (Attempt(elapsed_ms=5, http_status=503, reason=Reason.HTTP_5XX), Attempt(elapsed_ms=6))


def last(engine: Engine, item: str) -> AnswerRow:
    return find_answers(engine, "r1", item, "asme")[-1]


def test_items_come_as_their_transcripts_lie_with_diagnoses_and_last_answers(engine: Engine) -> None:
    started(engine, "r1", ("aci", "asme"))
    started(engine, "r2", attempt=2)
    here = revised(
        engine,
        scored("i1", faults={1: "{}", 2: '{"string":"case"}'}),
        scored("i2"),
        scored("i3", faults={1: "[]"}),
        scored("i4"),
    )
    revised(engine, scored("i1", faults={1: "other"}), revision=2)
    answer(engine, transcript("i1", reason=Reason.TIMEOUT), transcript("i3"), segment="s1")
    answer(engine, transcript("i2"), transcript("i1", ms=30), transcript("i4", "aci"), sitting=2, segment="s0")
    answer(engine, transcript("i4"), run_id="r2")
    told = {
        each.score.item: (
            dict(each.diagnoses),
            None if each.answer is None else (each.answer.segment, each.answer.place),
        )
        for each in iter_examined(engine, here)
    }
    assert told == {
        "i1": ({1: "{}", 2: '{"string":"case"}'}, ("s0", 1)),
        "i2": ({}, ("s0", 0)),
        "i3": ({1: "[]"}, ("s1", 1)),
        "i4": ({}, None),
    }
    assert [item for item in told if item != "i4"] == ["i2", "i1", "i3"]
    answers = {each.score.item: each.answer for each in iter_examined(engine, here)}
    assert answers["i1"] == last(engine, "i1")
    assert list(iter_examined(engine, key(3))) == []


def test_calls_that_stand_out(engine: Engine) -> None:
    started(engine, "r1", ("aci", "asme"))
    answer(engine, transcript("i1", ms=900), transcript("i2", attempts=TWICE), transcript("i3", ms=20))
    answer(engine, transcript("i1", ms=10), transcript("i4", "aci", ms=5_000), sitting=2, segment="s2")
    assert slowest_calls(engine, "r1", "asme", 2) == [last(engine, "i3"), last(engine, "i1")]
    assert retried_calls(engine, "r1", "asme", 5) == ([last(engine, "i2")], 1)
    assert retried_calls(engine, "r1", "asme", 0) == ([], 1)
    assert retried_calls(engine, "r1", "aci", 5) == ([], 0)
