"""A month window: the official nights of a society pooled, assessed, published and settled (sla.md, Assessment)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter

from sqlalchemy import Engine

from harness import __version__
from harness.clock import utc_text
from harness.nightly.assess import counted_of
from harness.nightly.emit import Settled, emit_not_run, emit_result
from harness.nightly.finish import cite
from harness.nightly.freeze import plan_of
from harness.nightly.ids import PublishedIds
from harness.nightly.official import official_part, reason_of
from harness.nightly.plan import SocietyPlan
from harness.nightly.results import HEADLINE, citation_faults, gateway_faults, testset_of, whole
from harness.nightly.score import scoring_terms
from harness.nightly.stages import Stages
from harness.scoring.measures import Tally
from harness.scoring.model import Measure, Outcomes
from harness.site.model import Calls, EvalResult, ItemRow, Latency
from harness.sla.assess import assess, worst
from harness.sla.evaluation import Coverage, ReasonCode
from harness.sla.model import Assessment, Counted, Status
from harness.sla.period import Contract
from harness.sla.settlement import is_news
from harness.sla.windows import Window, nights_in_force, subject_of
from harness.store.deployment import hash_key
from harness.store.poolings import pooling_revision
from harness.store.published import CallTotals, call_totals, iter_published, latency_percentile
from harness.store.runs import Run, RunSociety
from harness.store.scores import Revision, latest_revision, load_assessments, load_measures
from harness.testset.digest import digest
from harness.testset.model import Floor, Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """A month of one contract's terms."""

    contract: Contract
    window: Window
    terms: Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """An official night of a month, as it was scored last."""

    run: Run
    part: RunSociety
    revision: Revision
    totals: CallTotals
    measures: list[Measure]
    assessments: list[Assessment]


def month_is_news(stages: Stages, month: Month) -> bool:
    """Whether the nights, as they are scored now, come to anything that the month's settlements do not say."""
    nights = _nights(stages, month)
    for floor in month.terms.floors:
        stand = stages.emitter.ledger.settlement(subject_of(month.contract.slug, floor.measure, month.window))
        if stand is None:
            return True
        if nights and is_news(stand.settlement, _assess(month, floor, nights, _summed(floor, nights))):
            return True
    return False


def close_month(stages: Stages, month: Month) -> int:
    """Pool, assess, publish and settle a month that is over; the number of events written.

    A month without any official night is not_run. Raises PublishRefused when publishing was refused: the settlements
    are written all the same.
    """
    nights = _nights(stages, month)
    if not nights:
        expected = nights_in_force(month.terms, month.window)
        return emit_not_run(stages.emitter, month.contract, month.terms, month.window, expected)
    last = nights[-1]
    plan = plan_of(stages.place.blobs, last.run, last.part, last.revision)
    result, canary = _result(stages, month, nights, plan), plan.society.canary
    cited, refused = cite(stages, [result], [] if canary is None else [canary])
    written = 0
    if (citing := cited.get((result.slug, result.revision))) is not None:
        covered = {floor.measure: _coverage(month, floor, nights) for floor in month.terms.floors}
        reason = _reason(stages.place.engine, nights)
        settled = Settled(terms=month.terms, window=month.window, coverage=covered, reason=reason)
        written = emit_result(stages.emitter, result, citing, settled)
    if refused is not None:
        raise refused
    return written


def _nights(stages: Stages, month: Month) -> list[Night]:
    """The official nights of the month under its terms, oldest first."""
    engine, slug = stages.place.engine, month.contract.slug
    found = []
    for night in nights_in_force(month.terms, month.window):
        official = official_part(engine, night.isoformat(), slug)
        if official is None or official[1].terms_version != month.terms.version:
            continue
        run, part = official
        revision = latest_revision(engine, run.run_id, slug)
        if revision is None:
            continue
        found.append(
            Night(
                run=run,
                part=part,
                revision=revision,
                totals=call_totals(engine, run.run_id, slug),
                measures=load_measures(engine, revision.key),
                assessments=load_assessments(engine, revision.key),
            )
        )
    return found


