"""Faults in what a passage says of itself: its text stays, its citation or its fields become wrong."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from harness.citation.model import FIELDS
from harness.citation.style import Style
from harness.reference.corpus import Corpus, Library, Passage
from harness.reference.faults import Fault

Wire = dict[str, Any]

_LAST_ELEMENT: Final = re.compile(r"(?:\([^()]*\)|\.[^.()]+)$")
_NO_BREAK_SPACE: Final = "\u00a0"
_EN_DASH: Final = "\u2013"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoiling:
    """What a passage fault needs to know: the corpus of the passage, the styles, and a draw in [0, 1)."""

    library: Library
    corpus: Corpus
    place: float


def spoil(fault: Fault, passage: Passage, spoiling: Spoiling) -> Wire:
    """The passage as it is sent under that fault; faults of other kinds leave it as it is."""
    relabel = _RELABELS.get(fault)
    if relabel is not None:
        return relabel(passage, spoiling).wire()
    rewrite = _REWRITES.get(fault)
    return passage.wire() if rewrite is None else rewrite(passage.wire(), spoiling)


def _cited(passage: Passage, style: Style, section: str, path: tuple[str, ...]) -> Passage:
    """The passage under another section, its citation printed even where the strict grammar would refuse it."""
    head = style.head(passage.standard, passage.edition_year)
    return replace(passage, section=section, section_path=path, citation=f"{head}{section}{style.suffix}")


def _wrong_edition(passage: Passage, spoiling: Spoiling) -> Passage:
    """The edition before, or after the first one; an undated standard stays as it is."""
    style = spoiling.library.styles[passage.society]
    years = style.standards[passage.standard].editions
    others = [year for year in years if year != passage.edition_year]
    if passage.edition_year is None or not others:
        return passage
    earlier = [year for year in others if year < passage.edition_year]
    dated = replace(passage, edition_year=earlier[-1] if earlier else others[0])
    return _cited(dated, style, passage.section, passage.section_path)


def _sibling_section(passage: Passage, spoiling: Spoiling) -> Passage:
    """A section beside it in the corpus, else the one that follows it there."""
    edition = [
        other
        for other in spoiling.corpus.passages
        if (other.society, other.standard, other.edition_year)
        == (passage.society, passage.standard, passage.edition_year)
    ]
    siblings = [
        other
        for other in edition
        if other.section_path[:-1] == passage.section_path[:-1] and other.section != passage.section
    ]
    if not siblings:
        place = next(number for number, other in enumerate(edition) if other.section == passage.section)
        siblings = [edition[(place + 1) % len(edition)]]
    sibling = siblings[int(spoiling.place * len(siblings))]
    return _cited(passage, spoiling.library.styles[passage.society], sibling.section, sibling.section_path)


def _parent_section(passage: Passage, spoiling: Spoiling) -> Passage:
    """The section around it; one at the top stays as it is."""
    section = _LAST_ELEMENT.sub("", passage.section)
    if len(passage.section_path) < 2 or section == passage.section:
        return passage
    style = spoiling.library.styles[passage.society]
    return _cited(passage, style, section, passage.section_path[:-1])


def _default_format(passage: Passage, spoiling: Spoiling) -> Passage:
    style = spoiling.library.styles[passage.society].with_default_format()
    return _cited(passage, style, passage.section, passage.section_path)


def _citation(change: Callable[[str], str]) -> Callable[[Wire, Spoiling], Wire]:
    return lambda wire, _: wire | {"citation": change(wire["citation"])}


def _en_dash(wire: Wire, _: Spoiling) -> Wire:
    return wire | {name: wire[name].replace("-", _EN_DASH) for name in ("citation", "section")}


def _year_string(wire: Wire, _: Spoiling) -> Wire:
    return wire | {"edition_year": str(wire["edition_year"])}


def _path_numbers(wire: Wire, _: Spoiling) -> Wire:
    return wire | {"section_path": [int(each) if each.isdecimal() else each for each in wire["section_path"]]}


def _missing_field(wire: Wire, spoiling: Spoiling) -> Wire:
    dropped = FIELDS[int(spoiling.place * len(FIELDS))]
    return {name: value for name, value in wire.items() if name != dropped}


def _markup(wire: Wire, _: Spoiling) -> Wire:
    return wire | {
        "citation": f"<b>{wire['citation']}</b>",
        "text": f"<script>alert(1)</script>{wire['text']}",
        "section": f'<a href="javascript:alert(1)">{wire["section"]}</a>',
    }


_RELABELS: Final[Mapping[Fault, Callable[[Passage, Spoiling], Passage]]] = {
    Fault.WRONG_EDITION: _wrong_edition,
    Fault.SIBLING_SECTION: _sibling_section,
    Fault.PARENT_SECTION: _parent_section,
    Fault.DEFAULT_FORMAT: _default_format,
}
_REWRITES: Final[Mapping[Fault, Callable[[Wire, Spoiling], Wire]]] = {
    Fault.DOUBLE_SPACE: _citation(lambda text: text.replace(" ", "  ", 1)),
    Fault.NO_BREAK_SPACE: _citation(lambda text: text.replace(" ", _NO_BREAK_SPACE, 1)),
    Fault.MISSING_BRACKETS: _citation(lambda text: text.removeprefix("[").removesuffix("]")),
    Fault.EN_DASH: _en_dash,
    Fault.YEAR_STRING: _year_string,
    Fault.PATH_NUMBERS: _path_numbers,
    Fault.MISSING_FIELD: _missing_field,
    Fault.MARKUP: _markup,
}
