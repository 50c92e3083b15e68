"""A society's published revisions, one entry each in the order of publishing: history.jsonl exact, history.csv for
people. Trend, feed, badge and calendar are read from it, so that they print what the pages printed (law 2)."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Final

import msgspec

from harness.site.eval_json import HEADLINE, EvalDocument
from harness.site.text import guarded

_COLUMNS: Final = (
    "night",
    "revision",
    "official",
    "status",
    "measure",
    "good",
    "valid",
    "value",
    "interval_low",
    "interval_high",
    "floor",
    "floor_status",
    "reason",
    "scored_at",
    "testset_version",
    "testset_sha256",
    "scorer_version",
    "terms_version",
    "run",
)


class HistoryMeasure(msgspec.Struct, frozen=True, kw_only=True):
    """A headline measure or one with a floor, as its eval.json has it; `floor` and `floor_status` None without one."""

    name: str
    good: int | str
    valid: int
    value: str | None
    low: str | None
    high: str | None
    floor: str | None
    floor_status: str | None


class HistoryEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A published revision in short. `night` is a date, or a month that pools its nights, `2026-11`."""

    night: str
    revision: int
    official: bool
    status: str
    measures: list[HistoryMeasure]
    reason: str | None
    scored_at: str | None
    finished_at: str
    testset_version: str
    testset_sha256: str
    scorer_version: int
    terms_version: int | None
    run: str

    @property
    def pooled(self) -> bool:
        """Whether this is a month of nights, not one night."""
        return len(self.night) == len("2026-11")

    @property
    def rank(self) -> tuple[bool, str, int]:
        """What is shown before what: official before not, later before earlier."""
        return (self.official, self.night, self.revision)

    def measure(self, name: str) -> HistoryMeasure | None:
        """The measure of that name, or None where it had neither headline nor floor."""
        return next((each for each in self.measures if each.name == name), None)


_ENTRY = msgspec.json.Decoder(HistoryEntry)


def entry_of(document: EvalDocument) -> HistoryEntry:
    """The entry of a published revision."""
    floors = {floor.measure: floor for floor in document.floors}
    measures = []
    for name in dict.fromkeys((HEADLINE, *floors)):
        entry, floor = document.measure(name), floors.get(name)
        if entry is not None:
            measures.append(
                HistoryMeasure(
                    name=name,
                    good=entry.good,
                    valid=entry.valid,
                    value=entry.value,
                    low=None if entry.interval is None else entry.interval.low,
                    high=None if entry.interval is None else entry.interval.high,
                    floor=None if floor is None else floor.floor,
                    floor_status=None if floor is None else floor.status,
                )
            )
    return HistoryEntry(
        night=document.night,
        revision=document.revision,
        official=document.official,
        status=document.status,
        measures=measures,
        reason=document.reason,
        scored_at=document.scored_at,
        finished_at=document.run.finished_at,
        testset_version=document.testset.version,
        testset_sha256=document.testset.sha256,
        scorer_version=document.scorer_version,
        terms_version=document.terms_version,
        run=document.run.id,
    )


def read_history(lines: bytes) -> list[HistoryEntry]:
    """The entries of history.jsonl, in the order of publishing."""
    return [_ENTRY.decode(line) for line in lines.splitlines()]


def history_jsonl(entries: Iterable[HistoryEntry]) -> bytes:
    """One entry a line, exact."""
    return b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)


def history_csv(entries: Iterable[HistoryEntry]) -> bytes:
    """One row a measure of each revision, for spreadsheets: no cell of text can be taken for a formula."""
    text = StringIO()
    rows = csv.writer(text)
    rows.writerow(_COLUMNS)
    for entry in entries:
        for measure in entry.measures:
            rows.writerow(_row(entry, measure))
    return text.getvalue().encode("utf-8")


def shown_nights(entries: Iterable[HistoryEntry]) -> Sequence[HistoryEntry]:
    """What counts of each night, oldest night first: official before not, of these the latest revision."""
    return _shown(entry for entry in entries if not entry.pooled)


def shown_months(entries: Iterable[HistoryEntry]) -> Sequence[HistoryEntry]:
    """The latest revision of each month that was pooled, oldest first."""
    return _shown(entry for entry in entries if entry.pooled)


def _shown(entries: Iterable[HistoryEntry]) -> Sequence[HistoryEntry]:
    best: dict[str, HistoryEntry] = {}
    for entry in entries:
        held = best.get(entry.night)
        if held is None or held.rank <= entry.rank:
            best[entry.night] = entry
    return [best[night] for night in sorted(best)]


def _row(entry: HistoryEntry, measure: HistoryMeasure) -> tuple[object, ...]:
    return (
        entry.night,
        entry.revision,
        "true" if entry.official else "false",
        entry.status,
        measure.name,
        measure.good,
        measure.valid,
        measure.value,
        measure.low,
        measure.high,
        measure.floor,
        measure.floor_status,
        entry.reason,
        entry.scored_at,
        guarded(entry.testset_version),
        entry.testset_sha256,
        entry.scorer_version,
        entry.terms_version,
        guarded(entry.run),
    )
