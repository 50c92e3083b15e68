"""The charts of one page: each with a title, a description in words and the figures of a table on the same page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from markupsafe import Markup

from harness.site.bars import Bars, bars_of_counts, bars_of_shares
from harness.site.eval_json import HEADLINE, EvalDocument, MeasureEntry
from harness.site.history import HistoryEntry, shown_nights
from harness.site.plot import WIDTH
from harness.site.render import render
from harness.site.trend import Trend, trend_of
from harness.site.views import CountRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Charts:
    """`breakdown` is by the label of the stratum; None where there is nothing to draw."""

    trends: tuple[Trend, ...]
    outcomes: Bars | None
    breakdown: dict[str, Bars | None]
    citation_faults: Bars | None
    gateway_faults: Bars | None

    def all(self) -> tuple[Trend | Bars, ...]:
        """Every chart that is drawn."""
        bars = (self.outcomes, *self.breakdown.values(), self.citation_faults, self.gateway_faults)
        return (*self.trends, *(chart for chart in bars if chart is not None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What the tables of counts on the page hold."""

    outcomes: Sequence[CountRow]
    citation_faults: Sequence[CountRow]
    gateway_faults: Sequence[CountRow]


def charts_of(document: EvalDocument, history: Sequence[HistoryEntry], counts: Counts) -> Charts:
    """The charts of a result; trends of its headline and of each measure with a floor, up to its own night.

    A month's trends show its own nights.
    """
    pooled = len(document.night) == len("2026-11")
    nights = [
        entry
        for entry in shown_nights(history)
        if (entry.night.startswith(document.night) if pooled else entry.night <= document.night)
    ]
    first = date.fromisoformat(f"{document.night}-01") if pooled else None
    floor = next((row.floor for row in document.floors if row.measure == HEADLINE), None)
    names = dict.fromkeys((HEADLINE, *(row.measure for row in document.floors)))
    trends = [trend_of(name, nights, first) for name in names] if nights else []
    return Charts(
        trends=tuple(trend for trend in trends if trend is not None),
        outcomes=bars_of_counts("outcomes", "Outcomes of all expectations", counts.outcomes),
        breakdown={
            label: bars_of_shares(label, f"Exact citation by {label}", stratified(document, label), floor)
            for label in ("standard", "kind")
        },
        citation_faults=bars_of_counts("faults", "Wrong citations by shape", counts.citation_faults),
        gateway_faults=bars_of_counts("calls", "Calls without a usable answer", counts.gateway_faults),
    )


def stratified(document: EvalDocument, label: str) -> list[MeasureEntry]:
    """The headline measure by groups of that label."""
    return [
        entry
        for entry in document.measures
        if entry.name == HEADLINE and entry.stratum is not None and entry.stratum.startswith(f"{label}=")
    ]


def drawn(chart: Trend | Bars) -> Markup:
    """The chart as SVG, for a page and as a file of its own."""
    return Markup(render("chart.svg.j2", chart=chart, width=WIDTH, id=chart.file.removesuffix(".svg")))  # noqa: S704
