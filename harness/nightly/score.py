"""Score: stored transcripts become verdicts, diagnoses and numbers, by that night's items and terms."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import tee

from sqlalchemy import Engine

from harness.citation.model import FIELDS
from harness.citation.style import Style
from harness.gateway.answer import Answer, Reason
from harness.nightly.ids import PublishedIds
from harness.nightly.outcome import response_status
from harness.nightly.plan import DEFAULT_TOP_K, SocietyPlan
from harness.scoring.diagnosis import diagnose
from harness.scoring.measures import Tally
from harness.scoring.model import ItemScore, Measure, Outcome, Response, ScoringTerms
from harness.scoring.verdicts import score_item
from harness.store import wire
from harness.store.files import BlobStore
from harness.store.runs import iter_answers, sittings_that_reached
from harness.store.scores import Rescore, Revision, RevisionKey, Scored, next_revision, save_revision
from harness.store.transcripts import read_places
from harness.testset.model import Item

DecodeAnswer = Callable[[Answer], Answer]
"""From a stored answer to the same with its passages, decoded from the raw body as its transport does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringInput:
    """Where a run's transcripts are, how their bodies are read, and the styles that diagnosis knows."""

    engine: Engine
    blobs: BlobStore
    night: str
    run_id: str
    decode: DecodeAnswer
    styles: Sequence[Style]
    ids: PublishedIds


def scoring_terms(plan: SocietyPlan) -> ScoringTerms:
    """What the scorer needs of the contract; without terms the editions that the gold names comply."""
    terms, society = plan.terms, plan.society
    return ScoringTerms(
        society=society.id,
        style=society.style,
        editions=_editions_known(plan) if terms is None else terms.editions,
        top_k=DEFAULT_TOP_K if terms is None else terms.top_k,
        checks=FIELDS if terms is None else terms.checks,
        catalogue=society.catalogue,
    )


def score(source: ScoringInput, plan: SocietyPlan, scored_at: str, rescore: Rescore | None = None) -> Revision:
    """Score a society's part of a run and store the revision whole, as the next one of its night.

    A planned item without an answer ends in harness_error, so that the outcomes add up to the plan (law 1).
    """
    number = next_revision(source.engine, source.night, plan.society.slug)
    key = RevisionKey(run_id=source.run_id, slug=plan.society.slug, revision=number)
    terms = scoring_terms(plan)
    tally = Tally(terms.checks)

    def scored() -> Iterator[Scored]:
        for item, response in responses(source, plan):
            verdict = score_item(item, response, terms)
            tally.add(verdict)
            item_hash = source.ids.item(plan.society.slug, item.id)
            yield Scored(
                item_hash=item_hash, score=verdict, faults=_faults(item, response, verdict, terms, source.styles)
            )

    def numbers() -> Iterator[Measure]:
        yield from tally.measures()  # asked for only when every verdict has been added

    return save_revision(source.engine, key, scored(), numbers(), scored_at, rescore)


def responses(source: ScoringInput, plan: SocietyPlan) -> Iterator[tuple[Item, Response]]:
    """Every planned item once with what the scorer may see of its answer: the answered ones as their transcripts lie on
    disk, then those that were never asked."""
    reached = sittings_that_reached(source.engine, source.run_id)
    unanswered = {item.id: item for item in plan.items}
    rows, places = tee(iter_answers(source.engine, source.run_id, plan.society.slug))
    transcripts = read_places(source.blobs, ((row.segment, row.place) for row in places))
    for row, transcript in zip(rows, transcripts, strict=True):
        item = unanswered.pop(row.item_id)
        reason = None if row.reason is None else Reason(row.reason)
        status = response_status(reason, row.sitting in reached)
        passages = source.decode(transcript.answer).passages if status == "ok" else ()
        yield item, Response(status=status, passages=passages)
    for item in unanswered.values():
        yield item, Response(status="harness_error")


def _faults(
    item: Item, response: Response, verdict: ItemScore, terms: ScoringTerms, styles: Sequence[Style]
) -> Mapping[int, str]:
    """A diagnosis for each expectation that a usable answer did not meet; errors of a call are told by their reason."""
    if response.status != "ok":
        return {}
    faults = {}
    for alternatives, ended in zip(item.expectations, verdict.expectations, strict=True):
        if ended.outcome is not Outcome.CORRECT:
            passage = None if ended.rank is None else response.passages[ended.rank - 1]
            found = diagnose(alternatives, passage, terms, styles, item.editions)
            faults[ended.expectation] = wire.encode(found)
    return faults


def _editions_known(plan: SocietyPlan) -> Mapping[str, tuple[int, ...]]:
    """The editions that the society's gold names, by standard: what a society without terms is held to."""
    known: dict[str, set[int]] = {}
    for item in plan.items:
        for gold in item.citations:
            years = known.setdefault(gold.standard, set())
            if gold.edition_year is not None:
                years.add(gold.edition_year)
    return {standard: tuple(sorted(years)) for standard, years in known.items()}
