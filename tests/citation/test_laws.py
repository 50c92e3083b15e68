"""The laws of citations.md, each over every style in testsets/ and over two styles of NIST."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.citation.error import CitationError
from harness.citation.format import format_citation
from harness.citation.model import Citation
from harness.citation.parse import parse_citation, parse_section
from harness.citation.style import Style
from tests.citation.styles import LAW, STYLES, citations, society_table

EVERY_STYLE = pytest.mark.parametrize("name", STYLES)
EXAMPLES = [(name, example) for name in STYLES for example in society_table(name)["examples"]]
REFUSED = [(name, refused["citation"]) for name in STYLES for refused in society_table(name)["refused"]]
FOREIGN = "\x00\n\té–§§\U0001f600"


def accepted(text: str, style: Style) -> Citation | None:
    try:
        return parse_citation(text, style)
    except CitationError:
        return None


def refusal(text: str, style: Style) -> CitationError:
    with pytest.raises(CitationError) as caught:
        parse_citation(text, style)
    return caught.value


def test_the_laws_have_cases() -> None:
    assert {"asme", "sae", "aci", "awwa", "nfpa", "icc", "asce", "nist", "nist_unlabelled"} <= set(STYLES)
    assert {name for name, _ in EXAMPLES} == set(STYLES) == {name for name, _ in REFUSED}
    assert len(EXAMPLES) >= 50
    assert len(REFUSED) >= 40


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=lambda value: value if isinstance(value, str) else "")
def test_every_example_parses_to_its_fields(name: str, example: dict[str, object]) -> None:
    citation = parse_citation(str(example["citation"]), STYLES[name])
    assert {
        "citation": citation.citation,
        "standard": citation.standard,
        "section": citation.section,
        "section_path": list(citation.section_path),
        **({} if citation.edition_year is None else {"edition_year": citation.edition_year}),
    } == example


@pytest.mark.parametrize(("name", "text"), REFUSED)
def test_a_refused_example_stays_refused(name: str, text: str) -> None:
    assert accepted(text, STYLES[name]) is None


@EVERY_STYLE
@given(data=st.data())
@LAW
def test_parse_of_format_gives_the_fields_that_the_style_prints(name: str, data: st.DataObject) -> None:
    style = STYLES[name]
    drawn = data.draw(citations(style))
    text = format_citation(style, standard=drawn.standard, section=drawn.section, edition_year=drawn.edition_year)
    assert text == drawn.printed(style)
    assert parse_citation(text, style) == Citation(
        society=style.society,
        standard=drawn.standard,
        section=drawn.section,
        edition_year=drawn.edition_year if style.prints_edition else None,
        section_path=drawn.section_path,
        citation=text,
    )
    assert parse_section(drawn.section, style).kind == drawn.kind


@EVERY_STYLE
@given(data=st.data())
@LAW
def test_format_of_parse_is_byte_equal_for_all_that_is_accepted(name: str, data: st.DataObject) -> None:
    style = STYLES[name]
    text = data.draw(citations(style)).printed(style)
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(at, min(len(text), at + 2)))
    text = text[:at] + data.draw(st.text("0123456789.-()aBI ", max_size=2)) + text[cut:]
    citation = accepted(text, style)
    if citation is not None:
        printed = format_citation(
            style, standard=citation.standard, section=citation.section, edition_year=citation.edition_year
        )
        assert printed == text == citation.citation


@EVERY_STYLE
@given(data=st.data())
@LAW
def test_no_canonical_string_parses_to_other_fields_under_another_style_of_its_society(
    name: str, data: st.DataObject
) -> None:
    style = STYLES[name]
    drawn = data.draw(citations(style))
    own = parse_citation(drawn.printed(style), style)
    others = [other for other in STYLES.values() if other.society == style.society and other != style]
    for other in (*others, style.with_default_format()):
        read = accepted(own.citation, other)
        if read is not None:
            assert replace(read, edition_year=None) == replace(own, edition_year=None)
            assert read.edition_year in (own.edition_year, None) or own.edition_year is None


@EVERY_STYLE
@given(data=st.data())
@LAW
def test_a_refusal_names_the_first_offending_character(name: str, data: st.DataObject) -> None:
    style = STYLES[name]
    text = data.draw(citations(style)).printed(style)
    at = data.draw(st.integers(0, len(text)))
    foreign = data.draw(st.sampled_from([char for char in FOREIGN if not text.startswith(char, at)]))
    if not any(word.startswith(foreign) for word in style.grammar.words.values()):
        assert refusal(text[:at] + foreign + text[at:], style).position == at
    if at < len(text):
        assert refusal(text[:at], style).position == at


@EVERY_STYLE
@given(data=st.data())
@LAW
def test_white_space_and_tails_are_refused_where_they_begin(name: str, data: st.DataObject) -> None:
    style = STYLES[name]
    drawn = data.draw(citations(style))
    text = drawn.printed(style)
    section = text.index(drawn.section, len(text) - len(drawn.section) - len(style.suffix))
    assert refusal(text + "\n", style).position == len(text)
    assert refusal(f" {text}", style).position == 0
    assert refusal(f"{text[:section]} {text[section:]}", style).position == section
    assert accepted(f"{text[:-1]} note]", style) is None
    assert accepted(f"{text[:-1]}, {drawn.section}]", style) is None
    assert accepted(f"{text[:-1]} {drawn.section}]", style) is None


@EVERY_STYLE
@given(data=st.data())
@LAW
def test_a_range_is_never_one_section(name: str, data: st.DataObject) -> None:
    style = STYLES[name]
    first, last = data.draw(citations(style)), data.draw(citations(style))
    bare = last.section.removeprefix(style.grammar.words["section"])
    for dash in ("-", "–", " to ", " - "):
        if bare != last.section or last.kind != "section":
            assert accepted(f"{first.printed(style)[:-1]}{dash}{last.section}]", style) is None
        if "." in first.section and "." in bare.partition("(")[0] and first.kind == last.kind == "section":
            assert accepted(f"{first.printed(style)[:-1]}{dash}{bare}]", style) is None
