"""What the stages after asking work with: where things are stored, how bodies are read, where pages and events go."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.clock import utc_text
from harness.nightly.emit import Emitter
from harness.nightly.freeze import plan_of
from harness.nightly.ids import PublishedIds
from harness.nightly.internal import InternalPlace
from harness.nightly.official import superseded_parts
from harness.nightly.plan import SocietyPlan
from harness.nightly.publish import SitePlace
from harness.nightly.results import Publisher, ScoredSociety, build_result
from harness.nightly.score import DecodeAnswer, ScoringInput, score
from harness.nightly.sitting import Workplace, frozen_plans
from harness.site.model import EvalResult
from harness.store.deployment import hash_key
from harness.store.runs import Run, run_societies
from harness.store.scores import latest_revision


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """What the stages after asking need."""

    place: Workplace
    decode: DecodeAnswer
    site: SitePlace
    internal: InternalPlace
    emitter: Emitter
    publisher: Publisher


def scoring_input(stages: Stages, run: Run, plans: Sequence[SocietyPlan]) -> ScoringInput:
    """What scoring a run reads; diagnosis knows the styles of all its societies."""
    place = stages.place
    return ScoringInput(
        engine=place.engine,
        blobs=place.blobs,
        night=run.night,
        run_id=run.run_id,
        decode=stages.decode,
        styles=tuple(plan.society.style for plan in plans),
        ids=PublishedIds(hash_key(place.engine)),
    )


def score_run(stages: Stages, run: Run) -> Iterator[ScoredSociety]:
    """The scored societies of a complete run, scoring those that have no revision yet."""
    place = stages.place
    plans = frozen_plans(place.engine, place.blobs, run)
    source = scoring_input(stages, run, plans)
    parts = {part.slug: part for part in run_societies(place.engine, run.run_id)}
    for plan in plans:
        part = parts[plan.society.slug]
        revision = latest_revision(place.engine, run.run_id, part.slug)
        if revision is None:
            revision = score(source, plan, utc_text(place.clock.now()))
        elif revision.gold_sha256 is not None:
            plan = plan_of(place.blobs, run, part, revision)
        yield ScoredSociety(run=run, part=part, plan=plan, revision=revision)


def score_night(stages: Stages, runs: Sequence[Run]) -> list[ScoredSociety]:
    """The scored societies of a night's complete runs, without what another run has superseded: that was published
    before, and stays as it is."""
    superseded = {key for run in runs for key in superseded_parts(stages.place.engine, run.night)}
    scored = [each for run in runs for each in score_run(stages, run)]
    return [each for each in scored if (each.run.run_id, each.part.slug) not in superseded]


def results_of(stages: Stages, scored: Sequence[ScoredSociety]) -> list[EvalResult]:
    """The frozen results, by society, that table, pages and events are made of."""
    ids = PublishedIds(hash_key(stages.place.engine))
    return [build_result(stages.place.engine, each, ids, stages.publisher) for each in scored]


def canaries_of(scored: Sequence[ScoredSociety]) -> tuple[str, ...]:
    """The strings that nothing published may contain."""
    return tuple(sorted({each.plan.society.canary for each in scored if each.plan.society.canary is not None}))
