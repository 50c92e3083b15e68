"""The public tree: built beside what visitors see, shown in one step by replacing a symbolic link (publishing.md).

`site` is a link to `.site-<n>`. A new build is the one before the one shown, brought up to date with what changed
since: so a publish costs what it changes, however much history there is. Where that build is gone or its state is not
known, as after a crash, the new one starts with hard links to every file shown. A changed file is always a new one,
never written through a link. Between two publishes the build shown and the one before it stay.
"""

import os
import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from html import escape
from json import dumps
from pathlib import Path
from typing import BinaryIO, Final

from filelock import FileLock, Timeout

from harness.errors import PublishRefused

MARKER: Final = ".deployment"
"""The file in a tree's root that names the deployment it belongs to; written last, so that it also says finished."""

_CHANGES: Final = ".changes"
"""The file in a tree's root that names the build it started as, then each file that it has otherwise, one a line."""

_WAIT: Final = 60.0
"""Seconds to wait for another publish of the same tree to end."""


class Build:
    """A tree that nobody sees yet. Paths are relative to its root, with `/`. `touched` are the files changed in it."""

    def __init__(self, root: Path, canaries: Collection[str]) -> None:
        self.root = root
        self.touched: set[str] = set()
        self._canaries = tuple(form for canary in sorted(canaries) for form in _written_forms(canary))
        self._longest = max(map(len, self._canaries), default=0)

    def path(self, relative: str) -> Path:
        return self.root / relative

    def write(self, relative: str, content: bytes) -> None:
        """Put a new file there, durable. Raises PublishRefused where the content holds a canary."""
        with self.writing(relative) as file:
            file.write(content)

    def refresh(self, relative: str, content: bytes) -> None:
        """Put the content there unless the file has it already."""
        path = self.path(relative)
        if not path.is_file() or path.read_bytes() != content:
            self.write(relative, content)

    @contextmanager
    def writing(self, relative: str) -> Iterator[BinaryIO]:
        """A new file to write there, durable at the end of the block and then searched for canaries."""
        path = self.path(relative)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # it may be a link to a file that visitors see
        self.touched.add(relative)
        with path.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        self._refuse_canaries(path, relative)

    def link(self, source: str, target: str) -> None:
        """Make `target` the same file as `source`."""
        if not self.path(target).exists() or not self.path(target).samefile(self.path(source)):
            self.touched.add(target)
            _link(self.path(source), self.path(target))

    def remove(self, relative: str) -> None:
        """Take the file away, if there is one."""
        if self.path(relative).exists():
            self.touched.add(relative)
            self.path(relative).unlink()

    def move(self, source: str, target: str) -> None:
        """Give a folder of written files another place, where nothing is yet."""
        self.path(source).rename(self.path(target))
        for name in self._forget(source):
            self.touched.add(f"{target}/{name}")

    def discard(self, folder: str) -> None:
        """Take a folder of written files away, if there is one."""
        shutil.rmtree(self.path(folder), ignore_errors=True)
        self._forget(folder)
        for parent in self.path(folder).parents:
            if parent == self.root or any(parent.iterdir()):
                break
            parent.rmdir()

    def _forget(self, folder: str) -> list[str]:
        """No file below the folder counts as changed any more; their paths below it."""
        names = [path for path in self.touched if path.startswith(f"{folder}/")]
        self.touched.difference_update(names)
        return [name.removeprefix(f"{folder}/") for name in names]

    def _refuse_canaries(self, path: Path, relative: str) -> None:
        if not self._canaries:
            return
        kept = b""
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                window = kept + block
                if any(canary in window for canary in self._canaries):
                    raise PublishRefused(f"{relative}: holds the canary of a held-out file; it was not published")
                kept = window[-(self._longest - 1) :] if self._longest > 1 else b""


@contextmanager
def building(site_root: Path, deployment: str, canaries: Collection[str]) -> Iterator[Build]:
    """A build that starts as the tree shown and is shown when the block ends without an exception.

    A block that fails leaves the tree shown as it was. Killed at any point, the next call clears what was left
    behind. Raises PublishRefused for a place that holds another deployment's tree or anything that is no tree of
    ours, and where another publish of the tree does not end.
    """
    site_root.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(site_root.parent / f".{site_root.name}.lock", timeout=_WAIT):
            shown = _shown(site_root, deployment)
            last_two = _last_two(site_root, shown)
            _clear(site_root, keep=last_two)
            number = 0 if shown is None else _number(site_root, shown)
            root = site_root.parent / f".{site_root.name}-{number + 1}"
            try:
                folders = _start(root, last_two)
                build = Build(root, canaries)
                yield build
                _finish(build, deployment, shown, folders)
            except BaseException:
                shutil.rmtree(root, ignore_errors=True)
                raise
            _show(site_root, root)
            _clear(site_root, keep=_last_two(site_root, root))
    except Timeout:
        raise PublishRefused(
            f"{site_root}: another publish has been writing for {_WAIT:.0f} s; nothing was changed"
        ) from None


