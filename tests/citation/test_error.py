"""What a refusal says, and that it never says the refused text unless asked to draw it."""

import pickle

import pytest

from harness.citation.error import CitationError
from harness.citation.format import format_citation
from harness.citation.parse import parse_citation
from tests.citation.styles import STYLES


def refusal(name: str, text: str) -> CitationError:
    with pytest.raises(CitationError) as caught:
        parse_citation(text, STYLES[name])
    return caught.value


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "asme",
            "[ASME B31.4 §1.a note]",
            "citation, character 17: expected ']'",
        ),
        (
            "sae",
            "[SAE J1939-21:2023 §5.2]",
            "citation, character 18: expected a standard and edition that the style lists, "
            "as [{society} {standard}:{edition_year} {section}]",
        ),
        ("asme", "[ASME B31.3 clause 1]", "citation, character 14: expected a section as the style writes it"),
        ("asme", "[ASME B31.3 §304.1] ", "citation, character 20: expected nothing more"),
        ("asme", "[ASME B31.3 §304.]", "citation, character 18: expected a further element of the number"),
        ("nfpa", "[NFPA 70 art. 250 Pt. III]", "citation, character 20: expected 'Part' and its number"),
        ("nfpa", "[NFPA 70 ch. 9 Tbl. 1]", "citation, character 17: expected a table of the chapter"),
    ],
)
def test_error_of_the_strict_parser(name: str, text: str, message: str) -> None:
    assert str(refusal(name, text)) == message


def test_error_diagram_draws_the_text_and_a_caret() -> None:
    assert refusal("asme", "[ASME B31.3\t§304.1.2]").diagram() == (
        "[ASME B31.3·§304.1.2]\n"
        "           ^ expected a standard and edition that the style lists, as [{society} {standard} {section}]"
    )


def test_error_never_shows_the_text() -> None:
    error = refusal("asme", "[ASME held-out §304.1.2]")
    assert "held-out" not in f"{error} {error!r} {error.args}"
    assert "held-out" in error.diagram()


def test_error_survives_a_pickle() -> None:
    error = refusal("asme", "[ASME B31.3 §]")
    copied = pickle.loads(pickle.dumps(error))
    assert (str(copied), copied.position, copied.diagram()) == (str(error), error.position, error.diagram())


@pytest.mark.parametrize(
    ("name", "standard", "section", "edition_year", "message"),
    [
        ("sae", "J1708", "§5.2", 2024, "standard: expected a standard that the style lists"),
        ("sae", 1939, "§5.2", 2024, "standard: expected a standard that the style lists"),
        ("sae", ["J1939-21"], "§5.2", 2024, "standard: expected a standard that the style lists"),
        ("sae", "J1939-21", "§5.2", None, "edition_year: expected a year, because the style prints it"),
        ("sae", "J1939-21", "§5.2", 2023, "edition_year: expected a year that the style lists for the standard"),
        ("sae", "J1939-21", "§5.2", "2024", "edition_year: expected a year that the style lists for the standard"),
        ("sae", "J1939-21", "§5.2", 2024.0, "edition_year: expected a year that the style lists for the standard"),
        ("asme", "B31.3", "§5.2", True, "edition_year: expected a year that the style lists for the standard"),
        ("asme", "B31.3", "§5.2", 2023, "edition_year: expected a year that the style lists for the standard"),
        ("asme", "B31.3", "§5.2 ", None, "section, character 5: expected the end of the section"),
        ("asme", "B31.3", "304.1", None, "section, character 1: expected a section as the style writes it"),
        ("asme", "B31.3", None, None, "section: expected a string"),
    ],
)
def test_error_of_format(name: str, standard: object, section: object, edition_year: object, message: str) -> None:
    with pytest.raises(CitationError) as caught:
        format_citation(STYLES[name], standard=standard, section=section, edition_year=edition_year)
    assert str(caught.value) == message


def test_format_takes_a_listed_year_that_the_style_does_not_print() -> None:
    style = STYLES["asme"]
    with_year = format_citation(style, standard="B31.3", section="§304.1.2", edition_year=2022)
    without = format_citation(style, standard="B31.3", section="§304.1.2", edition_year=None)
    assert with_year == without == "[ASME B31.3 §304.1.2]"
