"""Publishing a night: every society's pages and twins, checked, written beside the old tree, shown in one step."""

import filecmp
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final

from harness.errors import PublishRefused
from harness.site.claimed import claim_maker, refuse_differing
from harness.site.eval_json import EvalDocument, decode, document_of, encode
from harness.site.feed import badge_of, feed_of
from harness.site.history import HistoryEntry, entry_of, history_csv, history_jsonl, read_history
from harness.site.index import StaleEntry
from harness.site.invariants import refusal, refuse_address, refuse_broken
from harness.site.model import EvalResult
from harness.site.overview import Overview
from harness.site.pages import Assets, EvalPage, Frame, marked, place_of, render_stale
from harness.site.render import static_file
from harness.site.revisions import revision_entry
from harness.site.tables import SavedTables, save_tables
from harness.site.tree import Build, building

_DOCUMENT: Final = "eval.json"
_HISTORY: Final = "history.jsonl"
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

    Raises PublishRefused, naming every society and invariant, where a result breaks one or a revision that was
    published before would change: the others are then published, and what is shown of that society stays as it is,
    marked stale. Raises it too where the place is not ours or the whole cannot be shown; then nothing changes.
    """
    given = iter(results)
    first = next(given, None)
    if first is None:
        return ()
    with building(site_root, deployment, canaries) as build:
        frame = Frame(assets=_write_assets(build), contact=first.contact, sample=first.demo)
        press = _Press(build, Overview(build), frame, base_url)
        for result in chain((first,), given):
            press.publish(result)
        press.close()
    if press.refused:
        raise PublishRefused("\n".join(press.refused))
    return tuple(press.published)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pressed:
    """A revision as it was written: `revision` is its folder, `before` the one that it came after."""

    document: EvalDocument
    before: EvalDocument | None
    page: EvalPage
    history: list[HistoryEntry]
    revision: str


class _Press:
    """Publishes one result after the other into a build; those that are refused are marked at what they leave."""

    def __init__(self, build: Build, overview: Overview, frame: Frame, base_url: str) -> None:
        self.published: list[Published] = []
        self.refused: list[str] = []
        self._build = build
        self._overview = overview
        self._frame = frame
        self._base_url = base_url

    def publish(self, result: EvalResult) -> None:
        """Publish a result, or note why not."""
        refuse_address(result)
        society = f"standards/{result.slug}/eval"
        draft = f"{society}/{result.night}/.draft"
        try:
            pressed = self._drafted(result, draft)
        except PublishRefused as error:
            self._build.discard(draft)
            self.refused.append(str(error))
            self._mark(society, result.slug, StaleEntry(night=result.night, revision=result.revision))
            return
        self._remember(pressed)
        self._show(pressed)
        self.published.append(
            Published(slug=result.slug, night=result.night, revision=result.revision, address=f"/{pressed.revision}/")
        )

    def close(self) -> None:
        """Write what is of all societies. Raises PublishRefused where nothing is left to show."""
        if not self.published and not self._overview.holds_any:
            raise PublishRefused("\n".join(self.refused))
        self._overview.write(self._frame)

    def _drafted(self, result: EvalResult, draft: str) -> _Pressed:
        """Write a revision whole and checked, unless it stands already."""
        build = self._build
        document, tables, revision = _write_twins(build, result, draft, self._base_url)
        history = self._history(result, document)
        before = _read(build, f"{PurePosixPath(revision).parent}/r{result.revision - 1}")
        address = f"{self._base_url.rstrip('/')}/{revision}/" if self._base_url else ""
        page = EvalPage(result, document, tables.all, history, before, address)
        pressed = _Pressed(document=document, before=before, page=page, history=history, revision=revision)
        if build.path(revision).exists():
            _refuse_change(build, result, draft, revision)
            build.discard(draft)
            return pressed
        for name, chart in page.charts().items():
            build.write(f"{draft}/{name}", chart)
        build.write(f"{draft}/index.html", page.at(place_of(revision, revision), self._frame))
        build.move(draft, revision)
        return pressed

    def _history(self, result: EvalResult, document: EvalDocument) -> list[HistoryEntry]:
        """All revisions of the society, this one among them."""
        path = self._build.path(f"standards/{result.slug}/eval/{_HISTORY}")
        known = read_history(path.read_bytes()) if path.is_file() else []
        entry = entry_of(document)
        same = any((each.night, each.revision) == (entry.night, entry.revision) for each in known)
        return known if same else [*known, entry]

    def _remember(self, pressed: _Pressed) -> None:
        """Add a revision to what is of its society over all nights."""
        build, society = self._build, pressed.document.society
        folder = f"standards/{society.slug}/eval"
        lines = history_jsonl(pressed.history)
        path = build.path(f"{folder}/{_HISTORY}")
        if path.is_file() and path.read_bytes() == lines:
            return
        build.write(f"{folder}/{_HISTORY}", lines)
        build.write(f"{folder}/history.csv", history_csv(pressed.history))
        feed = feed_of(society, pressed.history, self._base_url, sample=self._frame.sample)
        build.write(f"{folder}/feed.atom", feed)
        if pressed.document.revision > 1:
            self._overview.revised(revision_entry(pressed.before, pressed.document))

    def _show(self, pressed: _Pressed) -> None:
        """Make the night's folder and the society's show the revision, where it is what they have to show."""
        build, document, slug = self._build, pressed.document, pressed.document.society.slug
        night = str(PurePosixPath(pressed.revision).parent)
        society = str(PurePosixPath(night).parent)
        rank = (document.official, document.night, document.revision)
        if _rank(build, night) <= rank:
            self._show_at(pressed, night)
        latest = len(document.night) > len("2026-11") and _rank(build, society) <= rank
        if latest:
            self._show_at(pressed, society)
        shown = _read(build, society)
        if shown is None:
            return
        badge = badge_of(shown.society, entry_of(shown), self._base_url, sample=self._frame.sample)
        build.refresh(f"{society}/badge.svg", badge)
        self._overview.add(document.night, shown, pressed.history)
        stale = self._overview.stale_of(slug)
        if stale is not None:
            made_good = stale.night == document.night and stale.revision <= document.revision
            self._mark(society, slug, None if latest or made_good else stale)

    def _show_at(self, pressed: _Pressed, folder: str) -> None:
        """Make the folder show the revision: its files are the revision's own, the page says where that one is."""
        build, revision = self._build, pressed.revision
        names = {path.name for path in build.path(revision).iterdir()} - {"index.html"}
        for chart in build.path(folder).glob("chart-*.svg"):
            if chart.name not in names:
                build.remove(f"{folder}/{chart.name}")
        for name in sorted(names):
            build.link(f"{revision}/{name}", f"{folder}/{name}")
        build.refresh(f"{folder}/index.html", pressed.page.at(place_of(folder, revision), self._frame))

    def _mark(self, society: str, slug: str, refused: StaleEntry | None) -> None:
        """Say on the society's page that it shows older numbers than were measured; None: no more."""
        self._overview.stale(slug, refused)
        path = self._build.path(f"{society}/index.html")
        if path.is_file():
            notice = b"" if refused is None else render_stale(refused)
            self._build.refresh(f"{society}/index.html", marked(path.read_bytes(), notice))


def _read(build: Build, folder: str) -> EvalDocument | None:
    """The document of a folder, where it has one."""
    path = build.path(f"{folder}/{_DOCUMENT}")
    return decode(path.read_bytes()) if path.is_file() else None


def _rank(build: Build, folder: str) -> tuple[bool, str, int]:
    """What the folder shows now, official before not, later before earlier; the least of all where it shows nothing."""
    shown = _read(build, folder)
    return (False, "", 0) if shown is None else (shown.official, shown.night, shown.revision)


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
