"""A month of settlements, for billing: which windows there must be, and what of them is evaluated and final."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from harness.sla.assess import NO_CREDIT
from harness.sla.model import Settlement, State
from harness.sla.windows import Window, month_window, night_window, nights_in_force, subject_of
from harness.testset.model import Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """A society's terms as this deployment knows them; `first_night` is the first one that used any of them."""

    society_id: str
    slug: str
    first_night: date
    terms: tuple[Terms, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodWindow:
    """A window with its settlements' current data. Of several the highest billable percent counts."""

    label: str
    kind: str
    start: str
    end: str
    billable_percent: str
    settled: bool
    settlements: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodSociety:
    """A society's windows of the month; `missing` are the subjects that are not evaluated yet."""

    id: str
    slug: str
    complete: bool
    settled: bool
    missing: tuple[str, ...]
    windows: tuple[PeriodWindow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A month: `complete` when every window is evaluated, `settled` when besides all settlements are final."""

    month: str
    complete: bool
    settled: bool
    societies: tuple[PeriodSociety, ...]


def due_windows(contract: Contract, month: Window) -> Iterator[tuple[Window, Terms]]:
    """Every window of a month that the contract wants settled, with its terms, from the first night on.

    A night before the society's first has no settlement; a month does, if the society had begun by its end.
    """
    for terms in contract.terms:
        nights = [night for night in nights_in_force(terms, month) if terms.floors]
        if not nights or nights[-1] < contract.first_night:
            continue
        if terms.window == "calendar_month":
            yield month, terms
        else:
            yield from ((night_window(night), terms) for night in nights if night >= contract.first_night)


def period_of(month: date, contracts: Sequence[Contract], settlements: Iterable[Settlement]) -> Period | None:
    """The period that a month's settlements and contracts come to; None where neither has a window in it."""
    window = month_window(month)
    found: dict[tuple[str, str], list[Settlement]] = defaultdict(list)
    for settlement in settlements:
        society = settlement.data["society"]
        found[society["slug"], society["id"]].append(settlement)
    expected = {
        (contract.slug, contract.society_id): [
            subject_of(contract.slug, floor.measure, due)
            for due, terms in due_windows(contract, window)
            for floor in terms.floors
        ]
        for contract in contracts
    }
    keys = sorted({*found, *(key for key, subjects in expected.items() if subjects)})
    if not keys:
        return None
    societies = tuple(_society(key, expected.get(key, []), found[key]) for key in keys)
    return Period(
        month=window.label,
        complete=all(each.complete for each in societies),
        settled=all(each.settled for each in societies),
        societies=societies,
    )


def _society(key: tuple[str, str], expected: Sequence[str], settlements: Sequence[Settlement]) -> PeriodSociety:
    present = {settlement.subject for settlement in settlements}
    missing = tuple(subject for subject in expected if subject not in present)
    by_window: dict[str, list[Settlement]] = defaultdict(list)
    for settlement in settlements:
        by_window[settlement.data["window"]["label"]].append(settlement)
    windows = tuple(_window(by_window[label]) for label in sorted(by_window))
    return PeriodSociety(
        id=key[1],
        slug=key[0],
        complete=not missing,
        settled=not missing and all(window.settled for window in windows),
        missing=missing,
        windows=windows,
    )


def _window(settlements: Sequence[Settlement]) -> PeriodWindow:
    window = settlements[0].data["window"]
    return PeriodWindow(
        label=window["label"],
        kind=window["kind"],
        start=window["start"],
        end=window["end"],
        billable_percent=max((each.billable_percent for each in settlements), key=Fraction, default=NO_CREDIT),
        settled=all(each.state is State.FINAL for each in settlements),
        settlements=tuple(each.data for each in settlements),
    )
