"""A transcript is stored byte for byte, passages apart, and read back at its place."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import StoreError
from harness.store.files import BlobStore
from harness.store.transcripts import Transcript, load_segment, read_places, save_segment
from tests.store.factories import TRANSCRIPTS, transcript


@settings(max_examples=50)
@given(transcripts=st.lists(TRANSCRIPTS, max_size=4))
def test_a_segment_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, transcripts: list[Transcript]
) -> None:
    blobs = BlobStore(tmp_path_factory.mktemp("blobs"))
    assert load_segment(blobs, save_segment(blobs, transcripts)) == transcripts


def test_passages_are_left_to_be_decoded_from_the_raw_body(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)
    plain = transcript(raw=b'{"passages":[{}]}')
    decoded = replace(plain, answer=replace(plain.answer, passages=({},)))
    assert save_segment(blobs, [decoded]) == save_segment(blobs, [plain])
    assert decoded.answer.passages == ({},)


@settings(max_examples=30)
@given(order=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=12))
def test_places_are_read_in_any_order(tmp_path_factory: pytest.TempPathFactory, order: list[tuple[int, int]]) -> None:
    blobs = BlobStore(tmp_path_factory.mktemp("blobs"))
    digests = [save_segment(blobs, [transcript(f"{segment}-{place}") for place in range(4)]) for segment in range(3)]
    read = read_places(blobs, [(digests[segment], place) for segment, place in order])
    assert [each.item_id for each in read] == [f"{segment}-{place}" for segment, place in order]


@pytest.mark.parametrize("place", [-1, 1, 10**9])
def test_error_a_place_that_a_segment_does_not_have(tmp_path: Path, place: int) -> None:
    blobs = BlobStore(tmp_path)
    digest = save_segment(blobs, [transcript()])
    with pytest.raises(StoreError) as caught:
        list(read_places(blobs, [(digest, 0), (digest, place)]))
    assert str(caught.value) == f"transcript segment {digest}: has no place {place}; restore it from a backup"


@pytest.mark.parametrize("content", [b"", b"\xc1", b"\x91\x80", b"\x90\x90"])
def test_error_a_segment_of_another_form_is_named(tmp_path: Path, content: bytes) -> None:
    blobs = BlobStore(tmp_path)
    digest = blobs.save(content)
    with pytest.raises(StoreError, match=f"^transcript segment {digest}: not readable by this release: "):
        load_segment(blobs, digest)


def test_error_no_held_out_text_shows() -> None:
    plain = transcript(raw=b"held out", ledger_entry_id="entry")
    secret = replace(plain, question=replace(plain.question, query="held out"))
    assert "held out" not in repr(secret) + repr(secret.question) + repr(secret.answer)
