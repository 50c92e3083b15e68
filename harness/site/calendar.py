"""The calendar: what was published of every society and night, a page a month; a night that is missing is seen."""

from calendar import monthrange
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

import msgspec

from harness.site.history import HistoryEntry
from harness.site.index import IndexEntry
from harness.site.words import StatusWords, status_words

MISSED: Final = StatusWords(word="No night", shape="cross", says="Nothing was published for this date.")


class CalendarCell(msgspec.Struct, frozen=True, kw_only=True):
    status: str
    revision: int


class CalendarMonth(msgspec.Struct, frozen=True, kw_only=True):
    """index.json of a month's folder: status and revision by society slug and night."""

    schema_version: int
    month: str
    nights: dict[str, dict[str, CalendarCell]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A date of a society's row. `words` None: outside the time that the society is measured in."""

    night: str
    status: str
    words: StatusWords | None
    href: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarRow:
    society: IndexEntry
    days: tuple[Day, ...]
    missed: int


_MONTH = msgspec.json.Decoder(CalendarMonth)


def read_month(content: bytes) -> CalendarMonth:
    """What is known of a month."""
    return _MONTH.decode(content)


def month_json(month: CalendarMonth) -> bytes:
    """The file's bytes."""
    return msgspec.json.format(msgspec.json.encode(month), indent=1) + b"\n"


def with_nights(month: CalendarMonth, slug: str, shown: Collection[HistoryEntry]) -> CalendarMonth:
    """The month with what is shown of the society's nights."""
    cells = {
        entry.night: CalendarCell(status=entry.status, revision=entry.revision)
        for entry in shown
        if entry.night.startswith(month.month)
    }
    merged = dict(sorted((month.nights.get(slug, {}) | cells).items()))
    nights = dict(sorted((month.nights | {slug: merged}).items()))
    return CalendarMonth(schema_version=month.schema_version, month=month.month, nights=nights)


def months_between(first: str, last: str) -> Iterator[str]:
    """The months of two nights and those between them, `2026-11`."""
    year, number = int(first[:4]), int(first[5:7])
    while (label := f"{year:04d}-{number:02d}") <= last[:7]:
        yield label
        year, number = (year + 1, 1) if number == 12 else (year, number + 1)


def calendar_rows(month: CalendarMonth, societies: Sequence[IndexEntry], newest: str) -> tuple[CalendarRow, ...]:
    """Every society that was measured up to the month, with each of its dates; `newest` is the last night of all.

    A date without a night counts as missed from the society's first night to the newest of all.
    """
    return tuple(
        _row(month, society, newest) for society in societies if society.since[:7] <= month.month and society.since
    )


def days_of(month: str) -> tuple[str, ...]:
    """The dates of a month."""
    first = date.fromisoformat(f"{month}-01")
    return tuple(f"{month}-{day:02d}" for day in range(1, monthrange(first.year, first.month)[1] + 1))


def _row(month: CalendarMonth, society: IndexEntry, newest: str) -> CalendarRow:
    cells = month.nights.get(society.society.slug, {})
    days = tuple(_day(night, cells.get(night), society, newest) for night in days_of(month.month))
    return CalendarRow(society=society, days=days, missed=sum(day.words is MISSED for day in days))


def _day(night: str, cell: CalendarCell | None, society: IndexEntry, newest: str) -> Day:
    if cell is not None:
        href = f"{society.society.slug}/eval/{night}/index.html"
        return Day(night=night, status=cell.status, words=status_words(cell.status), href=href)
    missed = society.since <= night <= newest
    return Day(night=night, status="missed" if missed else "", words=MISSED if missed else None, href=None)
