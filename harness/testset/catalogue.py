"""catalogue.jsonl: the sections that exist; corpus.jsonl: passages for the reference gateway (testsets.md)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from harness.citation.error import CitationError
from harness.citation.parse import parse_section
from harness.testset.canary import Canary
from harness.testset.fields import SECTION_PATH, Place, Record, text
from harness.testset.gold import EDITION, SectionKey
from harness.testset.identity import Identity, refusal
from harness.testset.model import CatalogueEntry
from harness.testset.source import Findings, read_jsonl

_KEYS: Final = ("standard", "edition_year", "section", "section_path", "canary")
_CORPUS_KEYS: Final = ("society", *_KEYS[:-1], "text", "canary")
_TEXT: Final = text()


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusPassage:
    """A passage of the reference gateway: its section, and a text in our own words."""

    entry: CatalogueEntry
    text: str = field(repr=False)


def read_catalogue(
    path: Path, findings: Findings, identity: Identity | None, canary: Canary
) -> tuple[CatalogueEntry, ...]:
    """The entries in file order; what is wrong, and a section listed twice in an edition, is noted and left out."""
    entries: dict[SectionKey, CatalogueEntry] = {}
    lines: dict[SectionKey, int] = {}
    for line in read_jsonl(path, findings):
        record = Record(line.value, Place(findings=findings, line=line.number, shown=False), _KEYS)
        canary.meet(record, line.number)
        entry = _read_entry(record, identity)
        if entry is None:
            continue
        key = (entry.standard, entry.edition_year, entry.section)
        if key in entries:
            record.place.note(
                "section",
                found=f"a section that line {lines[key]} lists for the same edition",
                expected="each section of an edition once",
                remedy="Take one of the lines out.",
            )
            continue
        entries[key] = entry
        lines[key] = line.number
    canary.finish_lines(findings)
    return tuple(entries.values())


def read_corpus(
    path: Path,
    findings: Findings,
    identity: Identity | None,
    canary: Canary,
    catalogue: frozenset[SectionKey] | None = None,
) -> Iterator[CorpusPassage]:
    """The passages one by one, memory flat; what is wrong is noted and left out.

    `catalogue` None: the folder has no complete one to compare with.
    """
    for line in read_jsonl(path, findings):
        record = Record(line.value, Place(findings=findings, line=line.number, shown=False), _CORPUS_KEYS)
        canary.meet(record, line.number)
        society = record.optional("society", _TEXT)
        if identity is not None and society is not None and society != identity.id:
            record.place.note(
                "society", found="another society", expected=identity.id, remedy="Write the id of society.toml."
            )
        entry = _read_entry(record, identity)
        passage = record.need("text", _TEXT)
        if entry is None or passage is None:
            continue
        if catalogue is not None and (entry.standard, entry.edition_year, entry.section) not in catalogue:
            record.place.note(
                "section",
                found="a section that catalogue.jsonl does not list for this edition",
                expected="a section of the catalogue, which is complete",
                remedy="Correct the line or the catalogue.",
            )
            continue
        yield CorpusPassage(entry=entry, text=passage)
    canary.finish_lines(findings)


def _read_entry(record: Record, identity: Identity | None) -> CatalogueEntry | None:
    standard = record.need("standard", _TEXT)
    edition = record.need("edition_year", EDITION)
    section = record.need("section", _TEXT)
    path = record.need("section_path", SECTION_PATH)
    if standard is None or edition is None or section is None or path is None:
        return None
    entry = CatalogueEntry(standard=standard, edition_year=edition[0], section=section, section_path=path)
    return entry if identity is None or _agrees(entry, record.place, identity) else None


def _agrees(entry: CatalogueEntry, place: Place, identity: Identity) -> bool:
    """Whether the style lists the edition and reads the section as its path; why not is noted."""
    before = len(place.findings.problems)
    style = identity.style
    known = style.standards.get(entry.standard)
    if known is None:
        place.note(
            "standard",
            found="a standard that the style does not list",
            expected=f"one of {', '.join(style.standards)}",
            remedy="Correct the name or add the standard to society.toml.",
        )
    elif entry.edition_year not in (known.editions or (None,)):
        place.note(
            "edition_year",
            found="null" if entry.edition_year is None else str(entry.edition_year),
            expected=f"an edition that the style lists, {', '.join(map(str, known.editions)) or 'null'}",
            remedy="Correct the year or add it to society.toml.",
        )
    try:
        path = parse_section(entry.section, style).path
    except CitationError as error:
        place.note(
            "section",
            found=f"a section that the style refuses at {refusal(error)}",
            expected=error.expected,
            remedy="Write it as the style prints it.",
        )
        return False
    if path != entry.section_path:
        place.note(
            "section_path",
            found="another path than the section has",
            expected="the path that the section parses to",
            remedy="Make the two agree.",
        )
    return len(place.findings.problems) == before
