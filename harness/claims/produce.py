"""The claim part of a published measure (claims.md, Producer)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from harness.claims.part import ClaimPart
from harness.claims.source import parse_subset, source_of
from harness.scoring.decimals import PLACES, format_ratio
from harness.scoring.model import Measure

STUDY: Final = "Citehouse nightly citation eval"

_BASES: Final = {
    "expectation": "held-out expectations",
    "passage": "returned passages",
    "item": "held-out queries",
}

_OTHER_BASES: Final = {
    "correctness_when_retrieved": "held-out expectations whose section was retrieved or whose call failed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """A table of the immutable revision: its address and the SHA-256 of its bytes, in hex."""

    url: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimContext:
    """What all parts of a society, night and revision share.

    `scope` names the standards and editions measured (`scope_of`), `fielded` the span of the answers (`fielded_of`).
    `tables` has the file of each table by name: scores, passages, items.
    """

    society: str
    slug: str
    night: str
    revision: int
    scope: str
    fielded: str | None
    tables: Mapping[str, TableFile]
    warnings: tuple[str, ...] = ()


def claim_for(measure: Measure, context: ClaimContext, places: int = PLACES) -> ClaimPart:
    """The part beside a measure's value, printed with that many decimals.

    `base_n` is the unweighted count, never an effective n. Raises ValueError where the measure has no value: with no
    data there is no number and so no part.
    """
    if measure.value is None or measure.valid < 1:
        raise ValueError(f"{measure.name}, {measure.stratum or 'whole'}: there is no value to claim")
    source = source_of(measure)
    file = context.tables[parse_subset(source.table).table.name]
    base = _OTHER_BASES.get(measure.name, _BASES[measure.unit])
    stratum = "" if measure.stratum is None else f", {measure.stratum}"
    domain: dict[str, Any] = {
        "society": context.society,
        "slug": context.slug,
        "night": context.night,
        "revision": context.revision,
        "measure": measure.name,
        "stratum": measure.stratum,
        "value": format_ratio(measure.value, places),
        "data": file.url,
        "data_sha256": file.sha256,
    }
    return ClaimPart(
        study=f"{STUDY}: {context.society}",
        period=f"{'night' if len(context.night) > len('2026-11') else 'month'} {context.night}, revision "
        f"{context.revision}",
        fielded=context.fielded,
        base_name=f"{base}, {context.scope}{stratum}",
        base_n=measure.valid,
        weight="unweighted" if measure.weight_total is None else "weight",
        source=source,
        warnings=tuple(dict.fromkeys((*measure.warnings, *context.warnings))),
        domain=domain,
    )


def scope_of(society: str, editions: Mapping[str, tuple[int, ...]]) -> str:
    """The society with its contracted standards and years: `ASME B31.3 2022`; an undated standard has no year."""
    standards = [" ".join([name, "/".join(map(str, years))]).rstrip() for name, years in sorted(editions.items())]
    return f"{society} {', '.join(standards)}".rstrip()


def fielded_of(first_answer_at: str | None, last_answer_at: str | None) -> str | None:
    """First to last answer as an ISO 8601 interval, None where nothing came back."""
    if first_answer_at is None or last_answer_at is None:
        return None
    return f"{first_answer_at}/{last_answer_at}"
