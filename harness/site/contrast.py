"""In which characters two strings differ: what the internal report and `harness show` mark."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final, NamedTuple, TypeAlias

from harness.site.text import LONGEST_SHOWN

LONGEST_ALIGNED: Final = 32
"""Between the common ends, strings up to this length are aligned; aligning costs up to the cube of it, and a gateway
may return the worst case in every answer. What differs in a longer stretch is marked whole."""

CUT: Final = "…"
"""Stands for what was cut off."""


class Segment(NamedTuple):
    """A stretch of a string, never empty; `differs`: the other string has something else, or nothing, in its place."""

    text: str
    differs: bool


Contrasted: TypeAlias = tuple[Segment, ...]
"""A string whole: its segments joined, neighbours unlike."""


def contrast(one: str, other: str, longest: int = LONGEST_SHOWN) -> tuple[Contrasted, Contrasted]:
    """Both strings as segments, each cut at `longest` characters with `CUT` behind, which differs where the rest does.

    The segments are raw: whoever shows one makes it visible. Code points are compared, as in the score.
    """
    if one == other:
        return plain(one, longest), plain(one, longest)
    tails_differ = one[longest:] != other[longest:]
    first, second = one[:longest], other[:longest]
    start = _shared_length(first, second)
    shortest = min(len(first), len(second)) - start
    end = _shared_length(first[len(first) - shortest :][::-1], second[len(second) - shortest :][::-1])
    middles = list(_middles(first[start : len(first) - end], second[start : len(second) - end]))
    contrasted = []
    for side, whole in enumerate((one, other)):
        cut = whole[:longest]
        segments = [Segment(cut[:start], False)]
        segments += [Segment(pair[side], differs) for *pair, differs in middles]
        segments.append(Segment(cut[len(cut) - end :] if end else "", False))
        segments.append(Segment(CUT if len(whole) > longest else "", tails_differ))
        contrasted.append(tuple(_joined(segments)))
    return contrasted[0], contrasted[1]


def plain(text: str, longest: int = LONGEST_SHOWN) -> Contrasted:
    """A string without a mark, cut like a contrasted one."""
    cut = text[:longest] + (CUT if len(text) > longest else "")
    return (Segment(cut, False),) if cut else ()


def _shared_length(one: str, other: str) -> int:
    """How many characters both begin with."""
    for place, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return place
    return min(len(one), len(other))


def _middles(one: str, other: str) -> Iterator[tuple[str, str, bool]]:
    """What stands between the common ends, in pairs that are equal or differ."""
    if not one or not other or max(len(one), len(other)) > LONGEST_ALIGNED:
        yield one, other, True
        return
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    for name, start, end, other_start, other_end in matcher.get_opcodes():
        yield one[start:end], other[other_start:other_end], name != "equal"


def _joined(segments: list[Segment]) -> Iterator[Segment]:
    """The segments without empty ones, like neighbours made one."""
    held = Segment("", False)
    for each in segments:
        if not each.text:
            continue
        if held.text and held.differs is each.differs:
            held = Segment(held.text + each.text, held.differs)
            continue
        if held.text:
            yield held
        held = each
    if held.text:
        yield held
