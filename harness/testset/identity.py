"""society.toml: who the society is, its gateway corpora, its style, and the test set's version (testsets.md)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.citation.error import CitationError
from harness.citation.model import Citation
from harness.citation.parse import parse_citation
from harness.citation.style import Style, StyleError
from harness.testset.fields import FLAG, SECTION_PATH, TABLE, YEAR, Place, Record, list_of, text
from harness.testset.source import Findings, read_toml

_KEYS: Final = (
    "id",
    "slug",
    "name",
    "catalogue_complete",
    "testset",
    "corpora",
    "style",
    "examples",
    "refused",
)
_EXAMPLE_KEYS: Final = ("citation", "standard", "section", "section_path", "edition_year")
SLUG_PATTERN: Final = r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?"

_ID: Final = text(
    "a name on one line", 'Write it in quotes, like "ASME".', r"[^\s\x00-\x1f](?:[^\x00-\x1f\x7f]{0,62}[^\s])?"
)
_NAME: Final = text("a name on one line", "Write it in quotes.", r"(?=.*\S)[^\x00-\x1f\x7f]{1,200}")
_SLUG: Final = text(
    "1 to 64 characters a-z, 0-9 and '-', first and last no '-'", "Rename the folder and the slug.", SLUG_PATTERN
)
_VERSION: Final = text(
    "1 to 64 characters A-Z, a-z, 0-9, '.', '_', '-' in quotes", 'Write it like "1".', r"[A-Za-z0-9._-]{1,64}"
)
_SHA256: Final = text("64 hexadecimal digits in lower case", "Set it to the digest of items.jsonl.", r"[0-9a-f]{64}")
_STANDARDS: Final = list_of(text(), "a list of standards, none twice, one at least", 'Write it as ["B31.3"].', least=1)
_CORPUS: Final = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,127}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What society.toml says, checked. `place` is where its keys are, for problems found against other files."""

    id: str
    slug: str
    name: str
    catalogue_complete: bool
    corpora: Mapping[str, tuple[str, ...]]
    style: Style
    examples: tuple[Citation, ...]
    testset_version: str
    testset_sha256: str
    text: str
    place: Place

    def corpora_of(self, standards: set[str]) -> list[str]:
        """The gateway corpora that hold all the standards."""
        return [corpus for corpus, held in self.corpora.items() if standards.issubset(held)]


def read_identity(path: Path, findings: Findings) -> Identity | None:
    """society.toml as a value; None, with every reason noted, where any of it is wrong.

    The slug is compared with the name of the folder that the file is in.
    """
    file = read_toml(path, findings)
    if file is None:
        return None
    place = Place(findings=findings, lines=file.lines, line=1)
    record = Record(file.table, place, _KEYS)
    slug = _read_slug(record, path.absolute().parent.name)
    society_id = record.need("id", _ID)
    name = record.need("name", _NAME)
    complete = record.take("catalogue_complete", FLAG, False)
    version, sha256 = _read_testset(record)
    style = _read_style(record, society_id)
    corpora = _read_corpora(record, style)
    examples: tuple[Citation, ...] = ()
    if style is not None:
        examples = _read_examples(record, style)
        _check_refused(record, style)
    if findings.problems:
        return None
    if slug is None or society_id is None or name is None or version is None or sha256 is None or style is None:
        return None
    return Identity(
        id=society_id,
        slug=slug,
        name=name,
        catalogue_complete=complete,
        corpora=corpora,
        style=style,
        examples=examples,
        testset_version=version,
        testset_sha256=sha256,
        text=file.text,
        place=place,
    )


def _read_slug(record: Record, folder: str) -> str | None:
    slug = record.need("slug", _SLUG)
    if slug is not None and slug != folder:
        record.place.note(
            "slug",
            found=f"{slug!r} in the folder {folder[:80]!r}",
            expected="the name of the folder",
            remedy="Rename one of the two.",
        )
        return None
    return slug


def _read_testset(record: Record) -> tuple[str | None, str | None]:
    table = record.need("testset", TABLE)
    if table is None:
        return None, None
    inner = Record(table, record.place.below("testset"), ("version", "sha256"))
    return inner.need("version", _VERSION), inner.need("sha256", _SHA256)


