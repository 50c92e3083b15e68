"""The night: collect, score, assess, publish, emit; each stage reads what the one before stored, so each restarts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final

from harness.errors import InvalidInput, StoreError, UsageError
from harness.nightly.closing import close_through
from harness.nightly.finish import closed_clocks, finish_night
from harness.nightly.sitting import Superseding, ask_run, open_run
from harness.nightly.societies import valid_societies
from harness.nightly.stages import Stages
from harness.nightly.supersede import supersedable
from harness.site.model import EvalResult
from harness.sla.evaluation import ReasonCode
from harness.sla.model import Status
from harness.store.lease import Lease, hold_night
from harness.store.runs import find_runs, run_societies
from harness.testset.model import Society

EXIT_BREACHED: Final = 3
EXIT_INCOMPLETE: Final = 4


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


def run_night(
    stages: Stages, night: date, only: tuple[str, ...] | None = None, supersede: ReasonCode | None = None
) -> NightReport:
    """Do everything of the night that is not done yet, and before it what earlier nights left unsettled.

    With `supersede`, a reason code, the societies whose official run is insufficient_data are asked again in a new run.
    Raises InvalidInput when no asked-for folder is valid, UsageError outside of the night's window when something is
    left to ask, NightLocked, NothingMeasured and Interrupted as their modules say; what an earlier night could not be
    finished for is raised last, when tonight is done. A ledger that takes no event (StoreError) keeps nothing from
    being asked, since a night that has passed never can be: it is raised when tonight is published.
    """
    place = stages.place
    behind = closed_clocks(stages)
    arrears = close_through(stages, before=night) if behind is None else []
    with hold_night(place.engine, place.locks, night.isoformat(), place.clock) as lease:
        report = collect_night(stages, night, only, lease, supersede)
        if not report.unfinished:
            report = replace(report, results=finish_night(stages, night))
    if arrears:
        raise arrears[0]
    return report


def collect_night(
    stages: Stages,
    night: date,
    only: tuple[str, ...] | None,
    lease: Lease,
    supersede: ReasonCode | None = None,
) -> NightReport:
    """Ask whatever the night's societies still lack. A failing disk ends it with `unfinished` told, not raised: the
    run can be resumed, and no number was made."""
    place = stages.place
    societies, invalid = valid_societies(stages.place, only)
    superseding = None if supersede is None else _superseding(stages, night, societies, supersede)
    while missing := _missing(stages, night, societies, superseding):
        if not place.window.contains(night, place.clock.now()):
            slugs = ", ".join(society.slug for society in missing)
            raise UsageError(
                f"night {night}: its collection window is closed, nothing can be asked for {slugs} any more. "
                "Leave out --night to run the night that is open now."
            )
        try:
            opened = open_run(place, night, missing, superseding)
            superseding = None
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


def _superseding(stages: Stages, night: date, societies: Sequence[Society], reason: ReasonCode) -> Superseding | None:
    """What a new run would supersede; None where an unfinished one waits, which is gone on with instead."""
    if any(run.state == "open" for run in find_runs(stages.place.engine, night.isoformat())):
        return None
    finish_night(stages, night)  # what is superseded is assessed and published first: both stay visible
    return supersedable(stages.place.engine, night, [society.slug for society in societies], reason)


def _missing(
    stages: Stages, night: date, societies: Sequence[Society], superseding: Superseding | None
) -> list[Society]:
    """The societies that are to be superseded or that no complete run of the night has; none while an open run waits
    would lose that run."""
    runs = find_runs(stages.place.engine, night.isoformat())
    done = {
        part.slug for run in runs if run.state == "complete" for part in run_societies(stages.place.engine, run.run_id)
    }
    again = () if superseding is None else superseding.runs
    missing = [society for society in societies if society.slug not in done or society.slug in again]
    return missing or ([*societies] if any(run.state == "open" for run in runs) else [])
