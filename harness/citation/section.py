"""Sections: what a society prints after the standard, its kind, and the section path it stands for (citations.md).

One scanner reads every kind. It moves forward only, so that it is linear in the text, and when it stops, it stops at
the first character that no section of the grammar could have there.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

Kind = Literal[
    "section",
    "article",
    "chapter",
    "commentary",
    "table",
    "figure",
    "equation",
    "appendix",
    "annex",
    "paragraph",
    "control",
    "exception",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

BARE_KINDS: Final[frozenset[Kind]] = frozenset(
    {"section", "article", "chapter", "commentary", "paragraph", "control", "exception"}
)
"""Kinds whose section path is the number alone; every other kind puts its own name first."""

_HYPHENATED: Final[frozenset[Kind]] = frozenset({"table", "figure", "equation", "appendix", "annex"})
_UNITS: Final[frozenset[Kind]] = frozenset({"chapter", "article"})
_WITH_TAIL: Final[frozenset[Kind]] = frozenset({"section", "commentary", "article"})

# Letters are capped at three, so that a word ("note") is never taken for an element; longer runs must be Roman.
_ELEMENT: Final = re.compile(r"[ivxlc]{4,8}+|[IVXLC]{4,8}+|[A-Za-z]{0,3}+(?:[0-9]++[A-Za-z]{0,3}+)?+")
_FIRST: Final = re.compile(r"[A-Z]{0,3}+(?:[0-9]++[A-Za-z]{0,3}+)?+")
_UNIT: Final = re.compile(r"[IVXLC]{4,8}+|[A-Z]{0,3}+(?:[0-9]++[A-Za-z]{0,3}+)?+")
_LETTERS: Final = re.compile(r"[A-Z]{0,4}+")
_DIGITS: Final = re.compile(r"(?:[0-9]++[A-Za-z]{0,3}+)?+")
_TAIL_VALUE: Final = re.compile(r"[0-9]++|[IVXLC]{1,8}+|[A-Z]?+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What a section string means. `path` is the wire's section_path."""

    kind: Kind
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """How one society writes sections.

    `words` maps a kind to what is printed right before its number, with its space ("§", "Table ", "" for none);
    `separators` split the path: the dot, and the hyphen if it is named; `commentary_prefix` is the letter before a
    commentary's number; `containers` are words whose number a table may follow ("ch."); `tails` may follow a section
    or article ("Part"); `bracketed` kinds print their number in round brackets. `openings` is computed: the words that
    open a section with their kinds, the longest first.
    """

    words: Mapping[Kind, str]
    separators: tuple[str, ...] = (".",)
    commentary_prefix: str | None = None
    containers: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()
    bracketed: tuple[Kind, ...] = ()
    openings: tuple[tuple[str, Kind], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # The commentary shares the section's word, and an exception is a tail: neither opens a section.
        opening = [(word, kind) for kind, word in self.words.items() if kind not in {"commentary", "exception"}]
        object.__setattr__(self, "openings", tuple(sorted(opening, key=lambda pair: -len(pair[0]))))


@dataclass(frozen=True, slots=True)
class Stop:
    """Where no section of the grammar goes on, and what could have stood there."""

    position: int
    expected: str


def scan_section(text: str, start: int, grammar: Grammar) -> tuple[Section, int] | Stop:
    """The longest section that begins at `start`, with the index behind it; else where it failed.

    Of the kinds without a word, the one whose number fits is taken; their shapes exclude each other.
    """
    stop: Stop | None = None
    for word, kind in grammar.openings:
        if not text.startswith(word, start):
            continue
        scanned = _scan_kind(text, start, kind, grammar)
        if not isinstance(scanned, Stop):
            return scanned
        if stop is None or scanned.position > stop.position:
            stop = scanned
    reached = start + max((shared_length(text, start, word) for word, _ in grammar.openings), default=0)
    if stop is None or reached > stop.position or stop.position == start:
        return Stop(reached, "a section as the style writes it")
    return stop


def reach_behind(text: str, start: int, end: int, grammar: Grammar) -> Stop:
    """How far a text that goes on behind a whole section could still be a longer one."""
    stop = Stop(end, "the end of the section")
    scanned = scan_section(text[:end], start, grammar)
    kind = "section" if isinstance(scanned, Stop) else scanned[0].kind
    if kind in _WITH_TAIL:
        for tail in grammar.tails:
            reached = end + shared_length(text, end, f" {tail} ")
            if reached > stop.position:
                stop = Stop(reached, f"{tail!r} and its number")
    word = grammar.words.get("table")
    if kind == "chapter" and word is not None and grammar.containers:
        reached = end + shared_length(text, end, f" {word}")
        if reached == end + 1 + len(word):
            number = _scan_number(text, reached, "table", grammar)
            reached = number.position if isinstance(number, Stop) else reached
        if reached > stop.position:
            stop = Stop(reached, "a table of the chapter")
    return stop


def shared_length(text: str, start: int, literal: str) -> int:
    """How many characters of `literal` the text has at `start`."""
    length = 0
    while length < len(literal) and text.startswith(literal[length], start + length):
        length += 1
    return length


def _scan_kind(text: str, start: int, kind: Kind, grammar: Grammar) -> tuple[Section, int] | Stop:
    number = start + len(grammar.words[kind])
    scanned = _scan_number(text, number, kind, grammar)
    if isinstance(scanned, Stop):
        return scanned
    path, end = scanned
    prefix = grammar.commentary_prefix
    if kind == "section" and prefix and path[0].startswith(prefix) and path[0][len(prefix) :][:1].isdigit():
        kind = "commentary"
    if grammar.containers and text[start:number].rstrip() in grammar.containers:
        contained = _scan_contained(text, start, end, grammar)
        if contained is not None:
            return contained
    if grammar.tails and kind in _WITH_TAIL:
        tail = _scan_tail(text, end, grammar)
        if tail is not None:
            name, value, end = tail
            path.append(f"{name} {value}")
            kind = "exception" if name == "exception" else kind
    if kind not in BARE_KINDS:
        path.insert(0, kind)
    return Section(kind=kind, path=tuple(path)), end


def _scan_contained(text: str, start: int, end: int, grammar: Grammar) -> tuple[Section, int] | None:
    """A table in a container: `ch. 9 Table 1`; None where no whole one follows."""
    word = " " + grammar.words.get("table", "")
    if "table" not in grammar.words or not text.startswith(word, end):
        return None
    scanned = _scan_number(text, end + len(word), "table", grammar)
    if isinstance(scanned, Stop):
        return None
    path, behind = scanned
    return Section(kind="table", path=(text[start:end], "table", *path)), behind


def _scan_tail(text: str, end: int, grammar: Grammar) -> tuple[str, str, int] | None:
    """(name, value, index behind) of the tail that follows; the name is the first word in lower case."""
    for tail in grammar.tails:
        word = f" {tail} "
        if text.startswith(word, end):
            behind = _end(_TAIL_VALUE, text, end + len(word))
            if behind > end + len(word):
                return tail.split()[0].lower(), text[end + len(word) : behind], behind
    return None


def _scan_number(text: str, start: int, kind: Kind, grammar: Grammar) -> tuple[list[str], int] | Stop:
    if kind in grammar.bracketed:
        return _scan_label(text, start)
    if kind in {"paragraph", "control"}:
        return _scan_lettered(text, start, kind, grammar)
    end = _end(_UNIT if kind in _UNITS else _FIRST, text, start)
    if end == start:
        return Stop(end, f"the number of a {kind}")
    if kind in _UNITS:
        return [text[start:end]], end
    if kind == "section" and text[start:end].isalpha():
        return Stop(end, "the digits of a section")
    hyphen = kind in _HYPHENATED or "-" in grammar.separators
    return _scan_rest(text, start, end, hyphen, grammar)


def _scan_lettered(text: str, start: int, kind: Kind, grammar: Grammar) -> tuple[list[str], int] | Stop:
    """`UG-27` or `AC-2`, and the labels behind it."""
    hyphen = _end(_LETTERS, text, start)
    if hyphen == start or not text.startswith("-", hyphen):
        return Stop(hyphen, f"letters and a hyphen, as a {kind} has")
    end = _end(_DIGITS, text, hyphen + 1)
    if end == hyphen + 1:
        return Stop(end, f"the digits of a {kind}")
    split = "-" in grammar.separators
    path = [text[start:hyphen], text[hyphen + 1 : end]] if split else [text[start:end]]
    return _scan_labels(text, end, path)


def _scan_rest(text: str, start: int, end: int, hyphen: bool, grammar: Grammar) -> tuple[list[str], int] | Stop:
    """Elements and labels behind the first element.

    A hyphen may stand once, behind no label, and nothing but labels follows its element (`Table 12.2-1`), unless only
    letters stand before it (`Table UCS-66.1`): so a range is never read as a number. It is glued unless the style
    splits at it.
    """
    path = [text[start:end]]
    dots = True
    size = len(text)
    while end < size:
        char = text[end]
        if char == "(":
            label = _scan_label(text, end)
            if isinstance(label, Stop):
                return label
            path += label[0]
            end = label[1]
            hyphen = False
            continue
        if not (char == "." and dots) and not (char == "-" and hyphen):
            break
        behind = _end(_ELEMENT, text, end + 1)
        if behind == end + 1:
            return Stop(behind, "a further element of the number")
        element = text[end + 1 : behind]
        if char == "-":
            hyphen = False
            dots = path[0].isalpha()
        if char == "-" and "-" not in grammar.separators:
            path[-1] = f"{path[-1]}-{element}"
        else:
            path.append(element)
        end = behind
    return path, end


def _scan_labels(text: str, end: int, path: list[str]) -> tuple[list[str], int] | Stop:
    while text.startswith("(", end):
        label = _scan_label(text, end)
        if isinstance(label, Stop):
            return label
        path += label[0]
        end = label[1]
    return path, end


def _scan_label(text: str, start: int) -> tuple[list[str], int] | Stop:
    """A label in round brackets is one element, dots and all."""
    if not text.startswith("(", start):
        return Stop(start, "'('")
    end = start
    while end == start or text.startswith(".", end):
        behind = _end(_ELEMENT, text, end + 1)
        if behind == end + 1:
            return Stop(behind, "a label")
        end = behind
    if not text.startswith(")", end):
        return Stop(end, "')'")
    return [text[start + 1 : end]], end + 1


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return start if match is None else match.end()