def _read_style(record: Record, society_id: str | None) -> Style | None:
    table = record.need("style", TABLE)
    if table is None or society_id is None:
        return None
    try:
        return Style.from_table(table, society=society_id)
    except StyleError as error:
        lines = {_dotted(path): line for path, line in (record.place.lines or {}).items()}
        for defect in error.defects:
            name = f"style.{defect.field}"
            near = name
            while near not in lines and "." in near:
                near = near.rpartition(".")[0]
            record.place.findings.add(
                line=lines.get(near),
                field=name,
                found=defect.found,
                expected=defect.expected,
                remedy=defect.remedy,
            )
        return None


def _dotted(path: tuple[str | int, ...]) -> str:
    return ".".join(map(str, path))


def _read_corpora(record: Record, style: Style | None) -> dict[str, tuple[str, ...]]:
    table = record.need("corpora", TABLE)
    if table is None:
        return {}
    place = record.place.below("corpora")
    if not table:
        place.note(found="no corpus", expected="a gateway corpus with its standards", remedy='Add "corpus-id" = ["…"].')
    inner = Record(table, place, table)
    corpora: dict[str, tuple[str, ...]] = {}
    for corpus in table:
        if not _CORPUS.fullmatch(corpus):
            place.note(
                corpus,
                found="a corpus id that cannot stand in an address",
                expected="1 to 128 characters A-Z, a-z, 0-9, '.', '_', '~', '-', the first no '.'",
                remedy="Write the id that the gateway lists.",
            )
        corpora[corpus] = inner.need(corpus, _STANDARDS) or ()
    _check_corpora(corpora, style, place)
    return corpora


def _check_corpora(corpora: Mapping[str, tuple[str, ...]], style: Style | None, place: Place) -> None:
    """Each standard is known to the style, and in one corpus: so it is clear which one a query goes to."""
    owner: dict[str, str] = {}
    for corpus, standards in corpora.items():
        for standard in standards:
            if style is not None and standard not in style.standards:
                place.note(
                    corpus,
                    found=repr(standard),
                    expected="standards that the style lists",
                    remedy=f'Add [style.standards."{standard}"] or take it out.',
                )
            if owner.setdefault(standard, corpus) != corpus:
                place.note(
                    corpus,
                    found=f"{standard!r}, which {owner[standard]!r} holds too",
                    expected="each standard in one corpus",
                    remedy="Take it out of one of them.",
                )


def _read_examples(record: Record, style: Style) -> tuple[Citation, ...]:
    """The public examples of the style: each parses to its fields (citations.md, Laws)."""
    examples = []
    for table, place in record.tables("examples"):
        example = Record(table, place, _EXAMPLE_KEYS)
        citation = example.need("citation", text())
        written = {
            "standard": example.need("standard", text()),
            "section": example.need("section", text()),
            "section_path": example.need("section_path", SECTION_PATH),
            "edition_year": example.optional("edition_year", YEAR),
        }
        if citation is None:
            continue
        try:
            parsed = parse_citation(citation, style)
        except CitationError as error:
            place.note(
                "citation",
                found=f"{citation!r}, refused at {refusal(error)}",
                expected=error.expected,
                remedy="Mend the example or the style.",
            )
            continue
        examples.append(parsed)
        for key, value in written.items():
            read = getattr(parsed, key)
            if key in table and value is not None and value != read:
                place.note(
                    key, found=repr(value), expected=f"{read!r}, as the string parses", remedy="Make them agree."
                )
    return tuple(examples)


def _check_refused(record: Record, style: Style) -> None:
    """A refused example stays refused (citations.md, Laws)."""
    for table, place in record.tables("refused"):
        citation = Record(table, place, ("citation",)).need("citation", text())
        if citation is None:
            continue
        try:
            parse_citation(citation, style)
        except CitationError:
            continue
        place.note(
            "citation",
            found=f"{citation!r}, which the style accepts",
            expected="a string that the style refuses",
            remedy="Take it out, or narrow the style.",
        )


def refusal(error: CitationError) -> str:
    """Where a strict parser refused, without the text."""
    return f"the field {error.field}" if error.position is None else f"character {error.position + 1}"
