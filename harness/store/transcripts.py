"""Transcripts: what was sent and what came back, byte for byte, in compressed segments."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from harness.errors import StoreError
from harness.gateway.answer import Answer, Question
from harness.store.files import BlobStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """One item's call: the question without secrets, the answer with its raw body. Times are UTC text."""

    slug: str
    item_id: str
    question: Question = field(repr=False)
    answer: Answer = field(repr=False)
    asked_at: str
    answered_at: str


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(list[Transcript])


def save_segment(blobs: BlobStore, transcripts: Sequence[Transcript]) -> str:
    """Write one segment durably; its digest. The place of a transcript in it is its index.

    Passages are not written: they are decoded from the raw body again, so that only one of the two can be true.
    """
    lean = [replace(each, answer=replace(each.answer, passages=())) for each in transcripts]
    return blobs.save(_ENCODER.encode(lean))


def load_segment(blobs: BlobStore, digest: str) -> list[Transcript]:
    """The transcripts of a segment with `passages` empty. Raises StoreError where the segment is broken."""
    try:
        return _DECODER.decode(blobs.load(digest))
    except msgspec.DecodeError as error:
        raise StoreError(f"transcript segment {digest}: not readable by this release: {error}") from None


def read_places(blobs: BlobStore, places: Iterable[tuple[str, int]]) -> Iterator[Transcript]:
    """Transcripts at (segment, place), in the order given; neighbours of one segment cost one read."""
    held_digest, held = "", list[Transcript]()
    for digest, place in places:
        if digest != held_digest:
            held_digest, held = digest, load_segment(blobs, digest)
        if not 0 <= place < len(held):
            raise StoreError(f"transcript segment {digest}: has no place {place}; restore it from a backup")
        yield held[place]
