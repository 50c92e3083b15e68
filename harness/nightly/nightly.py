"""The night: collect, score, assess, publish, emit; each stage reads what the one before stored, so each restarts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final, Literal

from harness.clock import utc_text
from harness.errors import HarnessError, InvalidInput, PublishRefused, StoreError, UsageError
from harness.nightly.arrears import unsettled_nights
from harness.nightly.assess import assess_society, frozen_terms_problems
from harness.nightly.emit import Emitter, emit_society, finalize_expired
from harness.nightly.ids import PublishedIds
from harness.nightly.publish import SitePlace, cite_unpublished, publish_societies
from harness.nightly.results import Publisher, ScoredSociety, build_result
from harness.nightly.score import DecodeAnswer, ScoringInput, score
from harness.nightly.sitting import Workplace, ask_run, close_passed_run, frozen_plans, open_run
from harness.site.model import EvalResult
from harness.sla.model import Status
from harness.store.deployment import hash_key
from harness.store.lease import Lease, hold_night
from harness.store.runs import Run, find_runs, run_societies
from harness.store.scores import latest_revision
from harness.testset.model import Society
from harness.testset.society import load_societies

Stage = Literal["score", "assess", "publish", "emit"]

EXIT_BREACHED: Final = 3
EXIT_INCOMPLETE: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """What the stages after asking need: how stored bodies are read, where pages and events go."""

    place: Workplace
    decode: DecodeAnswer
    site: SitePlace
    emitter: Emitter
    publisher: Publisher


@dataclass(frozen=True, slots=True, kw_only=True)
class NightReport:
    """How a night came out. `invalid`: folders left out, nothing was sent for them; `unfinished`: societies whose run
    could not be finished, with the reason."""

    night: str
    results: tuple[EvalResult, ...]
    invalid: Mapping[str, InvalidInput] = field(default_factory=dict)
    unfinished: Mapping[str, str] = field(default_factory=dict)

    def exit_code(self, *, fail_on_breach: bool = False) -> int:
        """0, 3 or 4 as operations.md orders them."""
        incomplete = (Status.NOT_RUN, Status.INSUFFICIENT_DATA)
        if self.invalid or self.unfinished or any(result.status in incomplete for result in self.results):
            return EXIT_INCOMPLETE
        if fail_on_breach and any(result.status is Status.BREACHED for result in self.results):
            return EXIT_BREACHED
        return 0


def run_night(stages: Stages, night: date, only: tuple[str, ...] | None = None) -> NightReport:
    """Do everything of the night that is not done yet, and before it what earlier nights left unsettled.

    Raises InvalidInput when no asked-for folder is valid, UsageError outside of the night's window when something is
    left to ask, NightLocked, NothingMeasured and Interrupted as their modules say; what an earlier night could not be
    finished for is raised last, when tonight is done.
    """
    place = stages.place
    finalize_expired(stages.emitter)
    arrears = settle_arrears(stages, night)
    with hold_night(place.engine, place.locks, night.isoformat(), place.clock) as lease:
        report = collect_night(stages, night, only, lease)
        if not report.unfinished:
            report = replace(report, results=finish_night(stages, night))
    if arrears:
        raise arrears[0]
    return report


def settle_arrears(stages: Stages, night: date) -> list[HarnessError]:
    """Finish every earlier night that was left open or unsettled; what stood in the way of any of them.

    A night that is over and was never finished is completed by what is stored (sla.md, Assessment).
    """
    failures = list[HarnessError]()
    for label in unsettled_nights(stages.place.engine, before=night.isoformat()):
        earlier = date.fromisoformat(label)
        try:
            with hold_night(stages.place.engine, stages.place.locks, label, stages.place.clock):
                finish_night(stages, earlier)
        except HarnessError as error:
            failures.append(error)
    return failures


def collect_night(stages: Stages, night: date, only: tuple[str, ...] | None, lease: Lease) -> NightReport:
    """Ask whatever the night's societies still lack. A failing disk ends it with `unfinished` told, not raised: the
    run can be resumed, and no number was made."""
    place = stages.place
    societies, invalid = valid_societies(stages, only)
    while missing := _missing(stages, night, societies):
        if not place.window.contains(night, place.clock.now()):
            slugs = ", ".join(society.slug for society in missing)
            raise UsageError(
                f"night {night}: its collection window is closed, nothing can be asked for {slugs} any more. "
                "Leave out --night to run the night that is open now."
            )
        try:
            opened = open_run(place, night, missing)
            others = sorted({plan.society.slug for plan in opened.plans} - {each.slug for each in societies})
            if only is not None and others:
                raise UsageError(
                    f"night {night}: its unfinished run {opened.run.run_id} also asks {', '.join(others)}; "
                    "leave out --society, or name these too, to finish it first"
                )
            ask_run(place, opened, lease)
        except StoreError as error:
            reasons = {society.slug: str(error) for society in missing}
            return NightReport(night=night.isoformat(), results=(), invalid=invalid, unfinished=reasons)
    return NightReport(night=night.isoformat(), results=(), invalid=invalid)


def finish_night(stages: Stages, night: date, through: Stage = "emit") -> tuple[EvalResult, ...]:
    """Do the stages after asking, up to and including the named one, for what is complete of the night.

    Each stage is done once; doing it again changes nothing. A run that is still open when the night's window is over is
    completed first. The results are empty where only scoring was asked for. Raises UsageError where nothing of the
    night is complete, PublishRefused when publishing was refused: settlements are written all the same.
    """
    if through == "emit":
        finalize_expired(stages.emitter)  # a clock that ran out waits for no publishing
    _close_passed_runs(stages, night)
    runs = _complete_runs(stages, night)
    if not runs:
        raise UsageError(f"night {night}: no complete run in this database; collect it first")
    scored = [each for run in runs for each in score_run(stages, run)]
    if through == "score":
        return ()
    for each in scored:
        assess_society(stages.place.engine, each, utc_text(stages.place.clock.now()))
    results = results_of(stages, scored)
    if through == "assess":
        return tuple(results)
    refused: PublishRefused | None = None
    try:
        cited = publish_societies(stages.site, results, _canaries(scored))
    except PublishRefused as error:
        refused = error
        cited = cite_unpublished(stages.site, results)
    if through == "emit":
        for each, result in zip(scored, results, strict=True):
            if (citing := cited.get((result.slug, result.revision))) is not None:
                emit_society(stages.emitter, each, result, citing)
    if refused is not None:
        raise refused
    return tuple(results)


def _close_passed_runs(stages: Stages, night: date) -> None:
    place = stages.place
    _, closes = place.window.bounds(night)
    if place.clock.now() >= closes:
        for run in find_runs(place.engine, night.isoformat()):
            if run.state == "open":
                close_passed_run(place, run)


def valid_societies(stages: Stages, only: tuple[str, ...] | None) -> tuple[list[Society], dict[str, InvalidInput]]:
    """The asked-for societies whose folders are valid and whose used terms were not edited, and the others' problems.

    Raises InvalidInput with all problems where none is valid.
    """
    loaded, invalid = load_societies(stages.place.testsets, only)
    societies = []
    for society in loaded:
        folder = stages.place.testsets / society.slug
        if problems := frozen_terms_problems(stages.place.engine, society, folder / "terms.toml"):
            invalid[society.slug] = InvalidInput(problems)
        else:
            societies.append(society)
    if not societies:
        raise InvalidInput(problem for error in invalid.values() for problem in error.problems)
    return societies, invalid


def score_run(stages: Stages, run: Run) -> Iterator[ScoredSociety]:
    """The scored societies of a complete run, scoring those that have no revision yet."""
    place = stages.place
    plans = frozen_plans(place.engine, place.blobs, run)
    source = ScoringInput(
        engine=place.engine,
        blobs=place.blobs,
        run_id=run.run_id,
        decode=stages.decode,
        styles=tuple(plan.society.style for plan in plans),
        ids=PublishedIds(hash_key(place.engine)),
    )
    parts = {part.slug: part for part in run_societies(place.engine, run.run_id)}
    for plan in plans:
        slug = plan.society.slug
        revision = latest_revision(place.engine, run.run_id, slug) or score(source, plan, utc_text(place.clock.now()))
        yield ScoredSociety(run=run, part=parts[slug], plan=plan, revision=revision)


def results_of(stages: Stages, scored: Sequence[ScoredSociety]) -> list[EvalResult]:
    """The frozen results, by society, that table, pages and events are made of."""
    ids = PublishedIds(hash_key(stages.place.engine))
    return [build_result(stages.place.engine, each, ids, stages.publisher) for each in scored]


def _missing(stages: Stages, night: date, societies: Sequence[Society]) -> list[Society]:
    """The societies that no complete run of the night has; none while an open run waits would lose that run."""
    runs = find_runs(stages.place.engine, night.isoformat())
    done = {
        part.slug for run in runs if run.state == "complete" for part in run_societies(stages.place.engine, run.run_id)
    }
    missing = [society for society in societies if society.slug not in done]
    return missing or ([*societies] if any(run.state == "open" for run in runs) else [])


def _complete_runs(stages: Stages, night: date) -> list[Run]:
    return [run for run in find_runs(stages.place.engine, night.isoformat()) if run.state == "complete"]


def _canaries(scored: Sequence[ScoredSociety]) -> tuple[str, ...]:
    return tuple(sorted({each.plan.society.canary for each in scored if each.plan.society.canary is not None}))