def _coverage(month: Month, floor: Floor, nights: Sequence[Night]) -> Coverage:
    """A night is missed where none is official, and where that floor had no sufficient data in it."""
    measured = {
        each.run.night
        for each in nights
        for assessment in each.assessments
        if assessment.floor.measure == floor.measure and assessment.status in (Status.MET, Status.BREACHED)
    }
    expected = [night.isoformat() for night in nights_in_force(month.terms, month.window)]
    return Coverage(expected=len(expected), missed=tuple(night for night in expected if night not in measured))


def _summed(floor: Floor, nights: Sequence[Night]) -> Counted:
    """The floor's counts added up over the nights."""
    parts = [counted_of(each.measures, floor.measure, each.totals.attempts) for each in nights]
    outcomes = Counter[str]()
    for part in parts:
        outcomes.update({name: getattr(part.outcomes, name) for name in Outcomes.__slots__})
    return Counted(
        good=sum(part.good for part in parts),
        valid=sum(part.valid for part in parts),
        outcomes=Outcomes(**outcomes),
        calls_sent=sum(part.calls_sent for part in parts),
    )


def _assess(month: Month, floor: Floor, nights: Sequence[Night], counted: Counted) -> Assessment:
    return assess(month.terms, floor, counted, len(_coverage(month, floor, nights).missed))


def _reason(engine: Engine, nights: Sequence[Night]) -> ReasonCode | None:
    """The reason of the latest scoring that has one."""
    for each in sorted(nights, key=lambda night: night.revision.scored_at, reverse=True):
        if (reason := reason_of(engine, each.run, each.revision)) is not None:
            return reason
    return None


def _rows(engine: Engine, nights: Sequence[Night], ids: PublishedIds) -> Iterator[ItemRow]:
    """The items of all nights by published id, those of one item together and in one cluster, that of its last night:
    asked again every night, an item says little new, so that its nights are one cluster of the interval."""
    slug = nights[0].part.slug
    published = iter_published(engine, [each.revision.key for each in nights])
    for item_hash, group in groupby(published, key=attrgetter("item_hash")):
        rows = list(group)
        cluster = rows[-1].score.cluster
        for row in rows:
            yield ItemRow(
                item_hash=item_hash,
                cluster_hash=None if cluster is None else ids.cluster(slug, cluster),
                score=replace(row.score, cluster=cluster),
                latency_ms=row.latency_ms,
                attempts=row.attempts,
                tokens_returned=row.tokens_returned,
            )


def _tally(checks: Sequence[str], rows: Iterator[ItemRow]) -> tuple[tuple[Measure, ...], int]:
    """All measures over the pooled rows, and how many rows there are."""
    tally, items = Tally(checks), 0
    for row in rows:
        items += 1
        own = row.score.cluster or f"\0{row.item_hash}"  # no cluster's name: files hold no control characters
        tally.add(replace(row.score, cluster=own))
    return tally.measures(), items