def _shown(site_root: Path, deployment: str) -> Path | None:
    """The build to go on from: the one that visitors see, else the newest finished one, else None."""
    if site_root.is_symlink():
        build = site_root.parent / site_root.readlink()
        if not build.is_dir():
            raise PublishRefused(f"{site_root}: points to {build.name}, which is gone; restore it or remove the link")
    elif site_root.exists() and (not site_root.is_dir() or any(site_root.iterdir())):
        raise PublishRefused(
            f"{site_root}: holds files that publish did not write; name an empty folder or one of {deployment}"
        )
    else:
        # A first publish killed just before its link, or a link that somebody removed: history is not to be lost.
        finished = [build for build in _builds(site_root) if (build / MARKER).is_file()]
        if not finished:
            return None
        build = max(finished, key=lambda path: _number(site_root, path))
    marker = build / MARKER
    owner = marker.read_text(encoding="utf-8").strip() if marker.is_file() else "nobody"
    if owner != deployment:
        raise PublishRefused(f"{site_root}: is the tree of {owner}, not of {deployment}; name another folder")
    return build


def _start(root: Path, last_two: list[Path]) -> set[Path]:
    """Make the new build equal to the first of these, where there is one; the folders that it changed to do so."""
    if not last_two:
        root.mkdir()
        return set()
    shown, *before = last_two
    changes = [_changes(shown, earlier) for earlier in before]
    if changes and changes[0] is not None:
        spare, renewed = before[0], changes[0]
        (spare / MARKER).unlink()  # from here on it is no finished build, and no publish starts from it
        _sync_folder(spare)
        spare.rename(root)
        for relative in renewed:
            if (shown / relative).exists():
                _link(shown / relative, root / relative)
            else:
                (root / relative).unlink(missing_ok=True)
        return {(root / relative).parent for relative in renewed}
    shutil.copytree(shown, root, copy_function=os.link, ignore=shutil.ignore_patterns(MARKER, _CHANGES))
    return {Path(folder) for folder, _, _ in os.walk(root)}


def _changes(build: Path, earlier: Path) -> set[str] | None:
    """The files that the build has otherwise than the finished build before it; None where that is not known."""
    listed = build / _CHANGES
    if not listed.is_file() or not (earlier / MARKER).is_file():
        return None
    since, *paths = listed.read_text(encoding="utf-8").splitlines()
    return set(paths) if since == earlier.name else None


def _finish(build: Build, deployment: str, shown: Path | None, folders: set[Path]) -> None:
    """Make the build durable, with what it changed, then mark it finished."""
    root = build.root
    folders |= {(root / path).parent for path in build.touched}
    for each in folders | {parent for folder in folders for parent in folder.parents}:
        if each.is_relative_to(root):
            _sync_folder(each)
    since = "" if shown is None else shown.name
    _write(root / _CHANGES, "".join(f"{line}\n" for line in (since, *sorted(build.touched))))
    _write(root / MARKER, f"{deployment}\n")
    _sync_folder(root)
    _sync_folder(root.parent)


def _write(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    target.hardlink_to(source)


def _show(site_root: Path, root: Path) -> None:
    """Replace the link in one step, durable."""
    fresh = site_root.parent / f".{site_root.name}-link"
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(root.name)
    if site_root.is_dir() and not site_root.is_symlink():
        site_root.rmdir()  # an empty folder that somebody made ready
    fresh.replace(site_root)
    _sync_folder(site_root.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _builds(site_root: Path) -> list[Path]:
    pattern = re.compile(rf"\.{re.escape(site_root.name)}-[0-9]+")
    return [path for path in site_root.parent.iterdir() if pattern.fullmatch(path.name) and path.is_dir()]


def _number(site_root: Path, build: Path) -> int:
    return int(build.name.removeprefix(f".{site_root.name}-"))


def _last_two(site_root: Path, shown: Path | None) -> list[Path]:
    """The build shown and the newest before it; a later number is what a killed publish left."""
    if shown is None:
        return []
    earlier = [build for build in _builds(site_root) if _number(site_root, build) < _number(site_root, shown)]
    return [shown, *sorted(earlier, key=lambda build: _number(site_root, build))[-1:]]


def _clear(site_root: Path, keep: Collection[Path]) -> None:
    for build in _builds(site_root):
        if build.name not in {kept.name for kept in keep}:
            shutil.rmtree(build)


def _written_forms(canary: str) -> set[bytes]:
    """How a canary can stand in a page, a JSON text or a table."""
    forms = {canary, escape(canary), dumps(canary)[1:-1], dumps(canary, ensure_ascii=False)[1:-1]}
    return {form.encode("utf-8", "surrogatepass") for form in forms if form}
