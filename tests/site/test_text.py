"""Strings from outside, and the chip."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.citation.model import Citation
from harness.site.text import LONGEST_SHOWN, Chip, chip_of, encodable, visible


def citation(text: str, section: str) -> Citation:
    return Citation(society="X", standard="1", section=section, edition_year=None, section_path=("1",), citation=text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("gateway 1.2", "gateway 1.2"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("1.0\u202egpj.exe", "1.0<U+202E>gpj.exe"),
        ("a\u2066b\u2069", "a<U+2066>b<U+2069>"),
        ("a\u200bb\ufeff", "a<U+200B>b<U+FEFF>"),
        ("a\nb\x00", "a<U+000A>b<U+0000>"),
        ("\ud800", "<U+D800>"),
        ("x" * 201, "x" * 200 + "…"),
        ("x" * 200, "x" * 200),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(st.characters(), max_size=300))
def test_whatever_comes_is_shown_in_seen_characters_of_utf_8(text: str) -> None:
    shown = visible(text)
    assert shown.isprintable()
    assert len(shown.encode("utf-8")) <= 10 * LONGEST_SHOWN + 3


@given(st.text(st.characters(), max_size=50))
def test_encodable_changes_lone_surrogates_only(text: str) -> None:
    written = encodable(text)
    written.encode("utf-8")
    assert (written == text) is not any("\ud800" <= character <= "\udfff" for character in text)


@pytest.mark.parametrize(
    ("text", "section", "identifier"),
    [
        ("[ASME B31.3 §304.1.2]", "§304.1.2", "ASME B31.3"),
        ("[SAE J1939-21:2024 §5.2]", "§5.2", "SAE J1939-21:2024"),
        ("[NFPA 70 ch. 9 Table 1]", "ch. 9 Table 1", "NFPA 70"),
        ("[ICC IBC 2024 §1605.1]", "§1605.1", "ICC IBC 2024"),
    ],
)
def test_a_chip_is_its_citation_again(text: str, section: str, identifier: str) -> None:
    chip = chip_of(citation(text, section))
    assert chip == Chip(identifier=identifier, section=section)
    assert chip.text == text


@pytest.mark.parametrize("text", ["ASME B31.3 §304", "[ASME §304 B31.3]", "[ASME B31.3 §305]"])
def test_error_a_citation_that_does_not_end_in_its_section(text: str) -> None:
    with pytest.raises(ValueError, match=r"^a citation whose string does not end in its section: §304$"):
        chip_of(citation(text, "§304"))
