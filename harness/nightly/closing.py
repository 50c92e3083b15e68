"""Closing what is over: unfinished nights are completed, nights that nobody ran are recorded, months are pooled."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from typing import Final

from harness.clock import utc_text
from harness.errors import HarnessError
from harness.nightly.contracts import contracts
from harness.nightly.emit import emit_not_run
from harness.nightly.finish import finish_night
from harness.nightly.months import Month, close_month, month_is_news
from harness.nightly.official import official_part
from harness.nightly.societies import checked_societies
from harness.nightly.stages import Stages
from harness.sla.period import Contract, due_windows
from harness.sla.settlement import is_news
from harness.sla.windows import Window, month_window, night_window, subject_of
from harness.store.lease import hold_night
from harness.store.runs import revised_parts, unassessed_nights
from harness.store.scores import latest_revision, load_assessments
from harness.store.terms import use_terms
from harness.testset.model import Terms

LOOKED_BACK: Final = timedelta(days=31)
"""How long a rescore that was broken off before it was settled is gone on with; started again, it always is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A window that a contract wants settled and that is over."""

    contract: Contract
    window: Window
    terms: Terms

    @property
    def subjects(self) -> set[str]:
        return {subject_of(self.contract.slug, floor.measure, self.window) for floor in self.terms.floors}


def close_through(stages: Stages, before: date) -> list[HarnessError]:
    """Settle everything before that night: what stood in the way of any of it is returned, the rest is done.

    A night that is over and was never finished is completed by what is stored; one that no run has is not_run; a month
    that is over is pooled, unless one of its nights could not be finished.
    """
    failures: dict[str, HarnessError] = {}
    due = list(_due(stages, before))
    since = utc_text(stages.place.clock.now() - LOOKED_BACK)
    revised = {part for part in revised_parts(stages.place.engine, since) if part[1] < before.isoformat()}
    for label in _unsettled(stages, due, revised, before):
        try:
            with hold_night(stages.place.engine, stages.place.locks, label, stages.place.clock):
                finish_night(stages, date.fromisoformat(label))
        except HarnessError as error:
            failures[label] = error
    settled = stages.emitter.ledger.subjects()
    for each in due:
        nights = {night.isoformat() for night in each.window.nights}
        if nights.isdisjoint(failures):
            try:
                again = any((each.contract.slug, night) in revised for night in nights)
                _close(stages, each, settled=each.subjects <= settled, revised=again)
            except HarnessError as error:
                failures[f"{each.contract.slug} {each.window.label}"] = error
    return list(failures.values())


def close_months(stages: Stages, slugs: set[str]) -> None:
    """Settle anew the settled months of these societies whose nights now come to something else. A month that is not
    settled yet waits for `close_through`, which finishes all of its nights first."""
    today = stages.place.clock.now().astimezone(UTC).date()
    settled = stages.emitter.ledger.subjects()
    for due in _due(stages, today):
        if due.contract.slug in slugs and due.window.kind == "calendar_month" and due.subjects <= settled:
            _close(stages, due, settled=True, revised=True)


def _close(stages: Stages, due: Due, *, settled: bool, revised: bool) -> None:
    """Settle one window where it is not settled; a month also where a later scoring of its nights says otherwise."""
    if due.window.kind == "calendar_month":
        month = Month(contract=due.contract, window=due.window, terms=due.terms)
        if not settled or (revised and month_is_news(stages, month)):
            _use(stages, due)
            close_month(stages, month)
    elif not settled and official_part(stages.place.engine, due.window.label, due.contract.slug) is None:
        _use(stages, due)
        emit_not_run(stages.emitter, due.contract, due.terms, due.window, [due.window.start.date()])


def _due(stages: Stages, before: date) -> Iterator[Due]:
    """Every window that is over before that night, by society and time."""
    societies, _ = checked_societies(stages.place, None)  # what is wrong with the others is told by the night itself
    for contract in contracts(stages.place.engine, societies):
        month = month_window(contract.first_night)
        while month.start.date() < before:
            for window, terms in due_windows(contract, month):
                if window.end.date() <= before:
                    yield Due(contract=contract, window=window, terms=terms)
            month = month_window(month.end.date())


def _unsettled(stages: Stages, due: Sequence[Due], revised: Collection[tuple[str, str]], before: date) -> list[str]:
    """Nights with a run whose stages are not all done, oldest first."""
    engine = stages.place.engine
    known = stages.emitter.ledger.subjects()
    owing = set(unassessed_nights(engine, before.isoformat()))
    owing |= {night for slug, night in revised if night not in owing and _is_untold(stages, slug, night)}
    for each in due:
        night = each.window.label
        if each.window.kind == "night" and night not in owing and not each.subjects <= known:
            official = official_part(engine, night, each.contract.slug)
            if official is not None and official[1].window == "night":
                owing.add(night)
    return sorted(owing)


def _is_untold(stages: Stages, slug: str, label: str) -> bool:
    """Whether the ledger does not say what a night's latest scoring does: the work was broken off in between."""
    engine, ledger = stages.place.engine, stages.emitter.ledger
    official = official_part(engine, label, slug)
    if official is None or official[1].window != "night":
        return False
    revision = latest_revision(engine, official[0].run_id, slug)
    window = night_window(date.fromisoformat(label))
    assessments = [] if revision is None else load_assessments(engine, revision.key)
    stands = [(ledger.settlement(subject_of(slug, each.floor.measure, window)), each) for each in assessments]
    return any(stand is not None and is_news(stand.settlement, assessment) for stand, assessment in stands)


def _use(stages: Stages, due: Due) -> None:
    """Terms that a window was settled under are frozen, also where nothing ran."""
    last = (due.window.end - timedelta(days=1)).date()
    night = last if due.terms.effective_to is None else min(last, due.terms.effective_to)
    use_terms(stages.place.engine, due.contract.slug, due.contract.society_id, due.terms, night.isoformat())
