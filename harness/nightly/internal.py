"""The internal report: what a society's night got wrong, collected from the store and written for its engineer."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import tee
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import msgspec
from sqlalchemy import Engine

from harness.citation.error import CitationError
from harness.citation.model import Citation
from harness.citation.parse import parse_citation
from harness.citation.style import Style
from harness.errors import HarnessError, StoreError
from harness.nightly.outcome import NEVER_ASKED
from harness.nightly.results import HEADLINE, ScoredSociety, compare_scored, earlier_nights, whole
from harness.nightly.score import DecodeAnswer, scoring_terms
from harness.scoring.checks import best_alternative
from harness.scoring.compare import ComparisonError
from harness.scoring.decimals import format_ratio
from harness.scoring.diagnosis import Diagnosis
from harness.scoring.model import ExpectationScore, Outcome, ScoringTerms
from harness.site.internal import (
    MOST_CALLS,
    Call,
    FailedCheck,
    FailedExpectation,
    Flips,
    InternalReport,
    Quoted,
    write_report,
)
from harness.site.model import EvalResult
from harness.site.text import LONGEST_SHOWN, chip_of
from harness.store.files import BlobStore
from harness.store.internal import ExaminedItem, iter_examined, retried_calls, slowest_calls
from harness.store.runs import AnswerRow
from harness.store.scores import latest_revision, load_measures
from harness.store.transcripts import Transcript, read_places
from harness.testset.model import Item

SLOWEST: Final = 20

_DIAGNOSIS: Final = msgspec.json.Decoder(Diagnosis)
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalPlace:
    """Where internal reports are written, never below the site, and the gateway's address, None where it is not known.

    `failures` gathers what could not be written: nothing ever waits for a report, and the command that wanted it ends
    with the failure when everything else is done.
    """

    root: Path
    gateway: str | None
    failures: list[StoreError] = field(default_factory=list)

    def path(self, night: str, slug: str) -> Path:
        return self.root / night / f"{slug}.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSource:
    """Where a run's verdicts and transcripts are, and how stored bodies are read."""

    engine: Engine
    blobs: BlobStore
    decode: DecodeAnswer


def write_internal(source: ReportSource, place: InternalPlace, scored: ScoredSociety, result: EvalResult) -> None:
    """Write the report of one society's night; a later revision takes the place of an earlier one.

    Raises nothing: what goes wrong is kept in `place.failures`.
    """
    target = place.path(scored.run.night, scored.part.slug)
    try:
        write_report(target, _report(source, place, scored, result), iter_failed(source, scored))
    except Exception as error:  # whatever it is, nobody's number or credit may wait for a report
        place.failures.append(_failure(scored, target, error))


def iter_failed(source: ReportSource, scored: ScoredSociety) -> Iterator[FailedExpectation]:
    """Every expectation that was not correct, as the transcripts lie on disk; one item in memory at a time."""
    engine, key = source.engine, scored.revision.key
    items = {item.id: item for item in scored.plan.items}
    failed, places = tee(examined for examined in iter_examined(engine, key) if _has_failed(examined))
    answers = (each.answer for each in places)
    transcripts = read_places(source.blobs, ((row.segment, row.place) for row in answers if row is not None))
    terms = scoring_terms(scored.plan)
    for examined in failed:
        transcript = None if examined.answer is None else next(transcripts)
        passages: Sequence[Any] = ()
        if transcript is not None and examined.score.status == "ok":
            passages = source.decode(transcript.answer).passages
        call = None if examined.answer is None else _call(source.blobs, examined.answer)
        item = items[examined.score.item]
        for ended, alternatives in zip(examined.score.expectations, item.expectations, strict=True):
            if ended.outcome is not Outcome.CORRECT:
                passage = None if ended.rank is None else passages[ended.rank - 1]
                seen = Seen(item=item, alternatives=alternatives, ended=ended, passage=passage)
                yield _failed(seen, terms, _shapes(examined, ended), call)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """An expectation beside the passage that was aligned with it; None where none was."""

    item: Item
    alternatives: tuple[Citation, ...]
    ended: ExpectationScore
    passage: Mapping[str, Any] | None = field(repr=False)


def gold_of(seen: Seen, checks: tuple[str, ...]) -> tuple[Citation, ...]:
    """The acceptable citations, first the one that the passage was compared with."""
    best, _ = best_alternative(seen.alternatives, seen.passage, checks)
    return (best, *(each for each in seen.alternatives if each is not best))


def returned_citation(seen: Seen) -> str | None:
    """The passage's citation: its string, another value as JSON; None where there is no passage or none in it."""
    if seen.passage is None or "citation" not in seen.passage:
        return None
    value = seen.passage["citation"]
    return value if isinstance(value, str) else as_json(value)


def failed_checks(seen: Seen, checks: tuple[str, ...]) -> tuple[FailedCheck, ...]:
    """The contracted checks that are false, in their order; none where no passage was aligned: all are false then."""
    if seen.passage is None:
        return ()
    gold = gold_of(seen, checks)[0]
    return tuple(
        FailedCheck(
            name=name,
            expected=as_json(getattr(gold, name)),
            found=as_json(seen.passage[name]) if name in seen.passage else None,
        )
        for name, true in zip(checks, seen.ended.checks, strict=True)
        if not true
    )


