"""Looking into stored nights: runs with their coverage, one item whole, two nights side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from harness.errors import UsageError
from harness.nightly.freeze import plan_of
from harness.nightly.internal import Seen
from harness.nightly.official import official_part
from harness.nightly.results import ScoredSociety, compare_scored
from harness.nightly.score import scoring_terms
from harness.nightly.stages import Stages, results_of, score_run
from harness.scoring.compare import Comparison
from harness.scoring.model import ItemScore
from harness.site.internal import ledger_link
from harness.site.model import EvalResult
from harness.sla.assess import worst
from harness.store.published import call_totals
from harness.store.runs import AnswerRow, Run, RunSociety, find_answers, find_run, find_runs, run_societies
from harness.store.scores import find_score, iter_faults, latest_revision, load_assessments
from harness.store.transcripts import Transcript, read_places
from harness.testset.model import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """One society's part of a run: how much of the plan has an answer, and how far the stages came."""

    run: Run
    part: RunSociety
    answered: int
    usable: int
    revision: int | None
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectedCall:
    """A stored call of an item: its row, its transcript, the segment that holds it, and the address of the gateway's
    own record, None where that is not known."""

    row: AnswerRow
    transcript: Transcript = field(repr=False)
    segment: Path
    ledger_url: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """One item of one run, with held-out text: for the terminal of the platform engineer only.

    `seen` are its expectations beside the passages aligned with them; empty where the item is not scored.
    """

    run: Run
    slug: str
    item: Item = field(repr=False)
    checks: tuple[str, ...]
    seen: Sequence[Seen] = field(repr=False)
    diagnoses: Mapping[int, str]
    calls: Sequence[InspectedCall]
    passages: Sequence[Mapping[str, Any]] = field(repr=False)


def coverage(engine: Engine, night: str | None) -> list[Coverage]:
    """Every society of every run of a night (None: of all nights), oldest first."""
    return [
        _coverage(engine, run, part) for run in find_runs(engine, night) for part in run_societies(engine, run.run_id)
    ]


def results_of_run(stages: Stages, run_id: str) -> list[EvalResult]:
    """The frozen results of a complete run. Raises UsageError for an unknown or unfinished one."""
    run = _known_run(stages.place.engine, run_id)
    if run.state != "complete":
        raise UsageError(f"run {run_id}: not complete; start its night again to finish it")
    return results_of(stages, list(score_run(stages, run)))


def inspect_item(stages: Stages, run_id: str, item_id: str, slug: str | None = None) -> Inspected:
    """Everything stored of an item. Raises UsageError where the run or the item is unknown or the id is not unique."""
    place = stages.place
    run = _known_run(place.engine, run_id)
    found = []
    for part in run_societies(place.engine, run_id):
        if slug is None or part.slug == slug:
            plan = plan_of(place.blobs, run, part, latest_revision(place.engine, run_id, part.slug))
            found += [(part, plan, item) for item in plan.items if item.id == item_id]
    if len(found) != 1:
        slugs = ", ".join(part.slug for part, _, _ in found)
        what = f"in {slugs}: name one with --society" if found else f"not planned in run {run_id}"
        raise UsageError(f"item {item_id[:128]!r}: {what}")
    part, plan, item = found[0]
    revision = latest_revision(place.engine, run_id, part.slug)
    rows = find_answers(place.engine, run_id, item_id, part.slug)
    transcripts = list(read_places(place.blobs, ((row.segment, row.place) for row in rows)))
    passages: Sequence[Mapping[str, Any]] = ()
    if transcripts and transcripts[-1].answer.usable:
        passages = stages.decode(transcripts[-1].answer).passages
    score = None if revision is None else find_score(place.engine, revision.key, item_id)
    return Inspected(
        run=run,
        slug=part.slug,
        item=item,
        checks=scoring_terms(plan).checks,
        seen=() if score is None else _seen(item, score, passages),
        diagnoses={}
        if revision is None
        else {number: text for _, number, text in iter_faults(place.engine, revision.key, item_id)},
        calls=[
            InspectedCall(
                row=row,
                transcript=transcript,
                segment=place.blobs.path(row.segment),
                ledger_url=ledger_link(stages.internal.gateway, row.ledger_entry_id),
            )
            for row, transcript in zip(rows, transcripts, strict=True)
        ],
        passages=passages,
    )


def compare(stages: Stages, nights: tuple[str, str], slugs: Sequence[str], *, force: bool) -> dict[str, Comparison]:
    """The paired comparison of two nights, by society; of those that both nights have where none is named.

    Raises UsageError where a night or a named society is not there, ComparisonError where they cannot be compared.
    """
    sides = [_official(stages, night) for night in nights]
    chosen = slugs or [slug for slug in sides[0] if slug in sides[1]]
    for night, side in zip(nights, sides, strict=True):
        if absent := [slug for slug in chosen if slug not in side]:
            raise UsageError(f"night {night}: no complete run has {', '.join(absent)}")
    if not chosen:
        raise UsageError(f"nights {nights[0]} and {nights[1]}: no society was measured in both")
    return {slug: compare_scored(stages.place.engine, sides[0][slug], sides[1][slug], force=force) for slug in chosen}


def _seen(item: Item, score: ItemScore, passages: Sequence[Mapping[str, Any]]) -> list[Seen]:
    return [
        Seen(
            item=item,
            alternatives=alternatives,
            ended=ended,
            passage=None if ended.rank is None else passages[ended.rank - 1],
        )
        for alternatives, ended in zip(item.expectations, score.expectations, strict=True)
    ]


def _official(stages: Stages, night: str) -> dict[str, ScoredSociety]:
    engine = stages.place.engine
    found: dict[str, ScoredSociety] = {}
    for run in find_runs(engine, night):
        if run.state == "complete":
            for scored in score_run(stages, run):
                if official_part(engine, night, scored.part.slug) == (run, scored.part):
                    found[scored.part.slug] = scored
    return found


def _known_run(engine: Engine, run_id: str) -> Run:
    run = find_run(engine, run_id)
    if run is None:
        raise UsageError(f"run {run_id[:80]!r}: not in this database; `harness status` lists them")
    return run


def _coverage(engine: Engine, run: Run, part: RunSociety) -> Coverage:
    totals = call_totals(engine, run.run_id, part.slug)
    revision = latest_revision(engine, run.run_id, part.slug)
    assessments = [] if revision is None else load_assessments(engine, revision.key)
    return Coverage(
        run=run,
        part=part,
        answered=totals.asked,
        usable=totals.usable,
        revision=None if revision is None else revision.revision,
        status=worst(each.status for each in assessments) if assessments else "",
    )
