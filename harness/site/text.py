"""Strings from outside made safe to show and to store: what the gateway sends is data, never layout (publishing.md)."""

from dataclasses import dataclass
from typing import Final

from harness.citation.model import Citation

LONGEST_SHOWN: Final = 200
"""A string from outside is cut after this many characters on a page."""

_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Also the full-width forms, which some spreadsheets read as the plain ones; a tab or a line end is spelled out."""


def visible(text: str, longest: int = LONGEST_SHOWN) -> str:
    """The text with every character that has no picture spelled out as `<U+202E>`, cut at `longest` characters.

    Among them are the bidirectional controls, which reorder their neighbours, and every space but the plain one.
    Markup is left alone: the template escapes it.
    """
    shown = text[:longest]
    if not shown.isprintable():
        shown = "".join(character if character.isprintable() else f"<U+{ord(character):04X}>" for character in shown)
    return shown if len(text) <= longest else f"{shown}…"


def encodable(text: str) -> str:
    r"""The text with lone surrogates spelled out as `\ud800`, so that it has UTF-8; everything else as it is."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def guarded(text: str) -> str:
    """The text as a cell that no spreadsheet takes for a formula: an apostrophe before what could start one."""
    shown = visible(text)
    return f"'{shown}" if shown.startswith(_FORMULA_STARTS) else shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A citation's string taken apart for display: bracket, `identifier`, space, `section`, bracket.

    `identifier` is society and standard as the style prints them, with the edition where it prints one.
    """

    identifier: str
    section: str

    @property
    def text(self) -> str:
        return f"[{self.identifier} {self.section}]"


def chip_of(citation: Citation) -> Chip:
    """The chip of a strictly parsed citation; its text is the citation string again.

    Raises ValueError where the string does not end in its section, which no style prints.
    """
    tail = f" {citation.section}]"
    if not (citation.citation.startswith("[") and citation.citation.endswith(tail)):
        raise ValueError(f"a citation whose string does not end in its section: {citation.section}")
    return Chip(identifier=citation.citation[1 : -len(tail)], section=citation.section)
