"""Why an expectation was not correct, in shapes (scoring.md, Diagnosis): for people, never part of the score.

No verdict or measure imports this (law 3). A diagnosis holds names of shapes only, no text of gold or passage, so that
its counts may be published.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

from harness.citation.containment import relation
from harness.citation.lenient import Found, find_citation, fold_lookalikes
from harness.citation.model import FIELDS, Citation
from harness.citation.parse import parse_section
from harness.citation.style import Style
from harness.scoring.checks import best_alternative
from harness.scoring.model import ScoringTerms
from harness.scoring.passages import is_consistent, is_edition_compliant, is_in_catalogue, keys_of

STRING_SHAPES: Final = (
    "absent",
    "not_a_string",
    "whitespace",
    "lookalike",
    "case",
    "brackets",
    "style",
    "edition",
    "society",
    "standard",
    "section:ancestor",
    "section:descendant",
    "section:sibling",
    "section:other",
    "unparseable",
)
"""In the order they are tried; the first that applies is told."""

FIELD_SHAPES: Final = ("absent", "type", "value")
PASSAGE_SHAPES: Final = (
    "edition_not_contracted",
    "string_disagrees_with_fields",
    "not_in_catalogue",
    "unescaped_markup",
)

_MARKUP: Final = re.compile(r"<[A-Za-z/!?]")
_BRACKETS: Final = "[](){}<>［］（）【】〔〕"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What is wrong with an expectation's passage.

    `string` is the shape of the citation string (None: equal to the gold, or not contracted); `fields` the shape of
    each contracted field that failed; `passage` every shape of the passage by itself, in `PASSAGE_SHAPES` order.
    """

    string: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    passage: tuple[str, ...] = ()


def diagnose(
    alternatives: tuple[Citation, ...],
    passage: Any,
    terms: ScoringTerms,
    styles: Sequence[Style] = (),
    asked: tuple[int, ...] | None = None,
) -> Diagnosis:
    """The diagnosis of an expectation against its aligned passage; None stands for no passage.

    `styles` are the other societies' styles, `asked` the editions of a cross-edition item. Of several acceptable
    citations the best alternative is compared, as in the score. Whatever stands in the passage, nothing is raised.
    """
    gold, checks = best_alternative(alternatives, passage, terms.checks)
    if all(checks):
        return Diagnosis()
    keys = keys_of(passage)
    failed = [name for name, true in zip(terms.checks, checks, strict=True) if not true]
    others = tuple(style for style in styles if style.society != terms.society)
    return Diagnosis(
        string=_string_shape(keys, gold, terms.style, others) if "citation" in failed else None,
        fields={name: _field_shape(name, keys) for name in failed if name != "citation"},
        passage=tuple(_passage_shapes(keys, terms, others, asked)) if keys else (),
    )


def _field_shape(name: str, keys: Mapping[str, Any]) -> str:
    """`absent`, `type` (not a JSON value that the field can have) or `value`."""
    if name not in keys:
        return "absent"
    value = keys[name]
    if name == "edition_year":
        fits = value is None or type(value) is int
    elif name == "section_path":
        fits = type(value) is list and all(type(element) is str for element in value)
    else:
        fits = type(value) is str
    return "value" if fits else "type"


def _passage_shapes(
    keys: Mapping[str, Any], terms: ScoringTerms, others: tuple[Style, ...], asked: tuple[int, ...] | None
) -> Iterator[str]:
    """The shapes of the passage by itself; one of another society is held against that society's style alone."""
    own = keys.get("society") == terms.society
    if own and not is_edition_compliant(keys, asked, terms):
        yield "edition_not_contracted"
    style = terms.style if own else next((other for other in others if other.society == keys.get("society")), None)
    if style is not None and not is_consistent(keys, replace(terms, style=style)):
        yield "string_disagrees_with_fields"
    if own and is_in_catalogue(keys, terms) is False:
        yield "not_in_catalogue"
    if any(_MARKUP.search(text) for text in _texts(keys)):
        yield "unescaped_markup"


def _texts(keys: Mapping[str, Any]) -> Iterator[str]:
    for name in FIELDS:
        value = keys.get(name)
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str):
                yield text


def _string_shape(keys: Mapping[str, Any], gold: Citation, own: Style, others: tuple[Style, ...]) -> str:
    if "citation" not in keys:
        return "absent"
    text = keys["citation"]
    if not isinstance(text, str):
        return "not_a_string"
    wanted, given = gold.citation, text
    for shape, fold in _FOLDS:
        wanted, given = fold(wanted), fold(given)
        if wanted == given:
            return shape
    if any(_folded(printed) == given for printed in _other_printings(gold, own, others)):
        return "style"
    return _meaning_shape(text, gold, own, others)


def _without_spaces(text: str) -> str:
    return "".join(text.split())


def _without_lookalikes(text: str) -> str:
    return _without_spaces(fold_lookalikes(text))


def _without_brackets(text: str) -> str:
    return text.strip(_BRACKETS)


_FOLDS: Final[tuple[tuple[str, Callable[[str], str]], ...]] = (
    ("whitespace", _without_spaces),
    ("lookalike", _without_lookalikes),
    ("case", str.casefold),
    ("brackets", _without_brackets),
)
"""Taken one upon the other: a string that differs in white space and case has the shape `case`."""


def _folded(text: str) -> str:
    for _, fold in _FOLDS:
        text = fold(text)
    return text


def _other_printings(gold: Citation, own: Style, others: tuple[Style, ...]) -> Iterator[str]:
    """The gold's fields in the default format and in every other society's, with either one's section words."""
    kind = parse_section(gold.section, own).kind
    own_word = own.grammar.words.get(kind, "")
    for style in (own.with_default_format(), *others):
        if style.prints_edition and gold.edition_year is None:
            continue
        printing = _as_society(style, gold.society)
        head = printing.head(gold.standard, gold.edition_year)
        yield f"{head}{gold.section}{printing.suffix}"
        word = style.grammar.words.get(kind)
        if word is not None and gold.section.startswith(own_word):
            yield f"{head}{word}{gold.section.removeprefix(own_word)}{printing.suffix}"


def _meaning_shape(text: str, gold: Citation, own: Style, others: tuple[Style, ...]) -> str:
    """In what the citation that the lenient parser finds differs from the gold; `style` where in nothing."""
    society, found = _find(text, own, others)
    if found.kind == "none":
        return "unparseable"
    cited = found.citation
    if cited is None:  # a range or a list
        return "section:other" if society == gold.society else "society"
    same_standard = (cited.society, cited.standard) == (gold.society, gold.standard)
    if same_standard and cited.edition_year not in (None, gold.edition_year):
        return "edition"
    if cited.society != gold.society:
        return "society"
    if cited.standard != gold.standard:
        return "standard"
    related = relation(own, parse_section(cited.section, own), parse_section(gold.section, own))
    return "style" if related == "same" else f"section:{related}"


def _find(text: str, own: Style, others: tuple[Style, ...]) -> tuple[str, Found]:
    """The first reading, and whose it is: this style's, another society's, or this one's under another name."""
    renamed = (_as_society(own, other.society) for other in others)
    for style in (own, *others, *renamed):
        found = find_citation(text, style)
        if found.kind != "none":
            return style.society, found
    return own.society, Found(kind="none")


@lru_cache(maxsize=256)
def _as_society(style: Style, society: str) -> Style:
    """The style as if it were that society's."""
    return replace(style, society=society)
