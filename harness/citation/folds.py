"""Folds of a whole text: look-alike characters and wrapping, each under the name that diagnosis reports.

No compatibility normalisation (NFKC): it would turn superscripts, fractions and ligatures into other citations.
"""

import html
import re
import unicodedata
from collections.abc import Callable
from typing import Final

LOOSE: Final = re.IGNORECASE | re.ASCII
"""Case is folded for ASCII letters only, so that no look-alike letter is taken for one."""

_DASHES: Final = dict.fromkeys([*range(0x2010, 0x2016), 0x2043, 0x2212, 0x2E3A, 0x2E3B, 0xFE58, 0xFE63, 0xFF0D], "-")
_INVISIBLE: Final = dict.fromkeys(
    [
        *(0x00AD, 0x034F, 0x061C, 0x180E, 0xFEFF),
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        *range(0xFE00, 0xFE10),
    ]
)
_QUOTES: Final = "\"'`*“”‘’«»„"
_OPENING: Final = "[({［【（〔"
_CLOSING: Final = "])}］】）〕"
_PUNCTUATION: Final = ".,;:"


def fold_entities(text: str) -> str:
    """`&sect;` and `&#8209;` become the characters they name, once or, where escaped twice, twice."""
    return html.unescape(html.unescape(text))


def fold_invisible(text: str) -> str:
    """Soft hyphens, zero-width characters, direction marks, byte-order marks and variation selectors are dropped."""
    return text.translate(_INVISIBLE)


def fold_composition(text: str) -> str:
    """Canonically equal sequences are composed (NFC)."""
    return unicodedata.normalize("NFC", text)


def fold_dashes(text: str) -> str:
    """Every dash, no-break hyphen and minus becomes the hyphen."""
    return text.translate(_DASHES)


def fold_spaces(text: str) -> str:
    """Every run of white space becomes one space; none is left at the ends."""
    return " ".join(text.split())


def fold_lookalikes(text: str) -> str:
    """The folds of invisible characters, dashes and spaces together."""
    return fold_spaces(fold_dashes(fold_invisible(text)))


def fold_quotes(text: str) -> str:
    """Quotation marks, backticks and asterisks around the whole are dropped."""
    return text.strip(_QUOTES)


def fold_punctuation(text: str) -> str:
    """Full stops, commas and colons behind the citation, or just before its closing bracket, are dropped."""
    stripped = text.rstrip(_PUNCTUATION)
    if stripped.endswith("]"):
        return stripped[:-1].rstrip(_PUNCTUATION + " ") + "]"
    return stripped


def unwrap(text: str) -> str:
    """The text within the one pair of brackets around it, or itself where there is none."""
    opened = _OPENING.find(text[:1]) if text else -1
    if opened < 0 or text[-1] != _CLOSING[opened] or (opened == 0 and "]" in text[1:-1]):
        return text
    return text[1:-1].strip()


FOLDS: Final[tuple[tuple[str, Callable[[str], str]], ...]] = (
    ("entities", fold_entities),
    ("invisible", fold_invisible),
    ("composition", fold_composition),
    ("dashes", fold_dashes),
    ("spaces", fold_spaces),
    ("trailing_punctuation", fold_punctuation),
    ("quotes", fold_quotes),
    ("trailing_punctuation", fold_punctuation),
)
"""In the order they are taken; punctuation may stand on either side of quotation marks.

Brackets come apart, because whether a style has them is the style's to say.
"""
