"""What a citation is: the six wire fields (citations.md)."""

from dataclasses import dataclass
from typing import Final

FIELDS: Final = ("society", "standard", "section", "edition_year", "section_path", "citation")
"""The wire keys in check order (scoring.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """One citation: the normalised fields and the canonical string printed from them.

    `edition_year` is a four-digit year, or None for an undated standard and for a parse under a style that does not
    print the edition.
    """

    society: str
    standard: str
    section: str
    edition_year: int | None
    section_path: tuple[str, ...]
    citation: str
