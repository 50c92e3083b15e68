"""What the reference gateway serves: passages and pinned editions of a test set folder, never its held-out items."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from harness.citation.format import format_citation
from harness.citation.style import Style
from harness.errors import InvalidInput, Problem
from harness.testset.canary import Canary
from harness.testset.catalogue import CorpusPassage, read_corpus
from harness.testset.identity import Identity, read_identity
from harness.testset.model import Terms
from harness.testset.society import findings_of, society_folders
from harness.testset.source import Findings, raise_if_any
from harness.testset.terms import read_terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One section of one edition with its text. `words` is the length of the text in whitespace-separated words."""

    society: str
    standard: str
    section: str
    text: str = field(repr=False)
    citation: str
    edition_year: int | None
    section_path: tuple[str, ...]
    words: int

    def wire(self) -> dict[str, Any]:
        """The passage as the contract sends it (gateway.md, The public contract)."""
        return {
            "society": self.society,
            "standard": self.standard,
            "section": self.section,
            "text": self.text,
            "citation": self.citation,
            "edition_year": self.edition_year,
            "section_path": list(self.section_path),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What one gateway corpus holds. `pinned` are the contracted editions of each standard."""

    id: str
    societies: tuple[str, ...]
    passages: tuple[Passage, ...] = field(repr=False)
    pinned: Mapping[str, frozenset[int | None]]

    def is_pinned(self, passage: Passage) -> bool:
        return passage.edition_year in self.pinned[passage.standard]


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """All corpora by id, the styles by society, and the problems of the folders that were left out."""

    corpora: Mapping[str, Corpus]
    styles: Mapping[str, Style]
    left_out: tuple[Problem, ...] = ()


def load_library(testsets: Path, today: date) -> Library:
    """The corpora of every folder below `testsets` that has a corpus.jsonl.

    Reads society.toml, terms.toml and corpus.jsonl, never items.jsonl. A folder with a defect in one of them is left
    out whole, and its problems are kept. Raises UsageError where there is no folder, InvalidInput where none is usable.
    """
    corpora: dict[str, Corpus] = {}
    styles: dict[str, Style] = {}
    problems: list[Problem] = []
    for folder in society_folders(testsets).values():
        if not (folder / "corpus.jsonl").exists():
            continue
        try:
            identity, found = _load_folder(folder, today)
        except InvalidInput as error:
            problems.extend(error.problems)
            continue
        styles[identity.id] = identity.style
        for corpus in found:
            known = corpora.get(corpus.id)
            corpora[corpus.id] = corpus if known is None else _joined(known, corpus)
    if not corpora and problems:
        raise InvalidInput(problems)
    return Library(corpora=corpora, styles=styles, left_out=tuple(problems))


def _load_folder(folder: Path, today: date) -> tuple[Identity, list[Corpus]]:
    found = [findings_of(folder / name) for name in ("society.toml", "terms.toml", "corpus.jsonl")]
    identity_found, terms_found, corpus_found = found
    identity = read_identity(folder / "society.toml", identity_found)
    raise_if_any(identity_found)
    if identity is None:
        raise AssertionError(f"{folder}: no identity and no reason")
    terms = _contracted(folder / "terms.toml", terms_found, identity, today)
    passages = [
        _passage(identity, read) for read in read_corpus(folder / "corpus.jsonl", corpus_found, identity, Canary())
    ]
    raise_if_any(terms_found, corpus_found)
    return identity, [
        _corpus(identity, corpus, [each for each in passages if each.standard in standards], terms)
        for corpus, standards in identity.corpora.items()
    ]


def _contracted(path: Path, findings: Findings, identity: Identity, today: date) -> Terms | None:
    """The terms in force today, else the version that starts last; None without terms."""
    if not path.exists():
        return None
    file = read_terms(path, findings, identity.style)
    if file is None or not file.terms:
        return None
    in_force = (terms for terms in file.terms if terms.in_force_on(today))
    return next(in_force, None) or max(file.terms, key=lambda terms: terms.effective_from)


def _passage(identity: Identity, read: CorpusPassage) -> Passage:
    entry = read.entry
    return Passage(
        society=identity.id,
        standard=entry.standard,
        section=entry.section,
        text=read.text,
        citation=format_citation(
            identity.style, standard=entry.standard, section=entry.section, edition_year=entry.edition_year
        ),
        edition_year=entry.edition_year,
        section_path=entry.section_path,
        words=len(read.text.split()),
    )


def _corpus(identity: Identity, corpus: str, passages: list[Passage], terms: Terms | None) -> Corpus:
    contracted = {} if terms is None else terms.editions
    editions: dict[str, set[int | None]] = {}
    for passage in passages:
        editions.setdefault(passage.standard, set()).add(passage.edition_year)
    return Corpus(
        id=corpus,
        societies=(identity.id,),
        passages=tuple(passages),
        pinned={standard: _pinned(contracted.get(standard), held) for standard, held in editions.items()},
    )


def _pinned(contracted: tuple[int, ...] | None, held: set[int | None]) -> frozenset[int | None]:
    """The contracted editions; without a contract the newest one held. An undated standard has only itself."""
    if contracted:
        return frozenset(contracted)
    years = [year for year in held if year is not None]
    return frozenset({max(years)}) if years else frozenset({None})


def _joined(one: Corpus, other: Corpus) -> Corpus:
    """A corpus id that two societies share; a standard of the same name keeps the editions pinned by either."""
    standards = {*one.pinned, *other.pinned}
    return Corpus(
        id=one.id,
        societies=(*one.societies, *other.societies),
        passages=(*one.passages, *other.passages),
        pinned={name: one.pinned.get(name, frozenset()) | other.pinned.get(name, frozenset()) for name in standards},
    )
