"""One-line makers of runs, transcripts and verdicts, and strategies for all that may be stored of them."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Final

from hypothesis import strategies as st
from sqlalchemy import Engine

from harness.gateway.answer import Answer, Attempt, Question, Reason
from harness.scoring.model import (
    ExpectationScore,
    Interval,
    ItemScore,
    Measure,
    Outcome,
    Outcomes,
    PassageScore,
)
from harness.store.runs import CallCounts, Run, RunSociety, add_answers, begin_sitting, create_run
from harness.store.scores import RevisionKey, Scored, save_revision
from harness.store.transcripts import Transcript

NIGHT: Final = "2026-03-01"
SCORED_AT: Final = "2026-03-01T03:00:00.000000Z"
IDS_BY_CODE_POINT: Final = ("B", "a", "a-b", "a.b", "aB", "a_b", "ab", "b", "ä", "中", "\U00010348")
"""An order that a locale's collation, or one by UTF-16 units, would change."""


def run(run_id: str = "r1", **changes: Any) -> Run:
    fields: dict[str, Any] = {
        "run_id": run_id,
        "night": NIGHT,
        "attempt": 1,
        "state": "open",
        "seed": "s",
        "transport": "rest",
        "gateway": "https://gateway.example",
        "harness_version": "0.1.0",
        "started_at": f"{NIGHT}T02:17:00.000000Z",
    }
    return Run(**(fields | changes))


def part(slug: str = "asme", run_id: str = "r1", **changes: Any) -> RunSociety:
    fields: dict[str, Any] = {
        "run_id": run_id,
        "slug": slug,
        "snapshot_sha256": "5" * 64,
        "testset_version": "2026.03",
        "testset_sha256": "7" * 64,
        "terms_version": 3,
        "terms_sha256": "3" * 64,
        "window": "night",
        "items": 4,
        "expectations": 5,
    }
    return RunSociety(**(fields | changes))


def transcript(item_id: str = "i1", slug: str = "asme", *, ms: int = 10, **answer: Any) -> Transcript:
    """A usable answer of one attempt that took `ms`; other fields of the answer by name."""
    reason = answer.get("reason")
    attempt = Attempt(elapsed_ms=ms, http_status=200, reason=reason, ledger_entry_id=answer.get("ledger_entry_id"))
    question = Question(corpus=slug, society=slug.upper(), query="q", max_tokens=1200, ref=f"{slug}/{item_id}")
    return Transcript(
        slug=slug,
        item_id=item_id,
        question=question,
        answer=Answer(**({"raw": b"{}", "attempts": (attempt,)} | answer)),
        asked_at=f"{NIGHT}T02:17:01.000000Z",
        answered_at=f"{NIGHT}T02:17:02.{ms:06d}Z",
    )


def started(engine: Engine, run_id: str = "r1", slugs: Iterable[str] = ("asme",), **changes: Any) -> str:
    """A run in its first sitting with these societies."""
    create_run(engine, run(run_id, **changes), [part(slug, run_id) for slug in slugs])
    begin_sitting(engine, run_id, totals=CallCounts(sent=0, asked_again=0))
    return run_id


def answer(engine: Engine, *transcripts: Transcript, sitting: int = 1, segment: str = "s1", run_id: str = "r1") -> None:
    """Store the answers as one segment."""
    add_answers(engine, run_id, sitting, segment, transcripts)


def score(item: str = "i1", **changes: Any) -> ItemScore:
    fields: dict[str, Any] = {
        "item": item,
        "status": "ok",
        "cluster": None,
        "weight": "1",
        "standard": "B31.3",
        "kind": "section",
        "recall": Fraction(1, 2),
        "reciprocal_rank": Fraction(1, 3),
        "expectations": (),
        "passages": (),
    }
    return ItemScore(**(fields | changes))


def scored(item: str = "i1", *, published: str | None = None, faults: dict[int, str] | None = None) -> Scored:
    return Scored(item_hash=f"h-{item}" if published is None else published, score=score(item), faults=faults or {})


