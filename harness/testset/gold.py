"""Gold citations: each parses strictly under the style and agrees with its own fields (testsets.md, Item).

Gold is held out: a problem names the field, the place in the string and what was expected, never what stands there.
"""

from collections.abc import Mapping
from typing import Any, Final

from harness.citation.error import CitationError
from harness.citation.lenient import find_citation
from harness.citation.model import FIELDS, Citation
from harness.citation.parse import parse_citation
from harness.citation.style import Style
from harness.testset.fields import SECTION_PATH, YEARS, Kind, Place, Record, Refused, text
from harness.testset.identity import Identity, refusal

SectionKey = tuple[str, int | None, str]
"""Standard, edition year and section: what a catalogue lists."""

_TEXT: Final = text()


def _read_edition(value: Any) -> tuple[int | None]:
    if value is None or (type(value) is int and value in YEARS):
        return (value,)
    raise Refused


EDITION: Final = Kind("a year, or null for an undated standard", "Write it without quotes, like 2022.", _read_edition)
"""A year or null, in a tuple of one, so that null is told from a refused value."""


class GoldReader:
    """Reads gold objects; equal ones become one shared value, and each is parsed once.

    Without an identity (society.toml is broken) only types are checked; `catalogue` is None where it is not complete.
    """

    def __init__(self, identity: Identity | None, catalogue: frozenset[SectionKey] | None) -> None:
        self._identity = identity
        self._catalogue = catalogue
        self._known: dict[Citation, Citation] = {}

    def read(self, raw: Mapping[str, Any], place: Place) -> Citation | None:
        """The gold citation; None, with every reason noted, where any of it is wrong."""
        record = Record(raw, place, FIELDS)
        society = record.need("society", _TEXT)
        standard = record.need("standard", _TEXT)
        section = record.need("section", _TEXT)
        edition = record.need("edition_year", EDITION)
        path = record.need("section_path", SECTION_PATH)
        citation = record.need("citation", _TEXT)
        if (
            society is None
            or standard is None
            or section is None
            or edition is None
            or path is None
            or citation is None
        ):
            return None
        gold = Citation(
            society=society,
            standard=standard,
            section=section,
            edition_year=edition[0],
            section_path=path,
            citation=citation,
        )
        shared = self._known.get(gold)
        if shared is not None:
            return shared
        if self._identity is not None and not self._agrees(gold, place, self._identity):
            return None
        self._known[gold] = gold
        return gold

    def _agrees(self, gold: Citation, place: Place, identity: Identity) -> bool:
        before = len(place.findings.problems)
        if gold.society != identity.id:
            place.note("society", found="another society", expected=identity.id, remedy="Write the id of society.toml.")
        try:
            parsed = parse_citation(gold.citation, identity.style)
        except CitationError as error:
            place.note(
                "citation",
                found=f"a string that the strict parser refuses at {refusal(error)}",
                expected=error.expected,
                remedy=_near_miss(gold.citation, identity.style),
            )
            return False
        for field in ("standard", "section", "section_path", "edition_year"):
            printed = getattr(parsed, field)
            if getattr(gold, field) != printed and not (field == "edition_year" and printed is None):
                place.note(
                    field,
                    found=f"another {field} than the string has",
                    expected="the fields that the string parses to",
                    remedy="Make the two agree.",
                )
        if len(place.findings.problems) == before:
            self._check_known(gold, place, identity)
        return len(place.findings.problems) == before

    def _check_known(self, gold: Citation, place: Place, identity: Identity) -> None:
        editions = identity.style.standards[gold.standard].editions
        if gold.edition_year not in (editions or (None,)):
            place.note(
                "edition_year",
                found=_year(gold.edition_year),
                expected=f"an edition that the style lists, {', '.join(map(str, editions)) or 'null'}",
                remedy="Correct the year or add it to society.toml.",
            )
        elif self._catalogue is not None and (gold.standard, gold.edition_year, gold.section) not in self._catalogue:
            place.note(
                "section",
                found="a section that catalogue.jsonl does not list for this edition",
                expected="a section of the catalogue, which is complete",
                remedy="Correct the gold or the catalogue.",
            )


def _year(year: int | None) -> str:
    return "null" if year is None else str(year)


def _near_miss(text: str, style: Style) -> str:
    """What the lenient parser makes of a refused string, by the names of its steps; the string itself is not shown."""
    found = find_citation(text, style)
    if found.citation is not None:
        return f"Write it as the style prints it; it can be read by these steps: {', '.join(found.steps)}."
    if found.kind in {"range", "list"}:
        return f"It reads as a {found.kind}; write one gold citation for each section."
    return f"Write it as the style prints it: {style.format}."
