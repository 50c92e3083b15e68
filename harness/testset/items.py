"""items.jsonl: held-out queries with their gold (testsets.md, Item).

Held-out text never reaches a problem: lines and fields are named, values are not.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Final

from harness.citation.model import Citation
from harness.citation.section import KINDS
from harness.testset.canary import Canary
from harness.testset.digest import ListDigest
from harness.testset.fields import (
    ISO_DATE,
    TEXTS_BY_KEY,
    YEAR,
    Place,
    Record,
    choice,
    decimal,
    list_of,
    text,
)
from harness.testset.gold import GoldReader, SectionKey
from harness.testset.identity import Identity
from harness.testset.model import Item, Terms
from harness.testset.source import Findings, JsonLine, read_jsonl

_KEYS: Final = (
    "id",
    "query",
    "citations",
    "match",
    "weight",
    "cluster",
    "tags",
    "editions",
    "added",
    "retired",
    "source",
    "canary",
)
_ID: Final = text(
    "1 to 128 characters A-Z, a-z, 0-9, '.', '_', '-'", "Write it like asme-b313-0001.", r"[A-Za-z0-9._-]{1,128}"
)
_QUERY: Final = text("a question, not empty", "Write the question.")
_MATCH: Final = choice("all", "any")
_WEIGHT: Final = decimal("above 0", lambda value: value > 0)
_TEXT: Final = text()
_EDITIONS: Final = list_of(
    YEAR, "a list of years, none twice, one at least", "Write it as [2018, 2022], or null.", least=1
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """What items are checked against; None: that file is broken, and its own problems say so."""

    identity: Identity | None
    terms: tuple[Terms, ...] | None
    catalogue: frozenset[SectionKey] | None


@dataclass(slots=True)
class ItemsReader:
    """Reads items.jsonl once from end to end: items, and the digest over their raw objects."""

    neighbours: Neighbours
    canary: Canary
    digest: ListDigest = field(default_factory=ListDigest)
    _lines: dict[str, int] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)
    _tags: dict[tuple[tuple[str, str], ...], dict[str, str]] = field(default_factory=dict)

    def read(self, path: Path, findings: Findings) -> tuple[Item, ...]:
        """The items in file order; what is wrong is noted, and an item with a defect is left out."""
        gold = GoldReader(self.neighbours.identity, self.neighbours.catalogue)
        items = []
        for line in read_jsonl(path, findings):
            item = self._read_item(line, findings, gold)
            if item is not None:
                items.append(item)
                if not findings.problems:
                    self.digest.add(line.value)
        self.canary.finish_lines(findings)
        if not items and not findings.problems:
            findings.add(
                found="no item", expected="one item a line", remedy="Add items, or remove the society's folder."
            )
        return tuple(items)

    def _read_item(self, line: JsonLine, findings: Findings, gold: GoldReader) -> Item | None:
        before = len(findings.problems)
        place = Place(findings=findings, line=line.number, shown=False)
        record = Record(line.value, place, _KEYS)
        item_id = self._read_id(record, line.number)
        query = record.need("query", _QUERY)
        citations = self._read_citations(record, gold)
        match = record.take("match", _MATCH, "all")
        weight = record.take("weight", _WEIGHT, "1")
        cluster = record.optional("cluster", _TEXT)
        tags = self._read_tags(record)
        editions = record.optional("editions", _EDITIONS)
        added = record.optional("added", ISO_DATE)
        retired = record.optional("retired", ISO_DATE)
        record.optional("source", _TEXT)
        self.canary.meet(record, line.number)
        _check_dates(place, added, retired)
        if len(findings.problems) > before or item_id is None or query is None:
            return None
        item = Item(
            id=item_id,
            query=query,
            citations=citations,
            match="any" if match == "any" else "all",
            weight=self._share(weight),
            cluster=None if cluster is None else self._share(cluster),
            tags=tags,
            editions=editions,
            added=added,
            retired=retired,
            line=line.number,
        )
        self._check_corpus(item, place)
        self._check_editions(item, place)
        return item if len(findings.problems) == before else None

    def _read_id(self, record: Record, number: int) -> str | None:
        item_id = record.need("id", _ID)
        if item_id is None:
            return None
        first = self._lines.setdefault(item_id, number)
        if first != number:
            record.place.note(
                "id",
                found=f"{item_id!r} again, first on line {first}",
                expected="each id once in the society",
                remedy="Give one of the two another id.",
            )
        return item_id

    def _read_citations(self, record: Record, gold: GoldReader) -> tuple[Citation, ...]:
        rows = record.tables("citations", required=True)
        if not rows and record.raw.get("citations") == []:
            record.place.note(
                "citations",
                found="an empty list",
                expected="one gold citation at least",
                remedy="Add the gold citation.",
            )
        citations: list[Citation] = []
        for raw, place in rows:
            citation = gold.read(raw, place)
            if citation in citations:
                place.note(
                    found="the same gold again", expected="each gold citation once", remedy="Take one of them out."
                )
            elif citation is not None:
                citations.append(citation)
        return tuple(citations)

    def _read_tags(self, record: Record) -> dict[str, str]:
        """The tags, one shared value for equal ones; kind and standard are published, so they are no free text."""
        tags = record.take("tags", TEXTS_BY_KEY, {})
        key = tuple(tags.items())
        if key not in self._tags:
            before = len(record.place.findings.problems)
            inner = Record(tags, record.place.below("tags"), tags)
            inner.optional("kind", choice(*KINDS))
            if self.neighbours.identity is not None:
                inner.optional("standard", choice(*self.neighbours.identity.style.standards))
            if len(record.place.findings.problems) > before:
                return {}
            self._tags[key] = dict(tags)
        return self._tags[key]

    def _share(self, value: str) -> str:
        return self._texts.setdefault(value, value)

    def _check_corpus(self, item: Item, place: Place) -> None:
        """One call asks one corpus, so all gold of an item lies in one."""
        identity = self.neighbours.identity
        if identity is not None and not identity.corpora_of({citation.standard for citation in item.citations}):
            place.note(
                "citations",
                found="gold that no single gateway corpus holds",
                expected=f"standards of one of the corpora {', '.join(identity.corpora)}",
                remedy="Split the item, or complete [corpora] in society.toml.",
            )

    def _check_editions(self, item: Item, place: Place) -> None:
        """Each gold edition is one that the item asks for, or contracted while the item counts."""
        standards = {citation.standard for citation in item.citations}
        if item.editions is not None:
            self._check_asked(item.editions, standards, place)
            named = ", ".join(map(str, item.editions))
            for index in _outside(item, dict.fromkeys(standards, item.editions)):
                _note_edition(
                    item, index, place, f"one of the item's editions, {named}", "Correct the gold or the editions."
                )
            return
        in_force = [terms for terms in self.neighbours.terms or () if _meet(item, terms)]
        contracted = {standard: _contracted(standard, in_force) for standard in standards}
        for index in _outside(item, contracted) if in_force else ():
            years = contracted[item.citations[index].standard]
            named = ", ".join("null" if year is None else str(year) for year in years)
            expected = f"an edition contracted while the item counts, {named or 'of which the standard has none'}"
            remedy = "Correct the gold, contract the edition in terms.toml, or ask for it by editions."
            _note_edition(item, index, place, expected, remedy)

    def _check_asked(self, editions: tuple[int, ...], standards: set[str], place: Place) -> None:
        if self.neighbours.identity is None:
            return
        style = self.neighbours.identity.style
        listed = sorted({year for standard in standards for year in style.standards[standard].editions})
        unknown = [str(year) for year in editions if year not in listed]
        if unknown:
            place.note(
                "editions",
                found=", ".join(unknown),
                expected=f"editions that the style lists, {', '.join(map(str, listed)) or 'none'}",
                remedy="Correct the year or add it to society.toml.",
            )


def _outside(item: Item, allowed: Mapping[str, tuple[int | None, ...]]) -> list[int]:
    """Positions of the gold citations whose edition is not allowed for their standard."""
    return [
        index
        for index, citation in enumerate(item.citations)
        if citation.edition_year not in allowed[citation.standard]
    ]


def _note_edition(item: Item, index: int, place: Place, expected: str, remedy: str) -> None:
    year = item.citations[index].edition_year
    place.note(
        "citations",
        index,
        "edition_year",
        found="null" if year is None else str(year),
        expected=expected,
        remedy=remedy,
    )


def _check_dates(place: Place, added: date | None, retired: date | None) -> None:
    if added is not None and retired is not None and retired <= added:
        place.note(
            "retired",
            found=str(retired),
            expected=f"a date after added, {added}",
            remedy="An item counts from added to the night before retired; correct one of the two.",
        )


def _meet(item: Item, terms: Terms) -> bool:
    """Whether there is a night on which the item counts and the version is in force."""
    return (item.retired is None or terms.effective_from < item.retired) and (
        terms.effective_to is None or item.added is None or item.added <= terms.effective_to
    )


def _contracted(standard: str, in_force: Iterable[Terms]) -> tuple[int | None, ...]:
    """The editions of the standard contracted by any of the versions; None for an undated one."""
    years: dict[int | None, None] = {}
    for terms in in_force:
        if standard in terms.editions:
            years.update(dict.fromkeys(terms.editions[standard] or (None,)))
    return tuple(years)
