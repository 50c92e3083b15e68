"""Pages for people, rendered from the same document that eval.json is (publishing.md; law 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from harness.claims.registry import FUNCTIONS
from harness.site.eval_json import HEADLINE, SMALLEST_STRATUM, EvalDocument, MeasureEntry
from harness.site.model import EvalResult
from harness.site.tables import SavedTable
from harness.site.text import chip_of, visible
from harness.site.views import (
    MEANS,
    Figure,
    change_sentence,
    figure_of,
    figure_table,
    figure_table_of,
    floor_rows,
    gauge_of,
)
from harness.site.words import (
    CITATION_FAULTS,
    GATEWAY_FAULTS,
    OUTCOMES,
    StatusWords,
    day_text,
    lost_text,
    moment_text,
    status_words,
)

_HERE: Final = Path(__file__).parent

_NO_HEADLINE: Final = MeasureEntry(name=HEADLINE, stratum=None, good=0, valid=0, value=None, interval=None, claim=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assets:
    """Static files by address below the root; the names carry a digest, so that an old page keeps its look."""

    stylesheet: str
    icon: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a page stands: `root` leads to the site's root; `permalink` to the revision's page, None on that page."""

    root: str
    permalink: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRow:
    """A count with its name and what the name means."""

    name: str
    says: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewRow:
    """One society's latest night."""

    document: EvalDocument
    figure: Figure
    words: StatusWords
    href: str


def render_eval(
    result: EvalResult, document: EvalDocument, tables: Sequence[SavedTable], assets: Assets, place: Place
) -> bytes:
    """A society's page for one night and revision, as UTF-8 HTML."""
    headline_entry = document.measure(HEADLINE) or _NO_HEADLINE
    headline = figure_of(document, headline_entry)
    floor = next((row.floor for row in document.floors if row.measure == HEADLINE), None)
    whole = [entry for entry in document.measures if entry.stratum is None]
    previous = result.previous
    return _render(
        "eval.html.j2",
        assets=assets,
        place=place,
        sample=result.demo,
        contact=result.contact,
        doc=document,
        day=day_text(document.night),
        words=status_words(document.status),
        standards=_listed(sorted(document.editions)) or document.society.id,
        headline=headline,
        gauge=gauge_of(headline_entry, floor),
        lost=lost_text(
            document.outcomes.incorrect,
            document.outcomes.missing,
            document.outcomes.gateway_error,
            document.outcomes.harness_error,
        ),
        moment=moment_text,
        floors=floor_rows(document, [assessment.reasons for assessment in result.assessments]),
        pooled=result.pooled,
        indicative=result.window == "calendar_month" and not result.pooled,
        change=None
        if previous is None or document.previous is None
        else change_sentence(document.previous, previous.better, previous.worse, previous.compared),
        outcomes=[
            CountRow(name=word, says=says, count=getattr(document.outcomes, name)) for name, word, says in OUTCOMES
        ],
        whole=figure_table(document, whole),
        strata=[
            (label, figure_table(document, _stratified(document, label), by_stratum=True))
            for label in ("standard", "kind")
        ],
        citation_faults=_count_rows(document.faults.citation, CITATION_FAULTS),
        gateway_faults=_count_rows(document.faults.gateway, GATEWAY_FAULTS),
        page_warnings=[text for text in map(visible, document.warnings) if text not in headline.warnings],
        style_format=result.style_format,
        chips=[chip_of(citation) for citation in result.examples],
        checks=", ".join(result.checks),
        top_k=result.top_k,
        clusters=result.clusters,
        gateway_version=visible(document.gateway.version),
        smallest=SMALLEST_STRATUM,
        functions=_functions(document),
        tables=tables,
    )


def render_overview(documents: Sequence[EvalDocument], assets: Assets, contact: str, *, sample: bool) -> bytes:
    """The page of all societies with each one's latest night, in the order given, as UTF-8 HTML."""
    headlines = [document.measure(HEADLINE) or _NO_HEADLINE for document in documents]
    figures = [figure_of(document, entry) for document, entry in zip(documents, headlines, strict=True)]
    table = figure_table_of(figures)
    return _render(
        "overview.html.j2",
        assets=assets,
        place=Place(root="../", permalink=None),
        sample=sample,
        contact=contact,
        table=table,
        rows=[
            OverviewRow(
                document=document,
                figure=figure,
                words=status_words(document.status),
                href=f"{document.society.slug}/eval/index.html",
            )
            for document, figure in zip(documents, table.figures, strict=True)
        ],
    )


@cache
def static_file(name: str) -> bytes:
    """A file of the site's look, as it is served."""
    return (_HERE / "static" / name).read_bytes()


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _render(template: str, *, assets: Assets, place: Place, **values: object) -> bytes:
    page = _environment().get_template(template)
    text = page.render(
        root=place.root,
        permalink=place.permalink,
        stylesheet=assets.stylesheet,
        icon=assets.icon,
        means=MEANS,
        **values,
    )
    return text.encode("utf-8")


def _stratified(document: EvalDocument, label: str) -> list[MeasureEntry]:
    return [
        entry
        for entry in document.measures
        if entry.name == HEADLINE and entry.stratum is not None and entry.stratum.startswith(f"{label}=")
    ]


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
