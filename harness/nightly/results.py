"""One frozen result a society and night, read from what the stages stored: what pages, reports and tables print."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import msgspec
from sqlalchemy import Engine

from harness.nightly.ids import PublishedIds
from harness.nightly.official import official_part, reason_of
from harness.nightly.outcome import NEVER_ASKED
from harness.nightly.plan import SocietyPlan
from harness.nightly.score import scoring_terms
from harness.scoring.compare import Comparison, Night, compare_nights
from harness.scoring.decimals import format_ratio
from harness.scoring.diagnosis import Diagnosis
from harness.scoring.model import Measure, Outcome, Outcomes
from harness.site.model import Calls, EvalResult, ItemRow, Latency, Previous
from harness.sla.assess import worst
from harness.sla.model import Status
from harness.store.published import (
    call_totals,
    count_diagnoses,
    count_reasons,
    iter_published,
    latency_percentile,
)
from harness.store.runs import Run, RunSociety, find_runs
from harness.store.scores import (
    Revision,
    RevisionKey,
    iter_scores,
    latest_revision,
    load_assessments,
    load_measures,
)

HEADLINE = "citation_correctness"

_DIAGNOSIS = msgspec.json.Decoder(Diagnosis)


@dataclass(frozen=True, slots=True, kw_only=True)
class Publisher:
    """Who publishes: named on every page. `demo` marks sample output."""

    contact: str
    demo: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredSociety:
    """A society's part of a run with what was frozen for it and its latest revision."""

    run: Run
    part: RunSociety
    plan: SocietyPlan
    revision: Revision


def testset_of(part: RunSociety, revision: Revision) -> tuple[str, str]:
    """Version and digest of the test set whose gold the revision has: the night's, or that of a gold correction."""
    return revision.testset_version or part.testset_version, revision.testset_sha256 or part.testset_sha256


def build_result(engine: Engine, scored: ScoredSociety, ids: PublishedIds, publisher: Publisher) -> EvalResult:
    """The society's result; its rows are streamed anew from the store at each call."""
    run, part, plan, key = scored.run, scored.part, scored.plan, scored.revision.key
    society, terms = plan.society, scoring_terms(plan)
    measures = load_measures(engine, key)
    headline = whole(measures, HEADLINE)
    assessments = tuple(load_assessments(engine, key))
    outcomes = headline.outcomes or Outcomes()
    totals = call_totals(engine, run.run_id, society.slug)
    previous = previous_night(engine, scored)
    version, digest = testset_of(part, scored.revision)
    return EvalResult(
        society=society.id,
        slug=society.slug,
        name=society.name,
        style_format=society.style.format,
        examples=society.examples,
        night=run.night,
        revision=key.revision,
        reason=reason_of(engine, run, scored.revision),
        scored_at=scored.revision.scored_at,
        official=official_part(engine, run.night, society.slug) == (run, part),
        status=worst(each.status for each in assessments) if assessments else Status.NO_FLOOR,
        assessments=assessments,
        window="night" if plan.terms is None else plan.terms.window,
        measures=tuple(measures),
        outcomes=outcomes,
        checks=terms.checks,
        top_k=terms.top_k,
        gateway_faults=gateway_faults(engine, part, totals.asked),
        citation_faults=citation_faults(engine, key),
        latency=Latency(
            p50=latency_percentile(engine, [run.run_id], society.slug, 50, totals.usable),
            p95=latency_percentile(engine, [run.run_id], society.slug, 95, totals.usable),
            max=latency_percentile(engine, [run.run_id], society.slug, 100, totals.usable),
        ),
        calls=Calls(
            asked=totals.asked,
            retried=totals.attempts - totals.asked,
            billed=totals.billed,
            tokens_returned=totals.tokens_returned,
        ),
        testset_version=version,
        testset_sha256=digest,
        terms_version=part.terms_version,
        items=part.items,
        clusters=headline.clusters,
        editions=terms.editions,
        scorer_version=scored.revision.scorer_version,
        harness_version=run.harness_version,
        transport=run.transport,
        gateway_version=run.gateway,
        run_id=run.run_id,
        started_at=run.started_at,
        finished_at=run.finished_at or run.started_at,
        first_answer_at=totals.first_answer_at,
        last_answer_at=totals.last_answer_at,
        previous=previous,
        warnings=tuple(_warnings(engine, scored, outcomes)),
        contact=publisher.contact,
        demo=publisher.demo,
        rows=lambda: _rows(engine, key, ids),
    )


