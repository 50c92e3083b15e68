"""How people write what a style prints before its sections: section words, signs, spaces, case, ranges and lists.

Only the lenient parser reads this. Whatever is rewritten here must parse as a section of the style afterwards, whole.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from harness.citation.error import CitationError
from harness.citation.folds import LOOSE
from harness.citation.parse import parse_section
from harness.citation.section import Kind, Section
from harness.citation.style import Style

Several = Literal["range", "list"]

_SYNONYMS: Final[dict[str, tuple[Kind, ...]]] = {
    "§": ("section",),
    "§§": ("section",),
    "sec": ("section",),
    "sect": ("section",),
    "section": ("section",),
    "clause": ("section",),
    "cl": ("section",),
    "par": ("section", "paragraph"),
    "para": ("section", "paragraph"),
    "paragraph": ("paragraph", "section"),
    "art": ("article",),
    "article": ("article",),
    "ch": ("chapter",),
    "chap": ("chapter",),
    "chapter": ("chapter",),
    "tbl": ("table",),
    "table": ("table",),
    "fig": ("figure",),
    "figure": ("figure",),
    "eq": ("equation",),
    "eqn": ("equation",),
    "equation": ("equation",),
    "app": ("appendix",),
    "appx": ("appendix",),
    "appendix": ("appendix",),
    "annex": ("annex",),
    "control": ("control",),
}
_PLURALS: Final = {
    "sections": "section", "secs": "section", "clauses": "section", "paragraphs": "paragraph", "paras": "para",
    "articles": "article", "arts": "article", "chapters": "chapter", "chs": "chapter", "tables": "table",
    "figures": "figure", "figs": "figure", "equations": "equation", "eqs": "equation", "appendices": "appendix",
    "annexes": "annex", "controls": "control",
}  # fmt: skip
_WORD: Final = re.compile(r"(§§?|[a-z]+)\.? ?(?=[^a-z]|[a-z]{1,3}(?:[^a-z]|$)|[ivxlc]+$)", LOOSE)
_LEADING_LETTERS: Final = re.compile(r"[a-z]{1,3}(?=[-.0-9(]|$)|[ivxlc]{4,8}$")
_TO: Final = re.compile(r" ?- ?| to | thru | through | ?\.\.\.? ?")
_AND: Final = re.compile(r", and |, ?| and | & |; ?")


Rewriting = tuple[str, tuple[str, ...]]
"""What a text may have meant, and the steps that led to it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A section as the style writes it, and the steps that led to it."""

    section: str
    parsed: Section
    steps: tuple[str, ...] = ()


def read_section(text: str, style: Style) -> Reading | None:
    """The one section that a text names under the style, or None where it names none, or more than one."""
    for written, steps in _rewritings(text, style):
        reading = _parsed(written, style, steps)
        if reading is not None:
            return reading
    return None


def read_several(text: str, style: Style) -> Several | None:
    """Whether a text names a range or a list of sections, each of which can be read."""
    word = _WORD.match(text)
    opening = text[: word.end()] if word else ""
    plural = _PLURALS.get(opening.rstrip(". ").lower())
    if plural is not None or opening.startswith("§§"):
        opening = "§" if plural is None else f"{plural} "
        text = opening + text[word.end() if word else 0 :]
    if _is_range(text, opening, style):
        return "range"
    parts = _AND.split(text)
    read = [_reads(parts[0], "", style)] + [_reads(part, opening, style) for part in parts[1:]]
    return "list" if len(parts) > 1 and all(read) else None


def _reads(text: str, opening: str, style: Style) -> bool:
    candidates = (text, opening + text)
    return any(read_section(each, style) or _is_range(each, opening, style) for each in candidates)


def _is_range(text: str, opening: str, style: Style) -> bool:
    for match in _TO.finditer(text):
        first, last = text[: match.start()], text[match.end() :]
        labelled = first[: first.rfind("(")] + last if "(" in first and last.startswith("(") else last
        if read_section(first, style) and any(read_section(each, style) for each in (last, opening + last, labelled)):
            return True
    return False


def _parsed(written: str, style: Style, steps: tuple[str, ...]) -> Reading | None:
    try:
        return Reading(written, parse_section(written, style), steps)
    except CitationError:
        return None


def _rewritings(text: str, style: Style) -> Iterator[Rewriting]:
    """What the text may have meant, the nearest first, each with its steps."""
    yield text, ()
    trimmed = text.replace(" (", "(").replace("( ", "(").replace(" )", ")")
    spaced = () if trimmed == text else ("section_spaces",)
    if spaced:
        yield trimmed, spaced
    bodies = [(trimmed, spaced), *((body, spaced + steps) for body, steps in _with_tail(trimmed, style))]
    for body, steps in bodies:
        yield from ((body, steps),) if steps else ()
        for word, number, kind, more in _worded(body, style):
            yield from _numbered(word, number, kind, style, steps + more)
    yield from _contained(trimmed, style, spaced)


def _worded(text: str, style: Style) -> Iterator[tuple[str, str, Kind, tuple[str, ...]]]:
    """(word of the style, number, kind, steps) for the word the text opens with, or for the sign it leaves out."""
    words = style.grammar.words
    match = _WORD.match(text)
    if match is not None and not match.group(1).startswith("§§"):
        for kind in _SYNONYMS.get(match.group(1).lower(), ()):
            if kind in words:
                number = text[match.end() :]
                yield words[kind], number, kind, _word_steps(text[: match.end()], words[kind])
    if words.get("section") and not text.startswith("(") and any(char in text for char in ".("):
        yield words["section"], text, "section", ("missing_sign",)
    for kind in ("paragraph", "control", "section"):
        if words.get(kind) == "":
            yield "", text, kind, ()


def _word_steps(written: str, word: str) -> tuple[str, ...]:
    if written == word:
        return ()
    if written.casefold() == word.casefold():
        return ("case",)
    return ("section_spaces",) if written.strip() == word.strip() else ("section_word",)


def _numbered(word: str, number: str, kind: Kind, style: Style, steps: tuple[str, ...]) -> Iterator[Rewriting]:
    yield word + number, steps
    head = _LEADING_LETTERS.match(number)
    if head is not None and kind not in style.grammar.bracketed:
        yield word + head.group().upper() + number[head.end() :], (*steps, "case")
    if kind in style.grammar.bracketed and not number.startswith("("):
        yield f"{word}({number})", (*steps, "number_brackets")
    elif kind == "equation" and number.startswith("(") and number.endswith(")"):
        yield word + number[1:-1], (*steps, "number_brackets")


def _with_tail(text: str, style: Style) -> Iterator[Rewriting]:
    """The text with its tail as the style writes it: `, Exception 1` becomes ` Exception No. 1`."""
    for tail in style.grammar.tails:
        first, *rest = (re.escape(word.rstrip(".")) + r"\.?" for word in tail.split())
        optional = "".join(f"(?: {word})?" for word in rest)
        match = re.search(rf",? {first}{optional} ([0-9]+|[ivxlc]+|[a-z])$", text, LOOSE)
        if match is not None:
            written = f"{text[: match.start()]} {tail} {match.group(1).upper()}"
            yield written, ("tail_word",) if written != text else ()


def _contained(text: str, style: Style, steps: tuple[str, ...]) -> Iterator[Rewriting]:
    """`Chapter 9, Table 1` as the style writes a table in a container."""
    table = style.grammar.words.get("table")
    match = re.search(r",? (?:table|tbl)\.? (?=[^ ]+$)", text, LOOSE)
    if not style.grammar.containers or table is None or match is None:
        return
    outer = read_section(text[: match.start()], style)
    if outer is not None and outer.parsed.kind == "chapter":
        written = f"{outer.section} {table}{text[match.end() :]}"
        yield written, (*steps, "case" if written.casefold() == text.casefold() else "section_word")