def _result(stages: Stages, month: Month, nights: Sequence[Night], plan: SocietyPlan) -> EvalResult:
    engine = stages.place.engine
    ids = PublishedIds(hash_key(engine))
    last = nights[-1]
    society, terms = plan.society, scoring_terms(plan)
    measures, items = _tally(terms.checks, _rows(engine, nights, ids))
    assessments = tuple(_decide(month, floor, nights, measures) for floor in month.terms.floors)
    headline = whole(measures, HEADLINE)
    basis = digest([[each.run.run_id, each.revision.revision] for each in nights])
    recorded_at = utc_text(stages.place.clock.now())
    revision = pooling_revision(engine, society.slug, month.window.label, basis, recorded_at)
    run_ids = [each.run.run_id for each in nights]
    usable = sum(each.totals.usable for each in nights)
    version, sha256 = _testset(nights)
    answered = [each.totals for each in nights if each.totals.first_answer_at is not None]
    return EvalResult(
        society=society.id,
        slug=society.slug,
        name=society.name,
        style_format=society.style.format,
        examples=society.examples,
        night=month.window.label,
        revision=revision,
        reason=None if revision == 1 else _reason(engine, nights),
        scored_at=max(each.revision.scored_at for each in nights),
        official=True,
        status=worst(each.status for each in assessments),
        assessments=assessments,
        window=month.window.kind,
        measures=measures,
        outcomes=headline.outcomes or Outcomes(),
        checks=terms.checks,
        top_k=terms.top_k,
        gateway_faults=_added(gateway_faults(engine, each.part, each.totals.asked) for each in nights),
        citation_faults=_added(citation_faults(engine, each.revision.key) for each in nights),
        latency=Latency(
            p50=latency_percentile(engine, run_ids, society.slug, 50, usable),
            p95=latency_percentile(engine, run_ids, society.slug, 95, usable),
            max=latency_percentile(engine, run_ids, society.slug, 100, usable),
        ),
        calls=Calls(
            asked=sum(each.totals.asked for each in nights),
            retried=sum(each.totals.attempts - each.totals.asked for each in nights),
            billed=sum(each.totals.billed for each in nights),
            tokens_returned=sum(each.totals.tokens_returned for each in nights),
        ),
        testset_version=version,
        testset_sha256=sha256,
        terms_version=month.terms.version,
        items=items,
        clusters=headline.clusters,
        editions=terms.editions,
        scorer_version=last.revision.scorer_version,
        harness_version=__version__,
        transport=last.run.transport,
        gateway_version=last.run.gateway,
        run_id=f"pooled-{month.window.label}-r{revision}",
        started_at=nights[0].run.started_at,
        finished_at=last.run.finished_at or last.run.started_at,
        first_answer_at=min((each.first_answer_at or "" for each in answered), default=None),
        last_answer_at=max((each.last_answer_at or "" for each in answered), default=None),
        previous=None,
        warnings=tuple(_warnings(month, nights)),
        contact=stages.publisher.contact,
        demo=stages.publisher.demo,
        rows=lambda: _rows(engine, nights, ids),
    )


def _decide(month: Month, floor: Floor, nights: Sequence[Night], measures: Sequence[Measure]) -> Assessment:
    """The floor's assessment, from the counts that the page prints; those of the nights must add up to them."""
    sent = sum(each.totals.attempts for each in nights)
    counted = counted_of(measures, floor.measure, sent)
    if counted != (summed := _summed(floor, nights)):
        raise ValueError(f"{month.contract.slug} {month.window.label}: pooled {counted}, the nights come to {summed}")
    return _assess(month, floor, nights, counted)


def _testset(nights: Sequence[Night]) -> tuple[str, str]:
    """Version and digest; of several, all versions and the digest of their digests."""
    pairs = dict.fromkeys(testset_of(each.part, each.revision) for each in nights)
    if len(pairs) == 1:
        return next(iter(pairs))
    return ", ".join(dict.fromkeys(version for version, _ in pairs)), digest([sha256 for _, sha256 in pairs])


def _added(counts: Iterator[Mapping[str, int]]) -> Mapping[str, int]:
    total = Counter[str]()
    for each in counts:
        total.update(each)
    return total


def _warnings(month: Month, nights: Sequence[Night]) -> Iterator[str]:
    yield f"pools {len(nights)} nights: the same questions are asked every night"
    for floor in month.terms.floors:
        covered = _coverage(month, floor, nights)
        if covered.missed:
            yield (
                f"{floor.measure}: {len(covered.missed)} of {covered.expected} nights were not run or had no "
                f"sufficient data: {', '.join(covered.missed)}"
            )
    if len({testset_of(each.part, each.revision) for each in nights}) > 1:
        yield f"pools several versions of the test set: {_testset(nights)[0]}"
