"""Reading a [style] table: what it takes, and every defect with its whole text."""

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.citation.parse import parse_citation
from harness.citation.style import Style, StyleError
from tests.citation.styles import LAW, STYLES, society_table


def table(**changes: Any) -> dict[str, Any]:
    """A small sound [style] table with keys changed; None takes a key away."""
    sound: dict[str, Any] = {
        "words": {"section": "§", "chapter": "ch. ", "table": "Table "},
        "standards": {"1": {"editions": [2000, 2010]}},
    }
    return {key: value for key, value in (sound | changes).items() if value is not None}


def defects_of(**changes: Any) -> str:
    with pytest.raises(StyleError) as caught:
        Style.from_table(table(**changes), society="S")
    return str(caught.value)


def test_a_small_table_has_the_defaults() -> None:
    style = Style.from_table(table(), society="S")
    assert (style.format, style.containment, style.grammar.separators) == (
        "[{society} {standard} {section}]",
        "path",
        (".",),
    )
    assert parse_citation("[S 1 §2.3]", style).section_path == ("2", "3")


@pytest.mark.parametrize("name", STYLES)
def test_a_style_survives_a_pickle_and_is_a_key(name: str) -> None:
    style = STYLES[name]
    copied = pickle.loads(pickle.dumps(style))
    again = Style.from_table(society_table(name)["style"], society=style.society)
    assert copied == style == again
    assert {copied, style, again} == {style}


@pytest.mark.parametrize("name", STYLES)
def test_the_default_format_prints_no_edition(name: str) -> None:
    style = STYLES[name].with_default_format()
    assert style.format == "[{society} {standard} {section}]"
    assert {year for _, year in style.heads.values()} == {None}
    assert not style.prints_edition


def test_two_digits_are_resolved_from_the_list_of_editions() -> None:
    changes = table(format="[{society} {standard}-{edition_yy} {section}]", standards={"1": {"editions": [1922, 2021]}})
    style = Style.from_table(changes, society="S")
    assert [parse_citation(f"[S 1-{yy} §1]", style).edition_year for yy in ("21", "22")] == [2021, 1922]


