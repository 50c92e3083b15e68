"""Printing a citation: the society's style applied to the fields, or a refusal (citations.md)."""

from harness.citation.error import CitationError
from harness.citation.parse import parse_section
from harness.citation.style import Style


def format_citation(style: Style, *, standard: object, section: object, edition_year: object) -> str:
    """The canonical string of the fields; the strict parser accepts it and gives the same fields back.

    Fields may come straight from the wire: a wrong type is refused like a wrong value. Raises CitationError for a
    standard or an edition that the style does not list, a missing year where the style prints one, and a section that
    does not parse.
    """
    if not isinstance(standard, str) or standard not in style.standards:
        raise CitationError("", None, "a standard that the style lists", "standard")
    if edition_year is None:
        if style.prints_edition:
            raise CitationError("", None, "a year, because the style prints it", "edition_year")
    elif type(edition_year) is not int or edition_year not in style.standards[standard].editions:
        raise CitationError("", None, "a year that the style lists for the standard", "edition_year")
    if not isinstance(section, str):
        raise CitationError("", None, "a string", "section")
    parse_section(section, style)
    head = style.printed[standard, edition_year if style.prints_edition else None]
    return f"{head}{section}{style.suffix}"
