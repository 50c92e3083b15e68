"""The lenient parser: what a string that is not canonical was meant to cite, and each step taken to see it.

For diagnosis only: no verdict reads it, so that it can never turn a failed check into a passed one (scoring.md).
What it does not understand it refuses; it never drops a word to make the rest fit.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

from harness.citation.designation import Designation, read_designations
from harness.citation.error import CitationError
from harness.citation.folds import FOLDS, fold_lookalikes, unwrap
from harness.citation.model import Citation
from harness.citation.parse import parse_citation, parse_section
from harness.citation.section import Kind
from harness.citation.style import Style
from harness.citation.wording import read_section, read_several

__all__ = ["MAX_LENGTH", "STEPS", "Found", "find_citation", "fold_lookalikes"]

MAX_LENGTH: Final = 500
"""Code points; a longer text is no citation."""

STEPS: Final = (
    *dict.fromkeys(name for name, _ in FOLDS),
    "brackets",
    "year_first",
    "joint_society",
    "society_gap",
    "designation_word",
    "alias",
    "standard_form",
    "edition_form",
    "edition_missing",
    "edition_not_listed",
    "comma",
    "case",
    "section_spaces",
    "section_word",
    "missing_sign",
    "tail_word",
    "number_brackets",
)
"""Every step there is, about in the order taken."""

_BETWEEN: Final = re.compile(r"\] ?[;,]? ?(?:and |& )?\[|; ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a text cites: one citation of a kind; a range or a list, never taken for one; or none.

    `citation` has the canonical string of what was found, and the edition also where the style does not print it. An
    edition that the style does not list is kept; one that is missing where the style prints it is None, and the string
    is then in the default format. `steps` are in the order taken; none for a canonical string.
    """

    kind: Kind | Literal["range", "list", "none"]
    citation: Citation | None = None
    steps: tuple[str, ...] = ()


def find_citation(text: str, style: Style) -> Found:
    """The citation in a text that is nothing but a citation, however written."""
    if len(text) > MAX_LENGTH:
        return Found(kind="none")
    canonical = _canonical(text, style, ())
    if canonical is not None:
        return canonical
    steps: tuple[str, ...] = ()
    for name, fold in FOLDS:
        folded = fold(text)
        if folded == text:
            continue
        text = folded
        steps = tuple(dict.fromkeys((*steps, name)))
        canonical = _canonical(text, style, steps)
        if canonical is not None:
            return canonical
    body = unwrap(text)
    bracketed = text.startswith("[") and body != text
    if bracketed != style.format.startswith("["):
        steps = (*steps, "brackets")
    return _find_in_body(body, style, steps) or _find_several(body, style) or Found(kind="none")


def _canonical(text: str, style: Style, steps: tuple[str, ...]) -> Found | None:
    try:
        citation = parse_citation(text, style)
    except CitationError:
        return None
    return Found(kind=parse_section(citation.section, style).kind, citation=citation, steps=steps)


def _find_in_body(body: str, style: Style, steps: tuple[str, ...]) -> Found | None:
    """One citation, or a range or list of sections behind one designation."""
    several: Found | None = None
    for read in read_designations(body, style):
        section = read.rest.lstrip(" ,;:")
        before = read.rest[: len(read.rest) - len(section)]
        if not section:
            continue
        gap = () if before == " " else (("comma",) if before.strip() else ("section_spaces",))
        reading = read_section(section, style)
        if reading is not None:
            citation = _citation(read, reading.section, reading.parsed.path, style)
            taken = dict.fromkeys((*steps, *read.steps, *gap, *reading.steps))
            return Found(kind=reading.parsed.kind, citation=citation, steps=tuple(taken))
        kind = None if several else read_several(section, style)
        several = Found(kind=kind, steps=tuple(dict.fromkeys((*steps, *read.steps, *gap)))) if kind else several
    return several


def _citation(read: Designation, section: str, path: tuple[str, ...], style: Style) -> Citation:
    printing = style
    if style.prints_edition and read.edition_year is None:
        printing = style.with_default_format()
    return Citation(
        society=style.society,
        standard=read.standard,
        section=section,
        edition_year=read.edition_year,
        section_path=path,
        citation=f"{printing.head(read.standard, read.edition_year)}{section}{printing.suffix}",
    )


def _find_several(body: str, style: Style) -> Found | None:
    """A list of whole citations."""
    parts = [part.strip("[] ") for part in _BETWEEN.split(body)]
    if len(parts) > 1 and all(_find_in_body(part, style, ()) for part in parts):
        return Found(kind="list")
    return None
