"""Blobs are whole or absent and named by their content; a folder packs to bytes of its names and contents only."""

import io
import os
import resource
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import StoreError
from harness.store.files import BlobStore, pack_folder, unpacked_folder, write_durably


def _file(blobs: BlobStore, digest: str) -> Path:
    return blobs.root / digest[:2] / f"{digest}.zst"


@settings(max_examples=40)
@given(data=st.binary(max_size=2000))
def test_a_blob_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    blobs = BlobStore(tmp_path_factory.mktemp("blobs"))
    assert blobs.load(blobs.save(data)) == data


def test_same_bytes_have_one_name_and_one_file(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path / "deep" / "down")
    first = blobs.save(b"abc")
    before = _file(blobs, first).stat()
    assert blobs.save(b"abc") == first == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert _file(blobs, first).stat().st_ino == before.st_ino
    assert [path for path in blobs.root.rglob("*") if path.is_file()] == [_file(blobs, first)]


def test_error_an_absent_blob_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        BlobStore(tmp_path).load("ab" * 32)
    assert str(caught.value) == f"{tmp_path}/ab/{'ab' * 32}.zst: not found; restore it from a backup"


_HUGE = b"\x28\xb5\x2f\xfd\xe0" + (1 << 40).to_bytes(8, "little") + b"\x01\x00\x00"
DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda packed: b"",
    "torn": lambda packed: packed[:-1],
    "torn in the header": lambda packed: packed[:5],
    "one bit": lambda packed: packed[:-1] + bytes([packed[-1] ^ 1]),
    "more behind": lambda packed: packed + b"x",
    "a claim of a terabyte": lambda packed: _HUGE,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_error_a_damaged_blob_is_named_and_saving_again_mends_it(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    blobs = BlobStore(tmp_path)
    digest = blobs.save(b"transcript" * 50)
    path = _file(blobs, digest)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(StoreError) as caught:
        blobs.load(digest)
    assert str(caught.value).startswith(f"{path}: cannot be read (")
    assert str(caught.value).endswith("); restore it from a backup")
    assert blobs.save(b"transcript" * 50) == digest
    assert blobs.load(digest) == b"transcript" * 50


def test_error_other_content_under_a_blobs_name_is_named(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)
    digest = blobs.save(b"one")
    _file(blobs, digest).write_bytes(zstandard.compress(b"two"))
    with pytest.raises(StoreError) as caught:
        blobs.load(digest)
    expected = f"{_file(blobs, digest)}: its content does not match its name; restore it from a backup"
    assert str(caught.value) == expected


_SAVE_UNDER_A_LIMIT = """
import random, sys
from pathlib import Path
from harness.errors import StoreError
from harness.store.files import BlobStore
try:
    BlobStore(Path(sys.argv[1])).save(random.Random(1).randbytes(100_000))
except StoreError as error:
    print(error)
"""


def test_error_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SAVE_UNDER_A_LIMIT, str(tmp_path)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)),
        capture_output=True,
        text=True,
        check=True,
    )
    (folder,) = tmp_path.iterdir()
    assert done.stdout == f"{folder}: cannot write a transcript segment: File too large\n"
    assert list(folder.iterdir()) == []


def test_error_a_store_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "taken").write_bytes(b"")
    with pytest.raises(StoreError, match=r"/taken/ba: cannot write a transcript segment: "):
        BlobStore(tmp_path / "taken").save(b"abc")


def test_writing_durably_replaces_whole_and_leaves_no_other_file(tmp_path: Path) -> None:
    target = tmp_path / "page"
    write_durably(target, b"old")
    write_durably(target, b"new")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"page": b"new"}


def test_error_what_cannot_be_replaced_stays(tmp_path: Path) -> None:
    target = tmp_path / "page"
    target.mkdir()
    with pytest.raises(OSError, match="directory"):
        write_durably(target, b"new")
    assert list(tmp_path.iterdir()) == [target]


_NAMES = st.sampled_from(["items.jsonl", "society.toml", "terms.toml", "ü.csv"])


@settings(max_examples=40)
@given(files=st.dictionaries(_NAMES, st.binary(max_size=300)), order=st.permutations(["a", "items.jsonl", "ü.csv"]))
def test_a_packed_folder_depends_on_names_and_contents_only(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], order: list[str]
) -> None:
    names = (*files, *(name for name in order if name not in files))
    one, other = (tmp_path_factory.mktemp(name) for name in ("one", "other"))
    for folder, turn, mode, moment in ((one, list(files), 0o600, 1), (other, list(files)[::-1], 0o644, 2_000_000_000)):
        for name in turn:
            (folder / name).write_bytes(files[name])
            (folder / name).chmod(mode)
            os.utime(folder / name, (moment, moment))
    (other / "notes.txt").write_bytes(b"not asked for")
    packed = pack_folder(one, names)
    assert packed == pack_folder(other, names[::-1])
    with unpacked_folder(packed, "asme") as folder:
        assert folder.name == "asme"
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == files
    assert not folder.parent.exists()


def _tar(name: str, **fields: object) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        for field, value in fields.items():
            setattr(entry, field, value)
        archive.addfile(entry)
    return buffer.getvalue()


HOSTILE = {
    "parent": _tar("../outside"),
    "deep parent": _tar("a/../../outside"),
    "link out": _tar("link", type=tarfile.SYMTYPE, linkname="../../outside"),
    "device": _tar("device", type=tarfile.CHRTYPE),
    "no archive": b"x" * 2000,
}


@pytest.mark.parametrize("packed", HOSTILE.values(), ids=HOSTILE.keys())
def test_error_a_member_outside_of_the_folder_is_refused(packed: bytes) -> None:
    with (
        pytest.raises(StoreError, match=r"^frozen folder asme: cannot be unpacked \("),
        unpacked_folder(packed, "asme"),
    ):
        pytest.fail("it was unpacked")


def test_an_error_in_the_unpacked_folder_stays_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), unpacked_folder(pack_folder(tmp_path, ("a",)), "asme") as folder:
        (folder / "a").read_bytes()
