"""The contracted comparisons of a gold citation with a returned passage (scoring.md, From an answer to verdicts, 3).

A passage is a decoded JSON value, untyped on purpose: whatever stands in it, comparing it never raises.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

from harness.citation.model import FIELDS, Citation

Compared: TypeAlias = tuple[bool, bool, bool, bool, bool, bool]
"""One boolean per wire field, in the order of `FIELDS`."""

RELEVANCE_FIELDS: Final = ("society", "standard", "edition_year", "section_path")
"""The fields that make a passage relevant to an expectation (scoring.md, Measures)."""

_NOTHING: Final[Compared] = (False, False, False, False, False, False)
_ABSENT: Final = object()


def compare_fields(gold: Citation, passage: Any) -> Compared:
    """Every wire field of the passage against the gold, by value and JSON type, contracted or not.

    Strings are equal code point for code point; an `edition_year` must be a JSON integer (no boolean, no float) or,
    where the gold has none, a null that is there; a `section_path` must be an array of the same strings.
    """
    if type(passage) is not dict and not isinstance(passage, Mapping):
        return _NOTHING
    get = passage.get
    year = get("edition_year", _ABSENT)
    path = get("section_path")
    gold_year = gold.edition_year
    gold_path = gold.section_path
    return (
        get("society") == gold.society,
        get("standard") == gold.standard,
        get("section") == gold.section,
        year is None if gold_year is None else type(year) is int and year == gold_year,
        type(path) is list and len(path) == len(gold_path) and tuple(path) == gold_path,
        get("citation") == gold.citation,
    )


def is_relevant(compared: Compared) -> bool:
    """Whether society, standard, edition_year and section_path are the gold's (scoring.md, Measures)."""
    return compared[0] and compared[1] and compared[3] and compared[4]


@lru_cache(maxsize=64)
def positions(checks: tuple[str, ...]) -> tuple[int, ...]:
    """Where the contracted checks stand in `FIELDS`. Raises ValueError for a name that is no wire field."""
    return tuple(FIELDS.index(name) for name in checks)


@lru_cache(maxsize=64)
def relevance_contracted(checks: tuple[str, ...]) -> bool:
    """Whether every field that relevance needs is contracted."""
    return all(name in checks for name in RELEVANCE_FIELDS)


def select(compared: Compared, checks: tuple[str, ...]) -> tuple[bool, ...]:
    """The contracted ones of the compared fields, in the order of `checks`."""
    if checks == FIELDS:
        return compared
    return tuple(compared[position] for position in positions(checks))


def check(gold: Citation, passage: Any, checks: tuple[str, ...]) -> tuple[bool, ...]:
    """One boolean per contracted check, in the order of `checks`."""
    return select(compare_fields(gold, passage), checks)


def best_alternative(
    alternatives: tuple[Citation, ...], passage: Any, checks: tuple[str, ...]
) -> tuple[Citation, tuple[bool, ...]]:
    """The acceptable gold citation with the most true checks, first listed on a tie, with its checks."""
    best = alternatives[0]
    best_checks = check(best, passage, checks)
    for gold in alternatives[1:]:
        found = check(gold, passage, checks)
        if sum(found) > sum(best_checks):
            best, best_checks = gold, found
    return best, best_checks
