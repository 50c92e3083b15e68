"""Which characters are marked: the laws of a contrast, and a table of what a reader sees."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.site.contrast import CUT, LONGEST_ALIGNED, Contrasted, contrast, plain
from harness.site.text import LONGEST_SHOWN

NEAR = st.text("[]ASME B31.3§0-–\u00a0\u0410", max_size=40)
TEXTS = st.one_of(NEAR, st.text(st.characters(), max_size=300))


def marked(segments: Contrasted) -> str:
    """The segments with braces around what differs."""
    return "".join(f"{{{text}}}" if differs else text for text, differs in segments)


@pytest.mark.parametrize(
    ("one", "other", "first", "second"),
    [
        ("[ASME B31.3 §304.1.2]", "[ASME B31.3 §304.1.3]", "[ASME B31.3 §304.1.{2}]", "[ASME B31.3 §304.1.{3}]"),
        ("[SAE J1939-21 §5]", "[SAE J1939–21 §5]", "[SAE J1939{-}21 §5]", "[SAE J1939{–}21 §5]"),
        ("[ACI §1]", "[ACI  §1]", "[ACI §1]", "[ACI { }§1]"),
        ("[ACI §1.2.3]", "[ACI §1.2]", "[ACI §1.2{.3}]", "[ACI §1.2]"),
        ("[ASME B31.3 §3]", "ASME B31.1 §3", "{[}ASME B31.{3} §3{]}", "ASME B31.{1} §3"),
        ("[\u0041CI]", "[\u0410CI]", "[{\u0041}CI]", "[{\u0410}CI]"),
        ("same", "same", "same", "same"),
        ("", "", "", ""),
        ("", "all", "", "{all}"),
        ("aaa", "aaaa", "aaa", "aaa{a}"),
    ],
)
def test_what_is_marked(one: str, other: str, first: str, second: str) -> None:
    assert tuple(map(marked, contrast(one, other))) == (first, second)


@given(TEXTS, TEXTS)
def test_the_segments_joined_are_the_strings_again(one: str, other: str) -> None:
    for text, segments in zip((one, other), contrast(one, other), strict=True):
        whole = "".join(segment.text for segment in segments)
        assert whole == (text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + CUT)
        assert all(segment.text for segment in segments)
        assert all(left.differs is not right.differs for left, right in pairwise(segments))


@given(TEXTS, TEXTS)
def test_what_is_not_marked_is_the_same_in_both_and_marks_stand_where_strings_differ(one: str, other: str) -> None:
    first, second = contrast(one, other)
    unmarked = ["".join(text for text, differs in side if not differs).removesuffix(CUT) for side in (first, second)]
    assert unmarked[0] == unmarked[1]
    assert any(differs for _, differs in (*first, *second)) is (one != other)


@given(TEXTS)
def test_equal_strings_have_no_mark(text: str) -> None:
    assert contrast(text, text) == (plain(text), plain(text))
    assert not any(differs for _, differs in plain(text))


def test_a_difference_behind_the_cut_is_marked_at_the_cut() -> None:
    same = "x" * LONGEST_SHOWN
    assert tuple(map(marked, contrast(same + "a", same + "b"))) == (same + "{…}", same + "{…}")
    assert tuple(map(marked, contrast(same, same + "b"))) == (same, same + "{…}")
    assert tuple(map(marked, contrast(same + "b", same + "b"))) == (same + "…", same + "…")


def test_a_long_middle_is_marked_whole() -> None:
    """The worst case that a gateway could return is never aligned, however often it does."""
    one, other = "a" + "bc" * LONGEST_ALIGNED + "d", "a" + "cb" * LONGEST_ALIGNED + "d"
    assert len(contrast(one, other)[0]) == 3
    assert [len(segment.text) for segment in contrast("x" * 10_000, "y" * 10_000)[0]] == [LONGEST_SHOWN + 1]
