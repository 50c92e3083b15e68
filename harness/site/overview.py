"""What is of all societies: overview, calendar, revisions, method. Read from what the tree has and added to, so that a
publish costs what it changes."""

from collections.abc import Sequence
from typing import Final

import msgspec

from harness.site.calendar import CalendarMonth, calendar_rows, month_json, months_between, read_month, with_nights
from harness.site.eval_json import EvalDocument
from harness.site.history import HistoryEntry, shown_nights
from harness.site.index import IndexEntry, StaleEntry, index_entry, index_json, read_index
from harness.site.pages import Frame, render_calendar, render_method, render_missing, render_overview, render_revisions
from harness.site.revisions import RevisionEntry, read_revisions, revisions_json
from harness.site.tree import Build

_INDEX: Final = "standards/index.json"
_REVISIONS: Final = "standards/eval/revisions"
_CALENDAR: Final = "standards/eval/calendar"
_METHOD: Final = "standards/eval/method"


class Overview:
    """The pages of all societies while a build is made: what it adds, then written once."""

    def __init__(self, build: Build) -> None:
        self._build = build
        present = build.path(_INDEX)
        self._entries = read_index(present.read_bytes()) if present.is_file() else {}
        self._newest = max((entry.night for entry in self._entries.values()), default="")
        self._revised: list[RevisionEntry] = []
        self._nights: dict[str, set[str]] = {}
        self._histories: dict[str, Sequence[HistoryEntry]] = {}

    @property
    def holds_any(self) -> bool:
        """Whether any society has a page."""
        return bool(self._entries)

    def add(self, night: str, shown: EvalDocument, history: Sequence[HistoryEntry]) -> None:
        """A published night of a society whose page now shows the document `shown`."""
        slug = shown.society.slug
        stale = self.stale_of(slug)
        self._entries[slug] = msgspec.structs.replace(index_entry(shown, history), stale=stale)
        self._histories[slug] = history
        self._nights.setdefault(slug, set()).add(night)

    def revised(self, entry: RevisionEntry) -> None:
        """A revision that came after another, published for the first time."""
        self._revised.append(entry)

    def stale(self, slug: str, refused: StaleEntry | None) -> None:
        """The society's page shows older numbers than were measured; None: no more."""
        if (entry := self._entries.get(slug)) is not None:
            self._entries[slug] = msgspec.structs.replace(entry, stale=refused)

    def stale_of(self, slug: str) -> StaleEntry | None:
        """What was refused of the society, if its page is marked stale."""
        entry = self._entries.get(slug)
        return None if entry is None else entry.stale

    def write(self, frame: Frame) -> None:
        """Write what differs from what the tree has."""
        build = self._build
        societies = sorted(self._entries.values(), key=lambda entry: entry.society.id)
        build.refresh(_INDEX, index_json(societies))
        build.refresh("standards/index.html", render_overview(societies, frame, self._since()))
        build.refresh(f"{_METHOD}/index.html", render_method(frame))
        build.refresh("404.html", render_missing(frame))
        self._write_revisions(frame)
        if societies:
            self._write_calendar(societies, frame)

    def _since(self) -> str:
        return min((entry.since for entry in self._entries.values() if entry.since), default="")

    def _write_revisions(self, frame: Frame) -> None:
        place = f"{_REVISIONS}/index.json"
        present = self._build.path(place)
        known = read_revisions(present.read_bytes()) if present.is_file() else []
        told = [*known, *self._revised]
        self._build.refresh(place, revisions_json(told))
        self._build.refresh(f"{_REVISIONS}/index.html", render_revisions(told, frame))

    def _write_calendar(self, societies: Sequence[IndexEntry], frame: Frame) -> None:
        """The months that nights were added to, and all from the newest night before to the newest now."""
        newest = max(entry.night for entry in societies)
        touched = {night[:7] for nights in self._nights.values() for night in nights}
        touched |= set(months_between(self._newest or self._since(), newest))
        months = list(months_between(self._since(), newest))
        for label in sorted(touched):
            month = self._month(label)
            rows = calendar_rows(month, societies, newest)
            folder = f"{_CALENDAR}/{label}"
            self._build.refresh(f"{folder}/index.json", month_json(month))
            self._build.refresh(f"{folder}/index.html", render_calendar(month, rows, months, frame))
            if label == newest[:7]:
                page = render_calendar(month, rows, months, frame, latest=True)
                self._build.refresh(f"{_CALENDAR}/index.html", page)
                self._build.refresh(f"{_CALENDAR}/index.json", month_json(month))

    def _month(self, label: str) -> CalendarMonth:
        present = self._build.path(f"{_CALENDAR}/{label}/index.json")
        month = (
            read_month(present.read_bytes())
            if present.is_file()
            else CalendarMonth(schema_version=1, month=label, nights={})
        )
        for slug, nights in self._nights.items():
            shown = [entry for entry in shown_nights(self._histories[slug]) if entry.night in nights]
            if any(entry.night.startswith(label) for entry in shown):
                month = with_nights(month, slug, shown)
        return month
