"""How people write society, standard and edition: case, joint publishers, aliases, year first, publishers' editions.

Only the lenient parser reads this. A designation is read only if all of it is understood.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from harness.citation.folds import LOOSE
from harness.citation.style import Standard, Style

_YEAR: Final = r"(?:1[89]|20)[0-9]{2}"
_BEHIND: Final = r"(?=[ ,;§]|$)"
_MONTH: Final = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?"
_EDITIONS: Final = tuple(
    re.compile(pattern + _BEHIND, LOOSE)
    for pattern in (
        rf"[-:_.,/ ]{{0,3}}(?P<year>{_YEAR})(?: ?(?:edition|ed\.?))?",
        rf",? ?\((?P<year>{_YEAR})\)",
        rf"[-:_ ]?(?P<year>{_YEAR})(?:0[1-9]|1[0-2])",
        rf"[-:_, ]{{0,2}}(?:rev\.? ?)?{_MONTH} ?(?P<year>{_YEAR}|[0-9]{{2}})",
        rf",? ?\((?:rev\.? ?)?{_MONTH} ?(?P<year>{_YEAR}|[0-9]{{2}})\)",
        r"(?P<mark>[-:])(?P<year>[0-9]{2})",
        r",? ?\((?P<year>[0-9]{2})\)",
    )
)
_YEAR_FIRST: Final = re.compile(rf"(?:the )?(?P<year>{_YEAR})(?: edition of(?: the)?)? (?=[^ ])", LOOSE)
_DESIGNATION_WORD: Final = re.compile(r"(?:standard |std\.? |manual |code[- ]|no\.? )", LOOSE)


@dataclass(frozen=True, slots=True)
class Designation:
    """What stands before a section: a known standard, its edition (None where none is written), the rest, the steps."""

    standard: str
    edition_year: int | None
    rest: str
    steps: tuple[str, ...]


def read_designations(body: str, style: Style) -> Iterator[Designation]:
    """Each way to read the start of a citation's body, longest standard first; nothing where the society is not named.

    An alias implies the society; a bare standard does not.
    """
    written, first_year, steps = _take_year_first(body)
    named, society_steps = _take_society(written, style)
    if named is not None:
        written = named
        steps += society_steps
        if first_year is None:
            written, first_year, more = _take_year_first(written)
            steps += more
        match = _DESIGNATION_WORD.match(written)
        if match is not None:
            written = written[match.end() :]
            steps += ("designation_word",)
    for name, pattern, alias in _names(style):
        if named is None and not alias:
            continue
        match = pattern.match(written)
        if match is None:
            continue
        own = steps + (("alias",) if alias else _name_steps(match.group(), name))
        for year, rest, more in _editions(written[match.end() :], style, name):
            if first_year is None or year == first_year:
                yield Designation(name, year, rest, own + more)
            elif year is None:
                listed = first_year in style.standards[name].editions
                yield Designation(name, first_year, rest, own if listed else (*own, "edition_not_listed"))


@lru_cache(maxsize=64)
def _names(style: Style) -> tuple[tuple[str, re.Pattern[str], bool], ...]:
    """(standard, pattern, whether it is an alias) of all that a standard may be called, the longest first."""
    names = [(name, name, False) for name in style.standards]
    names += [(alias, name, True) for name, known in style.standards.items() for alias in known.aliases]
    names.sort(key=lambda entry: -len(entry[0]))
    return tuple((name, re.compile(_loosely(called), LOOSE), alias) for called, name, alias in names)


def _loosely(called: str) -> str:
    """A pattern that lets a part's hyphen be a slash, and a space stand between letters and digits."""
    spaced = re.sub(r"(?<=[A-Za-z])(?=[0-9])", " ", called)
    return "".join({"-": "[-/]", " ": " ?"}.get(char, re.escape(char)) for char in spaced)