def as_json(value: Any) -> str:
    """A decoded value as JSON; of a long string only as much as is ever shown."""
    if isinstance(value, str):
        value = value[: LONGEST_SHOWN + 1]
    try:
        return _ENCODER.encode(value)
    except RecursionError:
        return "a value nested too deeply to print"


def _failed(seen: Seen, terms: ScoringTerms, shapes: tuple[str, ...], call: Call | None) -> FailedExpectation:
    ended, returned = seen.ended, returned_citation(seen)
    return FailedExpectation(
        item=seen.item.id,
        expectation=ended.expectation,
        query=seen.item.query,
        gold=tuple(_quoted(gold.citation, terms.style) for gold in gold_of(seen, terms.checks)),
        returned=None if returned is None else _quoted(returned, terms.style),
        checks=failed_checks(seen, terms.checks),
        outcome=ended.outcome,
        shapes=shapes,
        standard=ended.standard,
        kind=ended.kind,
        rank=ended.rank,
        call=call,
    )


def _has_failed(examined: ExaminedItem) -> bool:
    return any(ended.outcome is not Outcome.CORRECT for ended in examined.score.expectations)


def _shapes(examined: ExaminedItem, ended: ExpectationScore) -> tuple[str, ...]:
    """The diagnosis' shapes, named as in the counts; of what has none, why there was no answer."""
    if (diagnosis := examined.diagnoses.get(ended.expectation)) is not None:
        return _named(diagnosis)
    return (NEVER_ASKED,) if examined.answer is None else (examined.answer.reason or "usable",)


@lru_cache(maxsize=1024)
def _named(diagnosis: str) -> tuple[str, ...]:
    told = _DIAGNOSIS.decode(diagnosis)
    shapes = [] if told.string is None else [told.string]
    shapes += [f"{name}: {shape}" for name, shape in told.fields.items()]
    return (*shapes, *(f"passage: {shape}" for shape in told.passage))


def _quoted(text: str, style: Style) -> Quoted:
    """The string, with its chip where it is a canonical one of the style."""
    chip = None
    if len(text) <= LONGEST_SHOWN:
        with suppress(CitationError, ValueError):
            chip = chip_of(parse_citation(text, style))
    return Quoted(text=text, chip=chip)


def _report(source: ReportSource, place: InternalPlace, scored: ScoredSociety, result: EvalResult) -> InternalReport:
    engine, run_id, slug = source.engine, scored.run.run_id, scored.part.slug
    retried, count = retried_calls(engine, run_id, slug, MOST_CALLS)
    return InternalReport(
        result=result,
        flips=_flips(engine, scored),
        slowest=_calls(source.blobs, slowest_calls(engine, run_id, slug, SLOWEST)),
        retried=_calls(source.blobs, retried),
        retried_count=count,
        gateway=place.gateway,
    )


def _flips(engine: Engine, scored: ScoredSociety) -> Flips:
    """Against the night that the society's page compares with: the last official one in which something was measured,
    if it was measured alike."""
    for run, part in earlier_nights(engine, scored):
        revision = latest_revision(engine, run.run_id, part.slug)
        if revision is None:
            continue
        earlier = ScoredSociety(run=run, part=part, plan=scored.plan, revision=revision)
        try:
            comparison = compare_scored(engine, earlier, scored)
        except ComparisonError as error:
            return Flips(night=run.night, refusal=str(error))
        if whole(load_measures(engine, revision.key), HEADLINE).value is not None:
            return Flips(
                night=run.night,
                compared=comparison.compared,
                unmeasured=comparison.unmeasured,
                better=comparison.better,
                worse=comparison.worse,
                p=format_ratio(comparison.p),
            )
    return Flips()


def _calls(blobs: BlobStore, rows: Sequence[AnswerRow]) -> list[Call]:
    """The calls in the order given, with how each of their attempts ended; transcripts are read in one sweep."""
    swept = sorted(rows, key=attrgetter("segment", "place"))
    transcripts = read_places(blobs, ((row.segment, row.place) for row in swept))
    calls = {row.item_id: _call(blobs, row, each) for row, each in zip(swept, transcripts, strict=True)}
    return [calls[row.item_id] for row in rows]


def _call(blobs: BlobStore, row: AnswerRow, transcript: Transcript | None = None) -> Call:
    before = () if transcript is None else transcript.answer.attempts[:-1]
    return Call(
        item=row.item_id,
        endings=(*(each.reason or "usable" for each in before), row.reason or "usable"),
        latency_ms=row.latency_ms,
        attempts=row.attempts,
        ledger_entry_id=row.ledger_entry_id,
        file=blobs.path(row.segment),
        place=row.place,
    )


def _failure(scored: ScoredSociety, target: Path, error: Exception) -> StoreError:
    night = scored.run.night
    return StoreError(
        f"night {night} {scored.part.slug}: the internal report was not written to {target} ({_told(error)}). "
        f"No number waits for it; `harness publish --night {night}` writes it anew."
    )


def _told(error: Exception) -> str:
    """Why, for a message: an error that is our own fault is told by its kind only, since it may quote held-out text."""
    if isinstance(error, HarnessError):
        return str(error)
    return (isinstance(error, OSError) and error.strerror) or type(error).__name__
