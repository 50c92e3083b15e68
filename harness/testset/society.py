"""A society's folder as one checked value, or every problem of every file in it (testsets.md)."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from harness.errors import InvalidInput, Problem, UsageError
from harness.testset.canary import Canary
from harness.testset.catalogue import read_catalogue
from harness.testset.fields import Place
from harness.testset.gold import SectionKey
from harness.testset.identity import Identity, read_identity
from harness.testset.items import ItemsReader, Neighbours
from harness.testset.model import Item, Society, Terms
from harness.testset.source import Findings, raise_if_any
from harness.testset.terms import TermsFile, read_terms


def load_society(folder: Path) -> Society:
    """The society that the folder describes. Raises InvalidInput with all problems of all files that a night needs.

    Those are society.toml, items.jsonl and, where they exist, terms.toml and catalogue.jsonl; corpus.jsonl and the
    notes are judged by lint alone.
    """
    reading = read_folder(folder)
    raise_if_any(*reading.findings)
    if reading.society is None:
        raise AssertionError(f"{folder}: no society and no reason")
    return reading.society


def load_societies(root: Path, only: tuple[str, ...] | None = None) -> tuple[list[Society], dict[str, InvalidInput]]:
    """The societies below the root in order of slug, and the folders left out because they are invalid.

    `only` names the slugs to load. Raises UsageError where the root holds no folder or `only` names one it lacks.
    """
    folders = society_folders(root)
    unknown = [slug for slug in only or () if slug not in folders]
    if unknown:
        names = ", ".join(repr(slug[:80]) for slug in unknown)
        raise UsageError(f"no society {names} in {root}; it has {', '.join(folders)}.")
    societies: list[Society] = []
    invalid: dict[str, InvalidInput] = {}
    for slug, folder in folders.items():
        if only is not None and slug not in only:
            continue
        try:
            societies.append(load_society(folder))
        except InvalidInput as error:
            invalid[slug] = error
    return societies, invalid


def society_folders(root: Path) -> dict[str, Path]:
    """Every folder below the root by its name, in order, but for hidden ones. Raises UsageError where there is none."""
    try:
        folders = {
            path.name: path for path in sorted(root.iterdir()) if path.is_dir() and not path.name.startswith(".")
        }
    except OSError as error:
        raise UsageError(f"{root}: no readable folder of societies ({error.strerror}).") from error
    if not folders:
        raise UsageError(f"{root}: no society in it; each is a folder with a society.toml.")
    return folders


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read of a folder: the society where nothing is wrong, and the findings file by file."""

    findings: tuple[Findings, ...]
    identity: Identity | None
    catalogue: frozenset[SectionKey] | None
    canary: Canary
    society: Society | None

    @property
    def problems(self) -> list[Problem]:
        return [problem for found in self.findings for problem in found.in_line_order()]


def read_folder(folder: Path) -> Reading:
    """The folder's files that a night needs, read and compared with each other; nothing is raised."""
    identity_found, terms_found, items_found, catalogue_found = found = tuple(
        findings_of(folder / name) for name in ("society.toml", "terms.toml", "items.jsonl", "catalogue.jsonl")
    )
    canary = Canary()
    identity = read_identity(folder / "society.toml", identity_found)
    has_terms = (folder / "terms.toml").exists()
    terms = read_terms(folder / "terms.toml", terms_found, identity.style if identity else None) if has_terms else None
    catalogue = _read_complete_catalogue(folder, catalogue_found, identity, canary)
    reader = ItemsReader(
        neighbours=Neighbours(
            identity=identity,
            terms=None if terms is None or terms_found.problems else terms.terms,
            catalogue=catalogue,
        ),
        canary=canary,
    )
    items = reader.read(folder / "items.jsonl", items_found)
    if not items_found.problems:
        if identity is not None:
            _check_digest(identity, reader.digest.hexdigest())
        for version, place in terms.versions if terms is not None else ():
            _check_min_sample(version, items, place)
    for text, findings in (
        (identity.text if identity else None, identity_found),
        (terms.text if terms else None, terms_found),
    ):
        if text is not None:
            canary.meet_text(text, findings)
    society = None
    if identity is not None and not any(one.problems for one in found):
        society = _society(identity, terms, items, catalogue, canary.value)
    return Reading(findings=found, identity=identity, catalogue=catalogue, canary=canary, society=society)


def findings_of(path: Path) -> Findings:
    """An empty list of problems for the file, named as it was given."""
    return Findings(path.as_posix())


def largest_plan(items: tuple[Item, ...], terms: Terms) -> int:
    """The most expectations that a night of the version can have."""
    changes: dict[date, int] = {}
    for item in items:
        start = max(item.added or terms.effective_from, terms.effective_from)
        if terms.effective_to is not None and start > terms.effective_to:
            continue
        if item.retired is not None and item.retired <= start:
            continue
        count = len(item.expectations)
        changes[start] = changes.get(start, 0) + count
        if item.retired is not None:
            changes[item.retired] = changes.get(item.retired, 0) - count
    largest = planned = 0
    for night in sorted(changes):
        planned += changes[night]
        largest = max(largest, planned)
    return largest


def _read_complete_catalogue(
    folder: Path, findings: Findings, identity: Identity | None, canary: Canary
) -> frozenset[SectionKey] | None:
    path = folder / "catalogue.jsonl"
    complete = identity is not None and identity.catalogue_complete
    if not path.exists() and not complete:
        return None
    entries = read_catalogue(path, findings, identity, canary)
    if not complete or findings.problems:
        return None
    return frozenset((entry.standard, entry.edition_year, entry.section) for entry in entries)


def _check_digest(identity: Identity, computed: str) -> None:
    if identity.testset_sha256 != computed:
        identity.place.note(
            "testset",
            "sha256",
            found=f"{identity.testset_sha256[:12]}…, but items.jsonl has changed since",
            expected=f"the digest of its items, {computed}",
            remedy="Raise testset.version, add an entry to CHANGES.md, and set sha256 to that digest.",
        )


def _check_min_sample(terms: Terms, items: tuple[Item, ...], place: Place) -> None:
    largest = largest_plan(items, terms)
    if terms.min_sample > largest:
        place.note(
            "min_sample",
            found=str(terms.min_sample),
            expected=f"at most {largest}, the most expectations that a night of the version plans",
            remedy="Lower it or add items: every night would be insufficient_data.",
        )


def _society(
    identity: Identity,
    terms: TermsFile | None,
    items: tuple[Item, ...],
    catalogue: frozenset[SectionKey] | None,
    canary: str | None,
) -> Society:
    return Society(
        id=identity.id,
        slug=identity.slug,
        name=identity.name,
        corpora=identity.corpora,
        style=identity.style,
        examples=identity.examples,
        items=items,
        terms=() if terms is None else terms.terms,
        catalogue=catalogue,
        testset_version=identity.testset_version,
        testset_sha256=identity.testset_sha256,
        canary=canary,
    )