def test_an_undated_standard_is_printed_without_a_year() -> None:
    style = Style.from_table(table(standards={"1": {"editions": []}}), society="S")
    assert parse_citation("[S 1 §1]", style).edition_year is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"colour": 1},
            "colour: found an unknown key; expected one of format, separators, containment, commentary_prefix, "
            "containers, tails, bracketed, joint, words, standards. Remove or rename it.",
        ),
        ({"format": 7}, "format: found 7; expected one line of text. Write it in quotes."),
        (
            {"format": "[{society} {standard} {section"},
            "format: found '[{society} {standard} {section'; expected text with placeholders in braces. "
            "The default is [{society} {standard} {section}]",
        ),
        (
            {"format": "[{society} {standard} {year} {section}]"},
            "format: found '[{society} {standard} {year} {section}]'; expected each placeholder at most once, of "
            "edition_label, edition_year, edition_yy, section, society, standard. "
            "The default is [{society} {standard} {section}]",
        ),
        (
            {"format": "[{society} {section} {standard}]"},
            "format: found '[{society} {section} {standard}]'; expected {standard}, and {section} as the last "
            "placeholder, set off by a space. The default is [{society} {standard} {section}]",
        ),
        (
            {"containment": "tree"},
            "containment: found 'tree'; expected one of path, article, leading_digits. Name one of them.",
        ),
        (
            {"separators": ["/"]},
            'separators: found [\'/\']; expected ["."] or [".", "-"]. Name the dot, and the hyphen if it splits.',
        ),
        ({"commentary_prefix": "r"}, "commentary_prefix: found 'r'; expected one capital letter. Write it as \"R\"."),
        (
            {"containers": ["Part"]},
            "containers: found 'Part'; expected the word of a kind of the style, and a word for tables. "
            "Take it from [style.words], less its space.",
        ),
        (
            {"tails": ["Part", "Part No."]},
            "tails: found ['Part', 'Part No.']; expected first words that differ. "
            "They begin path elements, in lower case.",
        ),
        (
            {"tails": ["Part", "Part"]},
            "tails: found ['Part', 'Part']; expected each text once. Remove the repeated one.",
        ),
        ({"joint": "ANSI"}, "joint: found 'ANSI'; expected a list of texts, none empty. Write it as [\"…\", \"…\"]."),
        (
            {"bracketed": ["equation"]},
            "bracketed: found 'equation'; expected a kind that has a word in [style.words]. Give it a word.",
        ),
        ({"words": "§"}, "words: found '§'; expected a table. Write it as a table of its own: [style.words].\n"
         'words: found no kind of section; expected at least one kind with its word. Add section = "§".'),
        (
            {"words": {"section": "§", "article": "§"}},
            "words.article: found '§'; expected another word than that of section. Kinds must be told apart.",
        ),
        (
            {"words": {"section": "§", "table": ""}},
            "words.table: found ''; expected the text printed before the number (may be empty for control, paragraph, "
            "section). Write the word with the space behind it.",
        ),
        (
            {"standards": None},
            'standards: found no standard; expected at least one standard. Add [style.standards."…"].',
        ),
        (
            {"standards": {"1": [2000]}},
            "standards.1: found [2000]; expected a table with editions. Write editions = [2022].\n"
            'standards: found no standard; expected at least one standard. Add [style.standards."…"].',
        ),
        (
            {"standards": {"1": {"editions": [2010, 2000]}}},
            "standards.1.editions: found [2010, 2000]; expected four-digit years, ascending, each once ([] for an "
            "undated standard). Write editions = [2018, 2022].",
        ),
        (
            {"standards": {"1": {"editions": [2010.0]}}},
            "standards.1.editions: found [2010.0]; expected four-digit years, ascending, each once ([] for an "
            "undated standard). Write editions = [2018, 2022].",
        ),
        (
            {"standards": {"1": {"editions": [2010], "labels": {"2011": "Rev. 1"}}}},
            "standards.1.labels.2011: found 'Rev. 1'; expected the year of a listed edition and its label. "
            'Write it as 2020 = "Rev. 5".',
        ),
        (
            {"standards": {"1  a": {"editions": [2010]}}},
            "standards.1  a: found '1  a'; expected the designator as the society writes it, single spaces within. "
            "Mend its spaces.",
        ),
        (
            {"format": "[{society} {standard} {edition_label} {section}]"},
            'standards.1.labels: found no label for 2000; expected a label for each edition. Add 2000 = "…" to its '
            'labels.\nstandards.1.labels: found no label for 2010; expected a label for each edition. Add 2010 = "…" '
            "to its labels.",
        ),
        (
            {
                "format": "[{society} {standard}-{edition_yy} {section}]",
                "standards": {"1": {"editions": [1910, 2010]}},
            },
            "standards: found '[S 1-10 ' for ('1', 2010) and for ('1', 1910); expected editions that print "
            "differently. Print the year with four digits, or leave one of the two out.",
        ),
        (
            {"standards": {"1": {"editions": []}, "1 §2": {"editions": []}}},
            "standards: found '[S 1 ' and '[S 1 §2 '; expected standards of which none reads as another with a section "
            "behind it. Write one of them another way.",
        ),
        (
            {"standards": {"1": {"editions": []}, "1 Table": {"editions": []}}},
            "standards: found '[S 1 ' and '[S 1 Table '; expected standards of which none reads as another with a "
            "section behind it. Write one of them another way.",
        ),
    ],
)  # fmt: skip
def test_error_of_a_style_table(changes: dict[str, Any], message: str) -> None:
    assert defects_of(**changes) == message


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(("§", "{standard}")),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=3), values, max_size=3),
    max_leaves=6,
)


@given(key=st.sampled_from(sorted(table(format="", separators=[], containment="", tails=[], joint=[]))), value=ANYTHING)
@LAW
def test_any_value_is_taken_or_refused_as_a_defect(key: str, value: Any) -> None:
    given_table = table() | {key: value}
    try:
        style = Style.from_table(given_table, society="S")
    except StyleError as error:
        assert error.defects
    else:
        assert style.heads


@given(value=ANYTHING)
@LAW
def test_any_standard_is_taken_or_refused_as_a_defect(value: Any) -> None:
    for standard in (value, {"editions": value}, {"editions": [2000], "labels": value, "aliases": value}):
        try:
            assert Style.from_table(table(standards={"1": standard}), society="S").standards.keys() == {"1"}
        except StyleError as error:
            assert all(defect.field.startswith("standards") for defect in error.defects)


def test_error_names_every_defect_at_once() -> None:
    with pytest.raises(StyleError) as caught:
        Style.from_table(table(containment="x", separators=[], commentary_prefix=3, standards={}), society="S")
    assert [defect.field for defect in caught.value.defects] == [
        "containment",
        "separators",
        "commentary_prefix",
        "standards",
    ]


def test_a_standard_may_go_on_where_no_section_begins() -> None:
    style = Style.from_table(table(standards={"1": {"editions": []}, "1 Division 1": {"editions": []}}), society="S")
    assert parse_citation("[S 1 Division 1 §2]", style).standard == "1 Division 1"
    assert parse_citation("[S 1 §2]", style).standard == "1"
