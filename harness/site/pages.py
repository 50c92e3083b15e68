"""Pages for people, rendered from the same document that eval.json is (publishing.md; law 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from harness.claims.registry import FUNCTIONS
from harness.scoring.descriptions import DESCRIPTIONS
from harness.site.calendar import CalendarMonth, CalendarRow, days_of
from harness.site.charts import Counts, charts_of, drawn, stratified
from harness.site.dataset import dataset_of
from harness.site.differences import differences
from harness.site.eval_json import HEADLINE, SMALLEST_STRATUM, EvalDocument, MeasureEntry
from harness.site.history import HistoryEntry, shown_months
from harness.site.index import IndexEntry, StaleEntry
from harness.site.model import EvalResult
from harness.site.render import render
from harness.site.revisions import RevisedHeadline, RevisionEntry
from harness.site.spark import Spark, spark_of
from harness.site.tables import SavedTable
from harness.site.text import chip_of, visible
from harness.site.views import (
    MEANS,
    CountRow,
    Figure,
    change_sentence,
    figure_of,
    figure_table,
    figure_table_of,
    floor_rows,
    gauge_of,
    percent_shown,
)
from harness.site.words import (
    CITATION_FAULTS,
    GATEWAY_FAULTS,
    OUTCOMES,
    REASONS,
    STATUSES,
    StatusWords,
    day_text,
    lost_text,
    status_words,
)

_NO_HEADLINE: Final = MeasureEntry(name=HEADLINE, stratum=None, good=0, valid=0, value=None, interval=None, claim=None)

_NOTICE_OPENS: Final = b"<!-- notice -->"
_NOTICE_CLOSES: Final = b"<!-- end of notice -->"
"""Room of a page for a notice; nothing from outside can write these, since markup in it is escaped."""

MOST_REVISIONS: Final = 500
"""Revisions that the page lists, the newest; its JSON has all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assets:
    """Static files by address below the root; the names carry a digest, so that an old page keeps its look."""

    stylesheet: str
    icon: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What every page of a publish has around it. `sample` marks a demonstration's."""

    assets: Assets
    contact: str
    sample: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a page of a result stands: what leads from it to the site's root, to the society's folder and to the
    night's; `permalink` leads to the revision's page, None on that page."""

    root: str
    society: str
    night: str
    permalink: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewRow:
    """One society's latest night."""

    entry: IndexEntry
    figure: Figure
    words: StatusWords
    spark: Spark | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisedRow:
    entry: RevisionEntry
    reason: str
    before: str
    after: str
    before_words: StatusWords | None
    after_words: StatusWords


def place_of(folder: str, revision: str) -> Place:
    """The place of a page in one of the folders that show a revision: the revision's own, the night's, the society's.

    Both are below the site's root, `standards/asme/eval/2026-11-29/r1`.
    """
    depth = len(PurePosixPath(folder).parts)
    night = PurePosixPath(revision).parent
    return Place(
        root="../" * depth,
        society="../" * (depth - 3),
        night="../" * (depth - 4) if depth > 3 else f"{night.name}/",
        permalink=None if folder == revision else f"{PurePosixPath(revision).relative_to(folder)}/index.html",
    )


class EvalPage:
    """A society's page for one night and revision, rendered for each of its places; its charts are drawn once.

    `history` holds all that was published of the society, this revision too; `before` is the revision before it,
    where there is one; `address` is the revision's public address, empty where none is configured.
    """

    def __init__(
        self,
        result: EvalResult,
        document: EvalDocument,
        tables: Sequence[SavedTable],
        history: Sequence[HistoryEntry],
        before: EvalDocument | None,
        address: str,
    ) -> None:
        counts = Counts(
            outcomes=[
                CountRow(name=word, says=says, count=getattr(document.outcomes, name)) for name, word, says in OUTCOMES
            ],
            citation_faults=_count_rows(document.faults.citation, CITATION_FAULTS),
            gateway_faults=_count_rows(document.faults.gateway, GATEWAY_FAULTS),
        )
        charts = charts_of(document, history, counts)
        self._drawn = {chart.file: drawn(chart) for chart in charts.all()}
        self._values = {
            **_verdict(result, document),
            **_numbers(document),
            "counts": counts,
            "charts": charts,
            "drawn": self._drawn,
            "before": before,
            "changed": () if before is None else differences(before, document),
            "reason": REASONS.get(document.reason or "", document.reason),
            "months": [entry.night for entry in shown_months(history) if entry.night != document.night],
            "tables": tables,
            "dataset": dataset_of(document, tables, address),
            "style_format": result.style_format,
            "chips": [chip_of(citation) for citation in result.examples],
        }

    def charts(self) -> Mapping[str, bytes]:
        """Every chart as a file of its own, by name."""
        return {name: f'<?xml version="1.0" encoding="utf-8"?>\n{svg}'.encode() for name, svg in self._drawn.items()}

    def at(self, place: Place, frame: Frame) -> bytes:
        """The page for a place, as UTF-8 HTML."""
        return _render("eval.html.j2", frame, place.root, place=place, **self._values)


def _verdict(result: EvalResult, document: EvalDocument) -> dict[str, object]:
    """What the head of the page says."""
    entry = document.measure(HEADLINE) or _NO_HEADLINE
    headline = figure_of(document.floors, entry)
    floor = next((row.floor for row in document.floors if row.measure == HEADLINE), None)
    outcomes = document.outcomes
    return {
        "doc": document,
        "day": day_text(document.night),
        "words": status_words(document.status),
        "standards": _listed(sorted(document.editions)) or document.society.id,
        "headline": headline,
        "gauge": gauge_of(entry, floor),
        "lost": lost_text(outcomes.incorrect, outcomes.missing, outcomes.gateway_error, outcomes.harness_error),
        "floors": floor_rows(document, [assessment.reasons for assessment in result.assessments]),
        "pooled": result.pooled,
        "indicative": result.window == "calendar_month" and not result.pooled,
        "change": None if document.previous is None else change_sentence(document.previous),
        "page_warnings": [text for text in map(visible, document.warnings) if text not in headline.warnings],
        "gateway_version": visible(document.gateway.version),
    }


