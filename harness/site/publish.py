"""Publishing a night: every society's pages and twins, checked, written beside the old tree, shown in one step."""

import filecmp
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from harness.errors import PublishRefused
from harness.site.claimed import claim_maker, refuse_differing
from harness.site.eval_json import (
    HEADLINE,
    EvalDocument,
    FloorEntry,
    MeasureEntry,
    SocietyEntry,
    decode,
    document_of,
    encode,
)
from harness.site.invariants import refusal, refuse_address, refuse_broken
from harness.site.model import EvalResult
from harness.site.pages import Assets, Place, render_eval, render_overview, static_file
from harness.site.tables import SavedTables, save_tables
from harness.site.tree import Build, building

_DOCUMENT: Final = "eval.json"
_TWINS: Final = (_DOCUMENT, "scores.csv", "passages.csv", "items.csv")
"""A revision is these bytes; its page may look otherwise under another release and stays as it was written."""

_STATIC: Final = {"style.css": "stylesheet", "mark.svg": "icon"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """Where a result stands: `address` of its revision below the site's root, with `/` at both ends."""

    slug: str
    night: str
    revision: int
    address: str


class IndexEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One society of index.json: its latest night with the headline measure, as its eval.json has them."""

    society: SocietyEntry
    night: str
    revision: int
    official: bool
    status: str
    floors: list[FloorEntry]
    headline: MeasureEntry | None
    eval: str


class Index(msgspec.Struct, frozen=True, kw_only=True):
    schema_version: int
    societies: list[IndexEntry]


def publish(
    site_root: Path,
    results: Iterable[EvalResult],
    deployment: str,
    *,
    base_url: str,
    canaries: Collection[str] = (),
) -> tuple[Published, ...]:
    """Write the results' pages and twins and show them with all that was published before, in one step.

    `deployment` names the owner of the tree; another one's is never replaced. `base_url` is the address of the site's
    root, which claim parts point into. No file may hold one of `canaries`. Without results nothing changes. Publishing
    the same results again changes nothing that visitors see.

    Raises PublishRefused, naming every society and invariant, where a result breaks one, a revision that was
    published before would change, or the place is not ours; then the tree shown stays as it is.
    """
    written: list[Published] = []
    refused: list[str] = []
    given = iter(results)
    first = next(given, None)
    if first is None:
        return ()
    with building(site_root, deployment, canaries) as build:
        assets = _write_assets(build)
        for result in chain((first,), given):
            try:
                written.append(_publish_result(build, result, assets, base_url))
            except PublishRefused as error:
                refused.append(str(error))
        if refused:
            raise PublishRefused("\n".join(refused))
        _write_overview(build, assets, first)
    return tuple(written)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A revision's twins written aside: the folder, and the address below the site's root that they are made for."""

    folder: Path
    address: str


@contextmanager
def drafted(result: EvalResult, base_url: str) -> Iterator[Draft | None]:
    """A result's checked twins in a temporary folder; None where it breaks an invariant."""
    with TemporaryDirectory(prefix="harness-") as root:
        build = Build(Path(root), ())
        try:
            _, _, revision = _write_twins(build, result, "draft", base_url)
        except PublishRefused:
            yield None
        else:
            yield Draft(folder=build.path("draft"), address=f"/{revision}/")


def _write_twins(build: Build, result: EvalResult, draft: str, base_url: str) -> tuple[EvalDocument, SavedTables, str]:
    """Write a result's tables and document to `draft`, checked; with the place of its revision below the root."""
    refuse_address(result)
    revision = f"standards/{result.slug}/eval/{result.night}/r{result.revision}"
    tables = save_tables(result, build, draft)
    refuse_broken(result, tables)
    document = document_of(result, claim_maker(result, tables, f"{base_url.rstrip('/')}/{revision}"))
    refuse_differing(result, document, build.path(draft))
    build.write(f"{draft}/{_DOCUMENT}", encode(document))
    return document, tables, revision


def _publish_result(build: Build, result: EvalResult, assets: Assets, base_url: str) -> Published:
    society = f"standards/{result.slug}/eval"
    night = f"{society}/{result.night}"
    draft = f"{night}/.draft"
    refuse_address(result)
    document, tables, revision = _write_twins(build, result, draft, base_url)
    page = _Page(result=result, document=document, tables=tables, assets=assets)
    if build.path(revision).exists():
        _refuse_change(build, result, draft, revision)
        build.discard(draft)
    else:
        build.write(f"{draft}/index.html", page.at(revision, permalink=None))
        build.move(draft, revision)
    if _rank(build, night) <= (document.official, document.night, document.revision):
        _show_at(build, page, night, revision)
    if not result.pooled and _rank(build, society) <= (document.official, document.night, document.revision):
        _show_at(build, page, society, revision)
    return Published(slug=result.slug, night=result.night, revision=result.revision, address=f"/{revision}/")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """A page that is rendered for several places."""

    result: EvalResult
    document: EvalDocument
    tables: SavedTables
    assets: Assets

    def at(self, folder: str, permalink: str | None) -> bytes:
        root = "../" * len(PurePosixPath(folder).parts)
        return render_eval(
            self.result, self.document, self.tables.all, self.assets, Place(root=root, permalink=permalink)
        )


def _show_at(build: Build, page: _Page, folder: str, revision: str) -> None:
    """Make the folder show that revision: twins are the revision's own files, the page says where that one is."""
    for name in _TWINS:
        build.link(f"{revision}/{name}", f"{folder}/{name}")
    build.write(f"{folder}/index.html", page.at(folder, f"{PurePosixPath(revision).relative_to(folder)}/index.html"))


def _rank(build: Build, folder: str) -> tuple[bool, str, int]:
    """What the folder shows now, official before not, later before earlier; the least of all where it shows nothing."""
    path = build.path(f"{folder}/eval.json")
    if not path.is_file():
        return (False, "", 0)
    shown = decode(path.read_bytes())
    return (shown.official, shown.night, shown.revision)


def _refuse_change(build: Build, result: EvalResult, draft: str, revision: str) -> None:
    """A revision stays as it was written, also by an earlier release with fewer keys or other words; what may not
    differ are its tables and its numbers."""
    changed = [
        name
        for name in _TWINS
        if not filecmp.cmp(build.path(f"{draft}/{name}"), build.path(f"{revision}/{name}"), shallow=False)
    ]
    drafted, shown = (_numbers(build, folder) for folder in (draft, revision))
    if changed and (changed != [_DOCUMENT] or drafted != shown):
        raise refusal(
            result, [f"published before with another {', '.join(changed)}; a revision never changes, make a new one"]
        )


def _numbers(build: Build, folder: str) -> tuple[object, ...]:
    """What of a revision's document decides or counts, apart from its words."""
    document = decode(build.path(f"{folder}/{_DOCUMENT}").read_bytes())
    measures = [
        (each.name, each.stratum, each.good, each.valid, each.value, each.interval) for each in document.measures
    ]
    return document.status, document.official, document.floors, document.outcomes, measures


def _write_assets(build: Build) -> Assets:
    """Put the static files where pages find them; an address with the digest in its name is written once."""
    addresses = {}
    for name, role in _STATIC.items():
        content = static_file(name)
        stem, _, ending = name.rpartition(".")
        addresses[role] = f"static/{stem}-{sha256(content).hexdigest()[:12]}.{ending}"
        if not build.path(addresses[role]).exists():
            build.write(addresses[role], content)
    return Assets(**addresses)


def _write_overview(build: Build, assets: Assets, result: EvalResult) -> None:
    documents = _latest(build)
    index = Index(
        schema_version=1,
        societies=[
            IndexEntry(
                society=document.society,
                night=document.night,
                revision=document.revision,
                official=document.official,
                status=document.status,
                floors=document.floors,
                headline=document.measure(HEADLINE),
                eval=f"{document.society.slug}/eval/eval.json",
            )
            for document in documents
        ],
    )
    build.write("standards/index.json", msgspec.json.format(msgspec.json.encode(index), indent=2) + b"\n")
    build.write("standards/index.html", render_overview(documents, assets, result.contact, sample=result.demo))


def _latest(build: Build) -> Sequence[EvalDocument]:
    """Every society's latest document, those of earlier nights too, by society id."""
    paths = build.path("standards").glob("*/eval/eval.json")
    return sorted((decode(path.read_bytes()) for path in paths), key=lambda document: document.society.id)
