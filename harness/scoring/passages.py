"""What is true of a returned passage by itself, whatever was asked for (scoring.md, Measures)."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from harness.citation.error import CitationError
from harness.citation.format import format_citation
from harness.citation.model import FIELDS
from harness.citation.parse import parse_section
from harness.citation.style import Style
from harness.scoring.model import PassageScore, ScoringTerms

EDITION_FIELDS: Final = ("society", "standard", "edition_year")
CONSISTENCY_FIELDS: Final = FIELDS
CATALOGUE_FIELDS: Final = ("society", "standard", "section", "edition_year")

_CACHED_LENGTH: Final = 100
"""Longer fields are parsed each time, so that no gateway can fill the memory with them."""

_ABSENT: Final = object()
_NO_KEYS: Final[Mapping[str, Any]] = {}


def keys_of(passage: Any) -> Mapping[str, Any]:
    """The passage's keys; of a value that is no JSON object, none."""
    return passage if type(passage) is dict or isinstance(passage, Mapping) else _NO_KEYS


def is_edition_compliant(keys: Mapping[str, Any], asked: tuple[int, ...] | None, terms: ScoringTerms) -> bool:
    """Whether the passage is of this society and of an edition that may be returned.

    That is one contracted for its standard, null where the standard is undated (`()`), or one of `asked`, the editions
    of a cross-edition item.
    """
    if keys.get("society") != terms.society:
        return False
    year = keys.get("edition_year", _ABSENT)
    if asked is not None:
        return type(year) is int and year in asked
    standard = keys.get("standard")
    editions = terms.editions.get(standard) if type(standard) is str else None
    if editions is None:
        return False
    return (type(year) is int and year in editions) if editions else year is None


def is_consistent(keys: Mapping[str, Any], terms: ScoringTerms) -> bool:
    """Whether the string is the society's style applied to the passage's own fields, and the path its section's."""
    standard, section, string = keys.get("standard"), keys.get("section"), keys.get("citation")
    year, path = keys.get("edition_year", _ABSENT), keys.get("section_path")
    if (
        keys.get("society") != terms.style.society
        or not (type(standard) is str and type(section) is str and type(string) is str)
        or not (year is None or type(year) is int)
        or type(path) is not list
    ):
        return False
    canonical = _canonical if len(standard) + len(section) <= _CACHED_LENGTH else _canonical.__wrapped__
    return (string, tuple(path)) == canonical(terms.style, standard, section, year)


def is_in_catalogue(keys: Mapping[str, Any], terms: ScoringTerms) -> bool | None:
    """Whether the society's catalogue has the passage's section; None where the folder has no complete catalogue."""
    if terms.catalogue is None:
        return None
    standard, section, year = keys.get("standard"), keys.get("section"), keys.get("edition_year", _ABSENT)
    return (
        keys.get("society") == terms.society
        and type(standard) is str
        and type(section) is str
        and (year is None or type(year) is int)
        and (standard, year, section) in terms.catalogue
    )


def score_passages(
    passages: tuple[Any, ...], asked: tuple[int, ...] | None, terms: ScoringTerms
) -> tuple[PassageScore, ...]:
    """Every returned passage, in order; None where a judgement needs a field that is not contracted."""
    edition, consistency, catalogue = _judged(terms.checks)
    return tuple(
        [
            _passage_score(
                rank,
                is_edition_compliant(keys, asked, terms) if edition else None,
                is_consistent(keys, terms) if consistency else None,
                is_in_catalogue(keys, terms) if catalogue else None,
            )
            for rank, keys in enumerate(map(keys_of, passages), start=1)
        ]
    )


@lru_cache(maxsize=64)
def _judged(checks: tuple[str, ...]) -> tuple[bool, bool, bool]:
    contracted = set(checks)
    edition, consistency, catalogue = (
        contracted.issuperset(needed) for needed in (EDITION_FIELDS, CONSISTENCY_FIELDS, CATALOGUE_FIELDS)
    )
    return edition, consistency, catalogue


@lru_cache(maxsize=4096)
def _passage_score(
    rank: int, edition_compliant: bool | None, consistent: bool | None, in_catalogue: bool | None
) -> PassageScore:
    return PassageScore(
        rank=rank, edition_compliant=edition_compliant, consistent=consistent, in_catalogue=in_catalogue
    )


@lru_cache(maxsize=65536)
def kind_of_section(style: Style, section: str) -> str:
    """The kind of a gold section; raises CitationError where it does not parse, which lint refuses."""
    return parse_section(section, style).kind


@lru_cache(maxsize=65536)
def _canonical(style: Style, standard: str, section: str, year: int | None) -> tuple[str, tuple[str, ...]] | None:
    """The string and the section path that the style gives these fields; None where it cannot print them."""
    try:
        printed = format_citation(style, standard=standard, section=section, edition_year=year)
        return printed, parse_section(section, style).path
    except CitationError:
        return None
