"""Content-addressed files beside the database, durable before any row points to them (operations.md, Storage)."""

import hashlib
import io
import os
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import zstandard

from harness.errors import StoreError

MAX_UNPACKED: Final = 1 << 31
"""Refuse to unpack more than this many bytes from one file: a broken header must not take the machine's memory."""


class BlobStore:
    """Blobs named by the SHA-256 of their unpacked bytes, each a zstandard frame below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def save(self, data: bytes) -> str:
        """Store the bytes and return their digest once they would survive a power cut.

        Storing again writes nothing, unless the file has been torn or altered since: then it is made whole. Raises
        StoreError where the disk refuses (full, read-only).
        """
        digest = hashlib.sha256(data).hexdigest()
        target = self.path(digest)
        if target.exists():
            with suppress(StoreError):
                self.load(digest)
                return digest
        packed = zstandard.ZstdCompressor(level=3, write_checksum=True).compress(data)
        try:
            _make_folder(target.parent)
            write_durably(target, packed)
        except OSError as error:
            raise StoreError(f"{target.parent}: cannot write a transcript segment: {error.strerror}") from None
        return digest

    def load(self, digest: str) -> bytes:
        """The bytes of that digest. Raises StoreError naming the file where it is absent, torn or altered."""
        path = self.path(digest)
        try:
            packed = path.read_bytes()
            # The header's own figure is what would be allocated, whatever limit `decompress` is given.
            if zstandard.frame_content_size(packed) > MAX_UNPACKED:
                raise zstandard.ZstdError("it claims to be larger than any segment")
            data = zstandard.ZstdDecompressor().decompress(packed, max_output_size=MAX_UNPACKED, allow_extra_data=False)
        except FileNotFoundError:
            raise StoreError(f"{path}: not found; restore it from a backup") from None
        except (OSError, zstandard.ZstdError) as error:
            raise StoreError(f"{path}: cannot be read ({error}); restore it from a backup") from None
        if hashlib.sha256(data).hexdigest() != digest:
            raise StoreError(f"{path}: its content does not match its name; restore it from a backup")
        return data

    def path(self, digest: str) -> Path:
        """Where the blob of that digest is, or would be."""
        return self.root / digest[:2] / f"{digest}.zst"


def _make_folder(folder: Path) -> None:
    """Make a folder and those above it, each durable in the one that holds it. Raises OSError."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def write_durably(target: Path, data: bytes) -> None:
    """Write a file so that it is either whole or absent, also after a power cut. Raises OSError."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename in that folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def pack_folder(folder: Path, names: tuple[str, ...]) -> bytes:
    """The named files of a folder as one tar whose bytes depend on names and contents only; absent ones left out."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(names):
            path = folder / name
            if path.is_file():
                content = path.read_bytes()
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


@contextmanager
def unpacked_folder(packed: bytes, name: str) -> Iterator[Path]:
    """A temporary folder of that name with the files of `pack_folder`; gone at the end.

    Raises StoreError where it cannot be unpacked, also for a member that would lie outside of the folder.
    """
    with tempfile.TemporaryDirectory(prefix="harness-") as root:
        folder = Path(root) / name
        folder.mkdir()
        try:
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                archive.extractall(folder, filter="data")
        except (OSError, tarfile.TarError) as error:
            raise StoreError(f"frozen folder {name}: cannot be unpacked ({error})") from None
        yield folder