def whole(measures: Sequence[Measure], name: str) -> Measure:
    """The measure of that name over everything. Raises LookupError where it was not computed."""
    for measure in measures:
        if measure.name == name and measure.stratum is None:
            return measure
    raise LookupError(f"no measure {name} in this revision")


def compare_scored(engine: Engine, before: ScoredSociety, after: ScoredSociety, *, force: bool = False) -> Comparison:
    """The paired comparison of two nights of one society; refused where they were measured differently."""
    return compare_nights(_side(engine, before), _side(engine, after), force=force)


def previous_night(engine: Engine, scored: ScoredSociety) -> Previous | None:
    """The last official night before this one that measured the same test set with the same scorer."""
    for run, part in earlier_nights(engine, scored):
        revision = latest_revision(engine, run.run_id, part.slug)
        if revision is None:
            continue
        measured_by = testset_of(scored.part, scored.revision), scored.revision.scorer_version
        if (testset_of(part, revision), revision.scorer_version) != measured_by:
            return None
        value = whole(load_measures(engine, revision.key), HEADLINE).value
        if value is None:
            continue
        earlier = ScoredSociety(run=run, part=part, plan=scored.plan, revision=revision)
        comparison = compare_scored(engine, earlier, scored)
        return Previous(
            night=run.night,
            value=format_ratio(value),
            better=len(comparison.better),
            worse=len(comparison.worse),
            compared=comparison.compared,
            mcnemar_p=format_ratio(comparison.p),
        )
    return None


def earlier_nights(engine: Engine, scored: ScoredSociety) -> Iterator[tuple[Run, RunSociety]]:
    """The society's official parts of earlier nights, newest first."""
    nights = {run.night for run in find_runs(engine) if run.night < scored.run.night}
    for night in sorted(nights, reverse=True):
        official = official_part(engine, night, scored.part.slug)
        if official is not None:
            yield official


def _side(engine: Engine, scored: ScoredSociety) -> Night:
    def rows() -> Iterator[tuple[str, int, bool | None]]:
        for score in iter_scores(engine, scored.revision.key):
            for ended in score.expectations:
                verdict = None if ended.outcome is Outcome.HARNESS_ERROR else ended.outcome is Outcome.CORRECT
                yield score.item, ended.expectation, verdict

    return Night(
        label=scored.run.night,
        testset_sha256=testset_of(scored.part, scored.revision)[1],
        scorer_version=scored.revision.scorer_version,
        rows=rows(),
    )


def _rows(engine: Engine, key: RevisionKey, ids: PublishedIds) -> Iterator[ItemRow]:
    for row in iter_published(engine, [key]):
        cluster = row.score.cluster
        yield ItemRow(
            item_hash=row.item_hash,
            cluster_hash=None if cluster is None else ids.cluster(key.slug, cluster),
            score=row.score,
            latency_ms=row.latency_ms,
            attempts=row.attempts,
            tokens_returned=row.tokens_returned,
        )


def gateway_faults(engine: Engine, part: RunSociety, asked: int) -> Mapping[str, int]:
    """Calls without a usable answer by reason, the never asked items among them."""
    faults = count_reasons(engine, part.run_id, part.slug)
    never = part.items - asked
    return faults | ({NEVER_ASKED: never} if never else {})


def citation_faults(engine: Engine, key: RevisionKey) -> Mapping[str, int]:
    """Counts of shapes: the string's by its name, a field's as `field: shape`, a passage's as `passage: shape`."""
    counts: Counter[str] = Counter()
    for text, times in count_diagnoses(engine, key).items():
        diagnosis = _DIAGNOSIS.decode(text)
        shapes = [f"{name}: {shape}" for name, shape in diagnosis.fields.items()]
        shapes += [f"passage: {shape}" for shape in diagnosis.passage]
        if diagnosis.string is not None:
            shapes.append(diagnosis.string)
        counts.update(dict.fromkeys(shapes, times))
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _warnings(engine: Engine, scored: ScoredSociety, outcomes: Outcomes) -> Iterator[str]:
    if outcomes.harness_error:
        yield f"{outcomes.harness_error} of {outcomes.planned} expectations were not measured and are in no denominator"
    if scored.run.stopped is not None:
        yield f"asking stopped early: {scored.run.stopped}"
    if scored.plan.terms is None:
        yield "no contract terms in force: measured without a floor"
    for run, part in islice(earlier_nights(engine, scored), 1):
        if part.testset_sha256 != scored.part.testset_sha256:
            yield f"the test set changed since the night of {run.night}: numbers before it do not compare"