def _name_steps(written: str, name: str) -> tuple[str, ...]:
    if written == name:
        return ()
    return ("case",) if written.casefold() == name.casefold() else ("standard_form",)


def _take_year_first(written: str) -> tuple[str, int | None, tuple[str, ...]]:
    match = _YEAR_FIRST.match(written)
    if match is None:
        return written, None, ()
    return written[match.end() :], int(match.group("year")), ("year_first",)


@lru_cache(maxsize=64)
def _society_pattern(style: Style) -> re.Pattern[str]:
    joint = "|".join(re.escape(publisher) for publisher in style.joint) or r"(?!)"
    society = re.escape(style.society)
    return re.compile(
        rf"(?P<before>(?:(?:{joint}) ?/ ?){{0,2}})(?P<society>{society})(?P<behind>(?: ?/ ?(?:{joint})){{0,2}})"
        r"(?P<gap>,? |-|(?=[0-9]))",
        LOOSE,
    )


def _take_society(written: str, style: Style) -> tuple[str | None, tuple[str, ...]]:
    match = _society_pattern(style).match(written)
    if match is None:
        return None, ()
    named = match.group("society")
    steps: tuple[str, ...] = ()
    if match.group("before") or match.group("behind"):
        steps += ("joint_society",)
    if named != style.society:
        steps += ("case",)
    if match.group("gap") != " ":
        steps += ("comma",) if match.group("gap").startswith(",") else ("society_gap",)
    return written[match.end() :], steps


def _editions(written: str, style: Style, name: str) -> Iterator[tuple[int | None, str, tuple[str, ...]]]:
    """(edition_year, rest, steps) of each edition that may be written here, and of none."""
    known = style.standards[name]
    for year, label in known.labels.items():
        match = re.match(rf",? ?{_label_pattern(label)}{_BEHIND}", written, LOOSE)
        if match is not None:
            yield year, written[match.end() :], _edition_steps(match.group(), style, name, year)
    # Where hyphen and digits are a part of another standard's designator, they are not a year of this one.
    parts = any(other != name and other.startswith(f"{name}-") for other in style.standards)
    for pattern in _EDITIONS:
        match = pattern.match(written)
        if match is None or (parts and match.groupdict().get("mark") == "-"):
            continue
        resolved = _resolve(match.group("year"), known)
        if resolved is not None:
            yield resolved, written[match.end() :], _edition_steps(match.group(), style, name, resolved)
    if re.match(r"[ ,;§]", written):
        yield None, written, ("edition_missing",) if style.prints_edition else ()


def _label_pattern(label: str) -> str:
    """`Rev. 5` is found as `rev 5` and `Revision 5` too."""
    words = (re.escape(word[:-1]) + r"[a-z]*\.?" if word.endswith(".") else re.escape(word) for word in label.split())
    return " ?".join(words)


def _edition_steps(written: str, style: Style, name: str, year: int) -> tuple[str, ...]:
    template = style.format.partition("{standard}")[2].partition("{section}")[0].rstrip()
    label = style.standards[name].labels.get(year, "")
    canonical = template.format(
        society=style.society, edition_year=f"{year:04d}", edition_yy=f"{year % 100:02d}", edition_label=label
    )
    steps = () if written == canonical else ("edition_form",)
    return steps if year in style.standards[name].editions else (*steps, "edition_not_listed")


def _resolve(digits: str, known: Standard) -> int | None:
    """A four-digit year; two digits become the listed year that ends in them, else the one nearest to the list."""
    if len(digits) == 4:
        return int(digits)
    ending = [year for year in known.editions if year % 100 == int(digits)]
    if len(ending) == 1:
        return ending[0]
    if ending or not known.editions:
        return None
    first, last = known.editions[0], known.editions[-1]
    years = sorted((max(first - year, year - last, 0), year) for year in range(int(digits) + 1800, 2200, 100))
    return years[0][1] if years[0][0] < years[1][0] else None
