"""Claim parts of a result's numbers, and their re-run over the tables as written (claims.md, Producer and Re-run)."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.claims.part import ClaimPart, Source
from harness.claims.produce import ClaimContext, TableFile, claim_for, fielded_of, scope_of
from harness.claims.registry import Figure, rerun_all
from harness.claims.source import CannotRerun, parse_subset
from harness.scoring.model import Measure
from harness.site.eval_json import EvalDocument, places_of, warnings_of
from harness.site.invariants import refusal
from harness.site.model import EvalResult
from harness.site.tables import SavedTables, read_table


def claim_maker(result: EvalResult, tables: SavedTables, address: str) -> Callable[[Measure], ClaimPart]:
    """What makes the part of a measure with a value; `address` is the revision's, without a slash at the end."""
    context = ClaimContext(
        society=result.society,
        slug=result.slug,
        night=result.night,
        revision=result.revision,
        scope=scope_of(result.society, result.editions),
        fielded=fielded_of(result.first_answer_at, result.last_answer_at),
        tables={
            name: TableFile(url=f"{address}/{table.name}", sha256=table.sha256)
            for name, table in tables.by_name.items()
        },
        warnings=warnings_of(result),
    )
    bounds = {
        assessment.floor.measure: f"the floor's rule is a bound: {assessment.floor.rule}, not the share alone, decides"
        for assessment in result.assessments
        if assessment.floor.rule != "point"
    }

    def make(measure: Measure) -> ClaimPart:
        bound = bounds.get(measure.name) if measure.stratum is None else None
        told = measure if bound is None else replace(measure, warnings=(*measure.warnings, bound))
        return claim_for(told, context, places_of(result, measure.name))

    return make


def refuse_differing(result: EvalResult, document: EvalDocument, folder: Path) -> None:
    """Re-run every claim of the document over the tables in the folder, each table read once.

    Raises PublishRefused with every number that its part or the tables do not give again.
    """
    claimed = [(entry, entry.claim) for entry in document.measures if entry.claim is not None]
    try:
        figures = _figures([claim for _, claim in claimed], folder)
    except CannotRerun as error:
        raise refusal(result, [f"a claim cannot be re-run: {error}"]) from None
    broken = []
    for entry, claim in claimed:
        found = figures[_source(claim)].text(places=len((entry.value or "").partition(".")[2]))
        if not entry.value == claim["value"] == found:
            subject = f"{entry.name} {entry.stratum or ''}".rstrip()
            broken.append(f"{subject}: printed {entry.value}, claimed {claim['value']}, re-run from the table {found}")
    if broken:
        raise refusal(result, broken)


def _figures(claims: list[dict[str, Any]], folder: Path) -> Mapping[Source, Figure]:
    by_table: defaultdict[str, dict[Source, None]] = defaultdict(dict)
    for claim in claims:
        source = _source(claim)
        by_table[parse_subset(source.table).table.name][source] = None
    figures: dict[Source, Figure] = {}
    for table, sources in by_table.items():
        figures |= rerun_all(sources, read_table(folder / f"{table}.csv"))
    return figures


def _source(claim: Mapping[str, Any]) -> Source:
    return Source(**claim["source"])
