"""A society's folder as values (testsets.md, sla.md Terms). Loading and checking are in the modules beside."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import Final, Literal

from harness.citation.model import FIELDS, Citation
from harness.citation.style import Style

COUNT_MEASURES: Final = (
    "citation_correctness",
    "correctness_when_retrieved",
    "string_correctness",
    "field_correctness",
    *(f"{name}_correctness" for name in FIELDS if name != "citation"),
)
"""Measures over expectations that a floor may name (scoring.md, Measures)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One held-out query with its gold.

    `weight` keeps the decimal string of the file. `editions` makes a cross-edition item. An item counts on a night from
    `added` (None: always) to the night before `retired` (None: for ever). `line` is its 1-based line in items.jsonl.
    """

    id: str
    query: str = field(repr=False)
    citations: tuple[Citation, ...] = field(repr=False)
    match: Literal["all", "any"] = "all"
    weight: str = "1"
    cluster: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    editions: tuple[int, ...] | None = None
    added: date | None = None
    retired: date | None = None
    line: int = 0

    def counts_on(self, night: date) -> bool:
        """Whether the item belongs to that night's plan."""
        return (self.added is None or self.added <= night) and (self.retired is None or night < self.retired)

    @property
    def expectations(self) -> tuple[tuple[Citation, ...], ...]:
        """Expectations in order, each as its acceptable gold citations (`all`: one each; `any`: one in all)."""
        if self.match == "any":
            return (self.citations,)
        return tuple((citation,) for citation in self.citations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """Half-open band `[at_least, below)` of the point ratio; decimals as the file writes them."""

    below: str
    at_least: str
    credit_percent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """A contractual objective on one count measure; `floor` keeps the decimal string of the contract."""

    measure: str
    floor: str
    rule: Literal["point", "exact_binomial_95"]
    tiers: tuple[Tier, ...]

    @property
    def value(self) -> Fraction:
        return Fraction(self.floor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """One version of a society's contract terms. `sha256` is over the canonical JSON of the version as written."""

    version: int
    effective_from: date
    effective_to: date | None
    editions: Mapping[str, tuple[int, ...]]
    checks: tuple[str, ...] = FIELDS
    top_k: int = 5
    max_tokens: int = 1200
    max_error_rate: str = "0.02"
    min_sample: int
    window: Literal["night", "calendar_month"] = "night"
    max_missed_nights: int = 3
    dispute_days: int = 30
    floors: tuple[Floor, ...] = ()
    sha256: str

    def in_force_on(self, night: date) -> bool:
        return self.effective_from <= night and (self.effective_to is None or night <= self.effective_to)


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueEntry:
    """A section that exists in one edition of one standard."""

    standard: str
    edition_year: int | None
    section: str
    section_path: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Society:
    """Everything a society's folder says, checked. `corpora` maps a gateway corpus id to the standards in it.

    `testset_sha256` is the digest over canonical JSON of all items, active or not. `catalogue` is None where the folder
    has no complete one. `canary` is the string that no output may contain; None where no item carries one.
    """

    id: str
    slug: str
    name: str
    corpora: Mapping[str, tuple[str, ...]]
    style: Style
    examples: tuple[Citation, ...]
    items: tuple[Item, ...] = field(repr=False)
    terms: tuple[Terms, ...]
    catalogue: frozenset[tuple[str, int | None, str]] | None = field(repr=False)
    testset_version: str
    testset_sha256: str
    canary: str | None = field(default=None, repr=False)

    def terms_on(self, night: date) -> Terms | None:
        """The version in force that night (lint refuses overlaps), or None."""
        return next((terms for terms in self.terms if terms.in_force_on(night)), None)
