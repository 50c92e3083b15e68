"""What one section is to another: path relations after the society's containment rule (citations.md)."""

import re
from typing import Final, Literal

from harness.citation.section import BARE_KINDS, Section
from harness.citation.style import Style

Relation = Literal["same", "ancestor", "descendant", "sibling", "other"]

_LETTERS: Final = re.compile(r"[A-Z]*")
_UNITS: Final = frozenset({"chapter", "article"})


def relation(style: Style, found: Section, gold: Section) -> Relation:
    """What `found` is to `gold`: an ancestor contains it, a descendant lies in it, siblings have one parent.

    Within one kind the path decides. Across kinds only a chapter or an article contains: sections, tables and figures
    whose number starts with it (rule "path" and "article"), or starts with it and two more digits ("leading_digits").
    Letters before a number choose another chapter, so §M302 is no sibling of §302 and §R22.5 is in no chapter 22.
    """
    if (found.kind, found.path) == (gold.kind, gold.path):
        return "same"
    if _contains(style, found, gold):
        return "ancestor"
    if _contains(style, gold, found):
        return "descendant"
    if _family(found) == _family(gold) and _parent(style, found) == _parent(style, gold):
        return "sibling"
    return "other"


def _contains(style: Style, outer: Section, inner: Section) -> bool:
    if outer.kind in _UNITS and len(outer.path) == 1 and inner.kind != outer.kind:
        return _unit(style, inner) == outer.path[0]
    if _family(outer) != _family(inner):
        return False
    return len(outer.path) < len(inner.path) and inner.path[: len(outer.path)] == outer.path


def _unit(style: Style, section: Section) -> str | None:
    """The chapter or article that a section, table or figure lies in; None where its number tells none."""
    for container in style.grammar.containers:
        if section.path[0].startswith(f"{container} "):
            return section.path[0][len(container) + 1 :]
    if section.kind in {"table", "figure"}:
        number = section.path[1].partition("-")[0]
    elif section.kind in {"section", "article", "commentary", "exception"}:
        number = section.path[0]
    else:
        return None
    if style.containment != "leading_digits":
        return number
    digits = number[len(_leading_letters(number)) :]
    return number[:-2] if digits.isdigit() and len(digits) > 2 else None


def _family(section: Section) -> str:
    """Sections that share one tree of paths: all with a bare path but units, else the kind."""
    if section.kind in BARE_KINDS:
        return "unit" if section.kind == "chapter" else "bare"
    return section.kind


def _parent(style: Style, section: Section) -> tuple[str, ...]:
    """The path above; of a first element, its chapter if the number tells it, else its letters."""
    if len(section.path) > 1 or section.kind in _UNITS:
        return section.path[:-1]
    if style.containment == "leading_digits":
        return ("chapter", _unit(style, section) or "")
    return (_leading_letters(section.path[0]),)


def _leading_letters(number: str) -> str:
    match = _LETTERS.match(number)
    return "" if match is None else match.group()