def measure(name: str = "citation_correctness", stratum: str | None = None) -> Measure:
    return Measure(
        name=name,
        stratum=stratum,
        unit="expectation",
        good=Fraction(37, 2),
        valid=20,
        value=Fraction(37, 40),
        interval=None,
        outcomes=None,
        clusters=20,
    )


def key(revision: int = 1, slug: str = "asme", run_id: str = "r1") -> RevisionKey:
    return RevisionKey(run_id=run_id, slug=slug, revision=revision)


def revised(engine: Engine, *items: Scored, revision: int = 1) -> RevisionKey:
    """A stored revision of run r1 with these verdicts and no numbers."""
    return save_revision(engine, key(revision), items, (), SCORED_AT).key


_TEXT: Final = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_COUNT: Final = st.integers(0, 10**6)
_SHARE: Final = st.floats(0, 1)
_FRACTION: Final = st.fractions()
_FLAG: Final = st.none() | st.booleans()

_ATTEMPTS: Final = st.builds(
    Attempt,
    elapsed_ms=_COUNT,
    http_status=st.none() | st.integers(100, 599),
    reason=st.none() | st.sampled_from(Reason),
    ledger_entry_id=st.none() | _TEXT,
    retry_after_s=st.none() | st.floats(0, 1e6),
)
TRANSCRIPTS: Final = st.builds(
    Transcript,
    slug=_TEXT,
    item_id=_TEXT,
    question=st.builds(
        Question,
        corpus=_TEXT,
        society=_TEXT,
        query=_TEXT,
        max_tokens=_COUNT,
        editions=st.none() | st.lists(st.integers(1900, 2100), max_size=3).map(tuple),
        ref=_TEXT,
    ),
    answer=st.builds(
        Answer,
        passages=st.just(()),
        raw=st.binary(max_size=200),
        reason=st.none() | st.sampled_from(Reason),
        ledger_entry_id=st.none() | _TEXT,
        tokens_returned=st.none() | st.integers(0, 2**63 - 1),
        attempts=st.lists(_ATTEMPTS, max_size=3).map(tuple),
        transport=st.sampled_from(["rest", "mcp", "a2a"]),
        protocol_version=_TEXT,
    ),
    asked_at=_TEXT,
    answered_at=_TEXT,
)
SCORES: Final = st.builds(
    ItemScore,
    item=_TEXT,
    status=st.sampled_from(["ok", "gateway_error", "harness_error"]),
    cluster=st.none() | _TEXT,
    weight=st.decimals(0, 100, places=3).map(str),
    standard=_TEXT,
    kind=_TEXT,
    recall=st.none() | _FRACTION,
    reciprocal_rank=st.none() | _FRACTION,
    expectations=st.lists(
        st.builds(
            ExpectationScore,
            expectation=st.integers(1, 9),
            outcome=st.sampled_from(Outcome),
            checks=st.lists(st.booleans(), max_size=6).map(tuple),
            rank=st.none() | st.integers(1, 99),
            retrieved=_FLAG,
            standard=_TEXT,
            kind=_TEXT,
        ),
        max_size=3,
    ).map(tuple),
    passages=st.lists(
        st.builds(PassageScore, rank=st.integers(1, 99), edition_compliant=_FLAG, consistent=_FLAG, in_catalogue=_FLAG),
        max_size=3,
    ).map(tuple),
)
MEASURES: Final = st.builds(
    Measure,
    name=_TEXT,
    stratum=st.none() | _TEXT.filter(bool),
    unit=st.sampled_from(["expectation", "passage", "item"]),
    good=_FRACTION,
    valid=_COUNT,
    value=st.none() | _FRACTION,
    interval=st.none()
    | st.builds(Interval, method=_TEXT, low=_SHARE, high=_SHARE, n_effective=st.floats(0, 1e6), confidence=_TEXT),
    outcomes=st.none()
    | st.builds(Outcomes, correct=_COUNT, incorrect=_COUNT, missing=_COUNT, gateway_error=_COUNT, harness_error=_COUNT),
    clusters=_COUNT,
    weight_total=st.none() | _FRACTION,
    warnings=st.lists(_TEXT, max_size=2).map(tuple),
)
