"""Rescore: a new revision of a night from its stored transcripts, settled anew in every window it touches (sla.md)."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from typing import Final

from harness.clock import utc_text
from harness.errors import InvalidInput, Problem, UsageError
from harness.nightly.closing import close_months
from harness.nightly.finish import finish_night
from harness.nightly.freeze import freeze_society, plan_of
from harness.nightly.official import official_part
from harness.nightly.plan import SocietyPlan, with_gold
from harness.nightly.score import score
from harness.nightly.sitting import frozen_plans
from harness.nightly.societies import valid_societies
from harness.nightly.stages import Stages, scoring_input
from harness.site.model import EvalResult
from harness.sla.evaluation import ReasonCode
from harness.sla.windows import nights_in_force, window_of
from harness.store.lease import hold_night
from harness.store.runs import Run, RunSociety, find_runs, run_societies
from harness.store.scores import Rescore, latest_revision
from harness.testset.model import Society

RESCORE_REASONS: Final[tuple[ReasonCode, ...]] = ("gold_corrected", "scorer_corrected", "harness_fault")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """A society's official part of a night with the plan to score it by and what the revision will say of itself."""

    run: Run
    plan: SocietyPlan
    rescore: Rescore


def rescore(stages: Stages, night: date, reason: ReasonCode, only: Sequence[str] | None = None) -> list[EvalResult]:
    """Score the official parts of a night again, publish them as the next revision, and settle what they change; the
    new results, by night and society.

    With `gold_corrected` the gold comes from the folders as they are now, and every night of the windows that the night
    counts in is scored again, whichever way they turn; societies whose gold is what it was are left alone. With the
    other reasons only the code differs. Items and terms stay that night's. No gateway is asked.

    Raises UsageError where nothing of the night is complete or nothing would differ, InvalidInput for a folder that is
    not valid, and for a corrected item whose question is another one now.
    """
    slugs = _complete_slugs(stages, night, only)
    if reason == "gold_corrected":
        corrected = {each.slug: each for each in _corrected(stages, slugs)}
        targets = [each for slug in slugs for each in _with_gold_of(stages, night, corrected[slug])]
        if not targets:
            raise UsageError(
                f"night {night}: the gold in {stages.place.testsets} is what it was scored with; nothing to rescore. "
                "Correct items.jsonl first, or name the folders with --testsets."
            )
    else:
        targets = [_target(stages, night, slug, reason) for slug in slugs]
    nights = sorted({each.run.night for each in targets})
    with ExitStack() as held:
        for label in nights:
            held.enter_context(hold_night(stages.place.engine, stages.place.locks, label, stages.place.clock))
        for each in targets:
            plans = frozen_plans(stages.place.engine, stages.place.blobs, each.run)
            now = utc_text(stages.place.clock.now())
            score(scoring_input(stages, each.run, plans), each.plan, now, each.rescore)
        touched = {(each.run.night, each.plan.society.slug) for each in targets}
        results = [
            result
            for label in nights
            for result in finish_night(stages, date.fromisoformat(label))
            if (label, result.slug) in touched
        ]
    close_months(stages, {slug for _, slug in touched})
    return results


def _complete_slugs(stages: Stages, night: date, only: Sequence[str] | None) -> list[str]:
    engine, label = stages.place.engine, night.isoformat()
    present = {
        part.slug
        for run in find_runs(engine, label)
        if run.state == "complete"
        for part in run_societies(engine, run.run_id)
    }
    absent = sorted(set(only or ()) - present)
    if absent or not present:
        what = f" has {', '.join(absent)}" if absent else ""
        raise UsageError(f"night {night}: no complete run{what} in this database; `harness status` lists them")
    return sorted(present if only is None else set(only))


def _corrected(stages: Stages, slugs: Sequence[str]) -> list[Society]:
    """The folders as they are now, every one of them valid."""
    societies, invalid = valid_societies(stages.place, tuple(slugs))
    if invalid:
        raise InvalidInput(problem for error in invalid.values() for problem in error.problems)
    return societies


def _with_gold_of(stages: Stages, night: date, society: Society) -> list[_Target]:
    """The nights that a gold correction scores again: the night, and the others of its month where that is a window."""
    place = stages.place
    targets = []
    gold_sha256 = None
    for each in _nights_touched(stages, night, society.slug):
        run, part = _official(stages, each, society.slug)
        plan = plan_of(place.blobs, run, part, latest_revision(place.engine, run.run_id, part.slug))
        try:
            merged = with_gold(plan, society)
        except ValueError as error:
            raise InvalidInput([_other_question(stages, society, str(error))]) from None
        if merged.items == plan.items:
            continue
        gold_sha256 = gold_sha256 or freeze_society(place.blobs, place.testsets / society.slug)
        targets.append(
            _Target(
                run=run,
                plan=merged,
                rescore=Rescore(
                    reason="gold_corrected",
                    gold_sha256=gold_sha256,
                    testset_version=society.testset_version,
                    testset_sha256=society.testset_sha256,
                ),
            )
        )
    return targets


def _nights_touched(stages: Stages, night: date, slug: str) -> list[date]:
    run, part = _official(stages, night, slug)
    plan = plan_of(stages.place.blobs, run, part, None)
    if plan.terms is None or plan.terms.window == "night":
        return [night]
    nights = nights_in_force(plan.terms, window_of(plan.terms, night))
    return [each for each in nights if official_part(stages.place.engine, each.isoformat(), slug) is not None]


def _target(stages: Stages, night: date, slug: str, reason: ReasonCode) -> _Target:
    """The same gold as before, scored by the code as it is now."""
    run, part = _official(stages, night, slug)
    revision = latest_revision(stages.place.engine, run.run_id, slug)
    return _Target(
        run=run,
        plan=plan_of(stages.place.blobs, run, part, revision),
        rescore=Rescore(
            reason=reason,
            gold_sha256=None if revision is None else revision.gold_sha256,
            testset_version=None if revision is None else revision.testset_version,
            testset_sha256=None if revision is None else revision.testset_sha256,
        ),
    )


def _official(stages: Stages, night: date, slug: str) -> tuple[Run, RunSociety]:
    official = official_part(stages.place.engine, night.isoformat(), slug)
    if official is None:
        raise UsageError(f"night {night}: no complete run has {slug}")
    return official


def _other_question(stages: Stages, society: Society, items: str) -> Problem:
    return Problem(
        file=(stages.place.testsets / society.slug / "items.jsonl").as_posix(),
        field="query",
        found=f"another question than that night's for {items}",
        expected="the same question with other gold",
        remedy="Give a new question a new id; a correction changes gold only.",
    )
