"""Every style there is to test, and canonical citations drawn from it without asking the parser."""

import tomllib
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import settings
from hypothesis import strategies as st

from harness.citation.section import Kind
from harness.citation.style import Style
from tests.shared import ROOT, TESTSETS

LAW: Final = settings(max_examples=60, deadline=None)
"""Examples per law and style; no deadline, because the machine may be busy."""

FILES: Final = {
    **{path.parent.name: path for path in sorted(TESTSETS.glob("*/society.toml"))},
    **{path.stem: path for path in sorted((ROOT / "tests" / "citation").glob("nist*.toml"))},
}


def society_table(name: str) -> dict[str, Any]:
    """A society.toml as it is written."""
    return tomllib.loads(FILES[name].read_text(encoding="utf-8"))


def society_style(name: str) -> Style:
    table = society_table(name)
    return Style.from_table(table["style"], society=table["id"])


STYLES: Final = {name: society_style(name) for name in FILES}


@dataclass(frozen=True, slots=True)
class Drawn:
    """Fields of a citation and what they should print, put together here piece by piece."""

    standard: str
    edition_year: int | None
    section: str
    section_path: tuple[str, ...]
    kind: Kind

    def printed(self, style: Style) -> str:
        year = self.edition_year or 0
        label = style.standards[self.standard].labels.get(year, "")
        return (
            style.format.replace("{society}", style.society)
            .replace("{standard}", self.standard)
            .replace("{edition_year}", str(year))
            .replace("{edition_yy}", str(year)[2:])
            .replace("{edition_label}", label)
            .replace("{section}", self.section)
        )


_DIGITS: Final = st.integers(1, 9999).map(str)
_ELEMENT: Final = st.one_of(
    _DIGITS,
    st.builds("{}{}".format, _DIGITS, st.sampled_from("ABMa")),
    st.sampled_from(("a", "B", "X1", "iii", "viii")),
)
_LABEL: Final = st.sampled_from(("a", "B", "1", "12", "iv", "xviii", "2.1", "3a"))
_LETTERS: Final = st.sampled_from(("", "", "M", "K", "AA"))
_ROMAN: Final = st.sampled_from(("II", "VIII", "XI"))


@st.composite
def citations(draw: st.DrawFn, style: Style) -> Drawn:
    """A citation that the style prints, with any standard and edition it lists and any kind it has."""
    grammar = style.grammar
    standard = draw(st.sampled_from([name for name, known in style.standards.items() if known.editions]))
    year = draw(st.sampled_from(style.standards[standard].editions))
    kinds = [kind for kind in grammar.words if kind not in ("commentary", "exception")]
    kinds += ["commentary"] if grammar.commentary_prefix else []
    kind = draw(st.sampled_from(kinds))
    word = grammar.words["section" if kind == "commentary" else kind]
    number, path = _number(draw, style, kind)
    section = word + number
    if kind in ("section", "article") and grammar.tails and draw(st.booleans()):
        tail, value = draw(st.sampled_from([(tail, value) for tail in grammar.tails for value in ("1", "III", "B")]))
        section = f"{section} {tail} {value}"
        path = [*path, f"{tail.split()[0].lower()} {value}"]
        kind = "exception" if tail.startswith("Exception") else kind
    elif kind == "chapter" and grammar.containers and draw(st.booleans()):
        number, path = _number(draw, style, "table")
        path = [section, "table", *path]
        section = f"{section} {grammar.words['table']}{number}"
        kind = "table"
    elif kind in ("table", "figure", "equation", "appendix", "annex"):
        path = [kind, *path]
    return Drawn(standard, year, section, tuple(path), kind)


def _number(draw: st.DrawFn, style: Style, kind: Kind) -> tuple[str, list[str]]:
    grammar = style.grammar
    if kind in grammar.bracketed:
        label = draw(_LABEL)
        return f"({label})", [label]
    if kind in ("chapter", "article"):
        unit = draw(st.one_of(_DIGITS, _ROMAN))
        return unit, [unit]
    if kind in ("paragraph", "control"):
        letters, digits = draw(st.sampled_from(("UG", "AC", "PW"))), draw(_DIGITS)
        number, path = f"{letters}-{digits}", [f"{letters}-{digits}"]
        return _labelled(draw, number, [letters, digits] if "-" in grammar.separators else path)
    first = (grammar.commentary_prefix or "") if kind == "commentary" else draw(_LETTERS)
    first += draw(_DIGITS)
    number, path = first, [first]
    for element in draw(st.lists(_ELEMENT, max_size=4)):
        number += f".{element}"
        path.append(element)
    splits = "-" in grammar.separators
    if (splits or kind not in ("section", "commentary")) and draw(st.booleans()):
        element = draw(_ELEMENT)
        number += f"-{element}"
        path = [*path, element] if splits else [*path[:-1], f"{path[-1]}-{element}"]
    return _labelled(draw, number, path)


def _labelled(draw: st.DrawFn, number: str, path: list[str]) -> tuple[str, list[str]]:
    labels = draw(st.lists(_LABEL, max_size=2))
    return number + "".join(f"({label})" for label in labels), path + labels
