"""One-line makers of styles, gold, passages, items and terms; the default gold is `[ASME B31.3 §304.1.2]` of 2022."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, Literal

from harness.citation.model import FIELDS, Citation
from harness.citation.style import Style
from harness.scoring.model import ItemScore, Response, ScoringTerms
from harness.scoring.verdicts import score_item
from harness.testset.model import Item

_WORDS: Final = {"section": "§", "chapter": "ch. ", "table": "Table ", "figure": "Figure "}
_TABLES: Final[Mapping[str, Mapping[str, Any]]] = {
    "ASME": {
        "format": "[{society} {standard} {section}]",
        "words": _WORDS,
        "standards": {"B31.3": {"editions": [2016, 2018, 2020, 2022]}, "B31.1": {"editions": [2022]}},
    },
    "AWWA": {
        "format": "[{society} {standard} {section}]",
        "words": _WORDS,
        "standards": {"M11": {"editions": [2017]}},
    },
    "NFPA": {
        "format": "[{society} {standard} {section}]",
        "containment": "article",
        "words": {**_WORDS, "article": "art. "},
        "standards": {"70": {"editions": [2020, 2023], "aliases": ["NEC"]}},
    },
    "SAE": {
        "format": "[{society} {standard}:{edition_year} {section}]",
        "words": _WORDS,
        "standards": {"J1939-21": {"editions": [2001, 2022, 2024]}},
    },
    "ACI": {
        "format": "[{society} {standard}-{edition_yy} {section}]",
        "commentary_prefix": "R",
        "words": {**_WORDS, "commentary": "§"},
        "standards": {"318": {"editions": [2014, 2019]}},
    },
    "ICC": {
        "format": "[{society} {standard} {edition_year} {section}]",
        "containment": "leading_digits",
        "words": _WORDS,
        "standards": {"IBC": {"editions": [2021, 2024]}},
    },
}
EDITIONS: Final = {"B31.3": (2022,)}


@cache
def style(society: str = "ASME") -> Style:
    """That society's style, as a folder would declare it."""
    return Style.from_table(_TABLES[society], society=society)


def styles() -> tuple[Style, ...]:
    """Every style of the table."""
    return tuple(style(society) for society in _TABLES)


def gold(last: str = "2", **changes: Any) -> Citation:
    """A gold citation of §304.1.`last`, with other fields as told."""
    fields: dict[str, Any] = {
        "society": "ASME",
        "standard": "B31.3",
        "section": f"§304.1.{last}",
        "edition_year": 2022,
        "section_path": ("304", "1", last),
        "citation": f"[ASME B31.3 §304.1.{last}]",
    }
    return Citation(**(fields | changes))


def passage(last: str = "2", **changes: Any) -> dict[str, Any]:
    """A returned passage that cites §304.1.`last`, with other keys as told."""
    citation = gold(last)
    keys: dict[str, Any] = {name: getattr(citation, name) for name in FIELDS}
    return keys | {"section_path": list(citation.section_path), "text": "words"} | changes


def item(*citations: Citation, **changes: Any) -> Item:
    """An item with these gold citations, one default one if none is given."""
    fields: dict[str, Any] = {"id": "x", "query": "q", "citations": citations or (gold(),)}
    return Item(**(fields | changes))


def terms(**changes: Any) -> ScoringTerms:
    """Terms of ASME with B31.3 of 2022 contracted, all checks, top_k 5."""
    fields: dict[str, Any] = {
        "society": "ASME",
        "style": style(changes.get("society", "ASME")),
        "editions": EDITIONS,
        "top_k": 5,
        "checks": FIELDS,
    }
    return ScoringTerms(**(fields | changes))


def response(*passages: Any, status: Literal["ok", "gateway_error", "harness_error"] = "ok") -> Response:
    """A response with these passages."""
    return Response(status=status, passages=passages)


def score(*passages: Any, of: Item | None = None, under: ScoringTerms | None = None) -> ItemScore:
    """The score of a usable response with these passages."""
    return score_item(of or item(), response(*passages), under or terms())