def _numbers(document: EvalDocument) -> dict[str, object]:
    """What its tables hold."""
    whole = [entry for entry in document.measures if entry.stratum is None]
    return {
        "whole": figure_table(document.floors, whole),
        "strata": [
            (label, figure_table(document.floors, stratified(document, label), by_stratum=True))
            for label in ("standard", "kind")
        ],
        "smallest": SMALLEST_STRATUM,
        "functions": _functions(document),
    }


def render_overview(entries: Sequence[IndexEntry], frame: Frame, since: str) -> bytes:
    """The page of all societies with each one's latest night, in the order given, as UTF-8 HTML."""
    figures = [figure_of(entry.floors, entry.headline or _NO_HEADLINE) for entry in entries]
    table = figure_table_of(figures)
    return _render(
        "overview.html.j2",
        frame,
        "../",
        table=table,
        since=since,
        rows=[_overview_row(entry, figure) for entry, figure in zip(entries, table.figures, strict=True)],
    )


def render_method(frame: Frame) -> bytes:
    """The page that says how a number is made, as UTF-8 HTML."""
    return _render(
        "method.html.j2",
        frame,
        "../../../",
        measures=DESCRIPTIONS,
        statuses=STATUSES,
        outcomes=OUTCOMES,
        citation_faults=CITATION_FAULTS,
        gateway_faults=GATEWAY_FAULTS,
        functions=[(name, function.says) for name, function in FUNCTIONS.items()],
        smallest=SMALLEST_STRATUM,
    )


def render_revisions(entries: Sequence[RevisionEntry], frame: Frame) -> bytes:
    """The page of all revisions that came after another, the newest first, as UTF-8 HTML."""
    shown = list(reversed(entries[-MOST_REVISIONS:]))
    rows = [
        RevisedRow(
            entry=entry,
            reason=REASONS.get(entry.reason or "", entry.reason or "not said"),
            before="not published" if entry.before is None else _headline_text(entry.before),
            after=_headline_text(entry.after),
            before_words=None if entry.before is None else status_words(entry.before.status),
            after_words=status_words(entry.after.status),
        )
        for entry in shown
    ]
    return _render("revisions.html.j2", frame, "../../../", rows=rows, total=len(entries))


def render_calendar(
    month: CalendarMonth, rows: Sequence[CalendarRow], months: Sequence[str], frame: Frame, *, latest: bool = False
) -> bytes:
    """The page of a month's nights, as UTF-8 HTML; `latest`: for the calendar's own folder, not the month's."""
    position = list(months).index(month.month) if month.month in months else None
    return _render(
        "calendar.html.j2",
        frame,
        "../../../" if latest else "../../../../",
        month=month.month,
        name=day_text(month.month),
        rows=rows,
        days=days_of(month.month),
        months=list(reversed(months)),
        calendar="" if latest else "../",
        earlier=months[position - 1] if position else None,
        later=months[position + 1] if position is not None and position + 1 < len(months) else None,
        statuses=STATUSES,
    )


def render_missing(frame: Frame) -> bytes:
    """The page for an address that there is not, as UTF-8 HTML; it stands at the site's root and is shown anywhere."""
    return _render("missing.html.j2", frame, "/")


def render_stale(refused: StaleEntry) -> bytes:
    """The notice for a page that shows older numbers than were measured, as UTF-8 HTML."""
    return render("stale.html.j2", refused=refused, day=day_text(refused.night)).encode("utf-8")


def marked(page: bytes, notice: bytes) -> bytes:
    """The page with the notice where its template leaves room for one, instead of what is there now."""
    head, opening, rest = page.partition(_NOTICE_OPENS)
    _, closing, tail = rest.partition(_NOTICE_CLOSES)
    return head + opening + notice + closing + tail if closing else page


def _render(template: str, frame: Frame, root: str, **values: object) -> bytes:
    page = render(
        template,
        root=root,
        stylesheet=frame.assets.stylesheet,
        icon=frame.assets.icon,
        contact=frame.contact,
        sample=frame.sample,
        means=MEANS,
        day_text=day_text,
        **values,
    )
    return page.encode("utf-8")


def _overview_row(entry: IndexEntry, figure: Figure) -> OverviewRow:
    floor = next((row.floor for row in entry.floors if row.measure == HEADLINE), None)
    return OverviewRow(entry=entry, figure=figure, words=status_words(entry.status), spark=spark_of(entry.trend, floor))


def _headline_text(headline: RevisedHeadline) -> str:
    if headline.value is None:
        return "no data"
    return f"{headline.good}/{headline.valid}, {percent_shown(headline.value)} %"


def _functions(document: EvalDocument) -> list[tuple[str, str]]:
    """The functions that the document's claims name, each with what it computes."""
    named = {entry.claim["source"]["function"] for entry in document.measures if entry.claim is not None}
    return [(name, function.says) for name, function in FUNCTIONS.items() if name in named]


def _count_rows(counts: Mapping[str, int], meanings: Mapping[str, str]) -> list[CountRow]:
    """Counts, largest first. A fault that belongs to a field is named `field: shape`; a shape we have no words for
    stands by its name."""
    ordered = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return [
        CountRow(name=visible(name), says=meanings.get(name.rpartition(": ")[2], ""), count=count)
        for name, count in ordered
    ]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)
