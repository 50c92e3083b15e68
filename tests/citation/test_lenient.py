"""The lenient parser: what it sees through, step by step, and what it refuses."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.citation.lenient import MAX_LENGTH, STEPS, find_citation, fold_lookalikes
from harness.citation.model import Citation
from harness.citation.parse import parse_citation, parse_section
from harness.citation.style import Style
from tests.citation.styles import LAW, STYLES, citations

# text, canonical string found, edition found, steps
FOUND = [
    ("asme", "[ASME B31.3 &sect;304.1.2]", "[ASME B31.3 §304.1.2]", None, "entities"),
    ("asme", "[ASME B31.3 &amp;sect;304.1.2]", "[ASME B31.3 §304.1.2]", None, "entities"),
    ("asme", "[ASME\u200b B31.3 §304\u00ad.1.2]", "[ASME B31.3 §304.1.2]", None, "invisible"),
    ("asme", "[ASME B31.3 Table A−1]", "[ASME B31.3 Table A-1]", None, "dashes"),
    ("asme", "`[ASME B31.3 §304.1.2]`.", "[ASME B31.3 §304.1.2]", None, "trailing_punctuation quotes"),
    ("asme", "“[ASME B31.3 §304.1.2].”", "[ASME B31.3 §304.1.2]", None, "quotes trailing_punctuation"),
    ("asme", "(ASME B31.3 §304.1.2)", "[ASME B31.3 §304.1.2]", None, "brackets"),
    ("asme", "ASME B31.3 §304.1.2", "[ASME B31.3 §304.1.2]", None, "brackets"),
    ("asme", "[ANSI/ASME B31.3 §304.1.2]", "[ASME B31.3 §304.1.2]", None, "joint_society"),
    ("asme", "[ASME B31.3-2022 §304.1.2]", "[ASME B31.3 §304.1.2]", 2022, "edition_form"),
    ("asme", "[ASME B31.3 - 2022 §304.1.2]", "[ASME B31.3 §304.1.2]", 2022, "edition_form"),
    ("asme", "[ASME B31.3-2023 §304.1.2]", "[ASME B31.3 §304.1.2]", 2023, "edition_form edition_not_listed"),
    ("asme", "[ASME B31.3 para. 304.1.2 (a)]", "[ASME B31.3 §304.1.2(a)]", None, "section_spaces section_word"),
    ("asme", "[ASME B31.3 §m302.2.4]", "[ASME B31.3 §M302.2.4]", None, "case"),
    ("asme", "[ASME B31.3 table a-1]", "[ASME B31.3 Table A-1]", None, "case"),
    ("asme", "[ASME B31.3 Eq. 3a]", "[ASME B31.3 Eq. (3a)]", None, "number_brackets"),
    ("asme", "[ASME B31.3 Appendix F]", "[ASME B31.3 App. F]", None, "section_word"),
    ("asme", "[ASME BPVC.VIII.1 paragraph ug-27(c)(1)]", "[ASME BPVC.VIII.1 UG-27(c)(1)]", None, "section_word case"),
    ("aci", "[ACI CODE-318-19 §22.5]", "[ACI 318-19 §22.5]", 2019, "designation_word"),
    ("aci", "[ACI 318-2019 §22.5]", "[ACI 318-19 §22.5]", 2019, "edition_form"),
    ("aci", "[ACI 318-21 §22.5]", "[ACI 318-21 §22.5]", 2021, "edition_not_listed"),
    ("aci", "[ACI 318-70 §22.5]", "[ACI 318-70 §22.5]", 1970, "edition_not_listed"),
    ("aci", "[ACI 318 §22.5]", "[ACI 318 §22.5]", None, "edition_missing"),
    ("asce", "ASCE/SEI 7-16, Section 12.8", "[ASCE 7-16 §12.8]", 2016, "brackets joint_society comma section_word"),
    ("asce", "[SEI/ASCE 7-22 ch. 12]", "[ASCE 7-22 ch. 12]", 2022, "joint_society"),
    ("asce", "[ASCE7-22 ch. 12]", "[ASCE 7-22 ch. 12]", 2022, "society_gap"),
    ("asce", "[ASCE 7-22 C12.8.1]", "[ASCE 7-22 §C12.8.1]", 2022, "missing_sign"),
    ("nfpa", "[NFPA 70 (2023) Chapter 9, Table 1]", "[NFPA 70 ch. 9 Table 1]", 2023, "edition_form section_word"),
    ("nfpa", "[NEC 250.66]", "[NFPA 70 §250.66]", None, "alias missing_sign"),
    ("nfpa", "[NFPA NEC §250.66]", "[NFPA 70 §250.66]", None, "alias"),
    ("nfpa", "[NFPA 70 §250.66, exception 1]", "[NFPA 70 §250.66 Exception No. 1]", None, "tail_word"),
    ("nfpa", "[NFPA 70 article 250 part iii]", "[NFPA 70 art. 250 Part III]", None, "tail_word section_word"),
    ("nfpa", "[the 2022 edition of NFPA 13, §9.2]", "[NFPA 13 §9.2]", 2022, "year_first comma"),
    ("nfpa", "[NFPA 13, 2022 Edition, §9.2]", "[NFPA 13 §9.2]", 2022, "edition_form comma"),
    ("icc", "[2021 ICC IBC §903.2]", "[ICC IBC 2021 §903.2]", 2021, "year_first"),
    ("icc", "[ICC 2021 IBC §903.2]", "[ICC IBC 2021 §903.2]", 2021, "year_first"),
    ("icc", "[ICC IBC2021 §903.2]", "[ICC IBC 2021 §903.2]", 2021, "edition_form"),
    ("icc", "[ICC IBC §903.2]", "[ICC IBC §903.2]", None, "edition_missing"),
    ("icc", "[ICC IBC 2030 §903.2]", "[ICC IBC 2030 §903.2]", 2030, "edition_not_listed"),
    ("sae", "[SAE J1939-21 REV APR 2001 §5.1]", "[SAE J1939-21:2001 §5.1]", 2001, "edition_form"),
    ("sae", "[SAE J1939-21 Jul98 §5.1]", "[SAE J1939-21:1998 §5.1]", 1998, "edition_form"),
    ("sae", "[SAE-J1939-21.2006 §5.1]", "[SAE J1939-21:2006 §5.1]", 2006, "society_gap edition_form"),
    ("sae", "[SAE J 1939-21:2006 §5.1]", "[SAE J1939-21:2006 §5.1]", 2006, "standard_form"),
    ("awwa", "[AWWA Manual M11, 2017, Table 7-3]", "[AWWA M11 Table 7-3]", 2017, "designation_word edition_form comma"),
    ("nist", "[NIST SP 800-53 Rev. 5 ac-2 (1)]", "[NIST SP 800-53 Rev. 5 AC-2(1)]", 2020, "section_spaces case"),
    ("nist", "[NIST SP 800-53 Revision 4 AC-2]", "[NIST SP 800-53 Rev. 4 AC-2]", 2013, "edition_form"),
    ("nist", "[NIST SP 800-53 Rev. 4 control AC-2]", "[NIST SP 800-53 Rev. 4 AC-2]", 2013, "section_word"),
]  # fmt: skip

SEVERAL = [
    ("asme", "[ASME B31.3 §304.7.2(b)-(d)]", "range"),
    ("asme", "[ASME B31.3 §§304.1–304.3]", "range"),
    ("asme", "[ASME B31.3 §304.1.2 through §304.1.4]", "range"),
    ("asme", "[ASME B31.3 Eq. (3a) and (3b)]", "list"),
    ("asce", "[ASCE 7-22 Tables 12.2-1 to 12.2-3]", "range"),
    ("asce", "[ASCE 7-22 Tables 12.2-1 and 12.2-2]", "list"),
    ("asce", "[ASCE 7-22 §12.8 & §12.9]", "list"),
    ("nfpa", "[NFPA 70 §250.50, 250.52-250.53, and 250.66]", "list"),
    ("nfpa", "[NFPA 70 art. 250, art. 310]", "list"),
    ("nfpa", "[NFPA 70 §250.50][NFPA 70 §250.52]", "list"),
    ("nfpa", "[NFPA 70 §250.50]; [NFPA 70 §250.52]", "list"),
    ("nfpa", "[NFPA 70 §250.50; NFPA 70 §250.52]", "list"),
    ("nist", "[NIST SP 800-53 Rev. 5 AC-2, AC-3]", "list"),
    ("nist", "[NIST SP 800-53 Rev. 5 AC-2 to AC-5]", "range"),
]

REFUSED = [
    ("asme", ""),
    ("asme", "[]"),
    ("asme", "[ASME B31.3"),
    ("asme", "[ASME B31.3 §304.1.2] see also"),
    ("asme", "[ASME B31.3 §304.1.2, note]"),
    ("asme", "[ASME B31.3 §304.1.2; note]"),
    ("asme", "[ASME B31.9.1 §304]"),
    ("asme", "[ASME B31.32 §304]"),
    ("asme", "[ASME B31.3 (draft) §304.1.2]"),
    ("asme", "[ASME B31.3 304]"),
    ("asme", "[CSA/ASME B31.3 §304.1.2]"),
    ("asme", "[ASTM B31.3 §304.1.2]"),
    ("asme", "[Aſme B31.3 §304.1.2]"),
    ("asme", "[ASME B31.³ §304.1.2]"),
    ("asme", "[ASME B31.3 §304.1.²]"),
    ("asme", "[ASME B31.3 §３０４.1.2]"),
    ("asme", "[ASME B31.3 §§304.1.2]"),
    ("aci", "[ACI 318R-19 §22.5]"),
    ("aci", "[ACI 319-19 §22.5]"),
    ("asce", "[ASCE 7-22 Supplement 1 §12.8]"),
    ("icc", "[ICC IBC2024P1 §1605.1]"),
    ("icc", "[2021 IBC Section 903.2]"),
    ("icc", "[2021 ICC IBC 2024 §903.2]"),
    ("nfpa", "[NFPA 70 2023]"),
    ("nfpa", "[NFPA 13 (2019)]"),
    ("nfpa", "[NFPA 70 §250.66 Informational Note]"),
    ("sae", "[SAE J1939-22:2024 §5.2]"),
    ("sae", "[SAE J1939-21 REV DEV2003 §5.2]"),
    ("awwa", "[AWWA M11, Fifth Edition, ch. 4]"),
]


def test_the_tables_have_each_case_once() -> None:
    assert len({case[:2] for case in FOUND}) == len(FOUND) == 47
    assert len({case[:2] for case in SEVERAL}) == len(SEVERAL) == 14
    assert len(set(REFUSED)) == len(REFUSED) == 29
    assert {step for *_, steps in FOUND for step in steps.split()} | {"spaces", "composition"} == set(STEPS)


@pytest.mark.parametrize(("name", "text", "canonical", "edition_year", "steps"), FOUND)
def test_found(name: str, text: str, canonical: str, edition_year: int | None, steps: str) -> None:
    found = find_citation(text, STYLES[name])
    assert found.citation is not None
    assert (found.citation.citation, found.citation.edition_year) == (canonical, edition_year)
    assert found.steps == tuple(steps.split())


@pytest.mark.parametrize(("name", "text", "kind"), SEVERAL)
def test_several_are_never_one(name: str, text: str, kind: str) -> None:
    found = find_citation(text, STYLES[name])
    assert (found.kind, found.citation) == (kind, None)


@pytest.mark.parametrize(("name", "text"), REFUSED)
def test_refused(name: str, text: str) -> None:
    found = find_citation(text, STYLES[name])
    assert (found.kind, found.citation) == ("none", None)


def test_a_text_too_long_for_a_citation_is_refused() -> None:
    text = "[ASME B31.3 §304.1.2]"
    padding = " " * (MAX_LENGTH - len(text))
    assert find_citation(padding + text, STYLES["asme"]).kind == "section"
    assert find_citation(padding + " " + text, STYLES["asme"]).kind == "none"


@pytest.mark.parametrize("name", STYLES)
@given(data=st.data())
@LAW
def test_a_canonical_string_takes_no_step(name: str, data: st.DataObject) -> None:
    style = STYLES[name]
    drawn = data.draw(citations(style))
    text = drawn.printed(style)
    found = find_citation(text, style)
    assert (found.kind, found.citation, found.steps) == (drawn.kind, parse_citation(text, style), ())


DISGUISES: dict[str, Callable[[str], str]] = {
    "dashes": lambda text: text.replace("-", "‑"),
    "spaces": lambda text: text.replace(" ", " \u00a0"),
    "invisible": lambda text: "\ufeff" + "\u200b".join(text),
    "entities": lambda text: text.replace("§", "&sect;").replace("-", "&#8209;"),
    "trailing_punctuation": lambda text: f"{text}.",
    "quotes": lambda text: f"“{text}”",
    "brackets": lambda text: text.replace("[", "").replace("]", ""),
    "comma": lambda text: text.replace(" §", ", §"),
    "section_spaces": lambda text: text.replace("§", "§ "),
    "section_word": lambda text: text.replace("§", "Section "),
    "case": lambda text: text.replace("Table", "TABLE").replace("Figure", "figure"),
}


@pytest.mark.parametrize("name", STYLES)
@pytest.mark.parametrize("step", DISGUISES)
@given(data=st.data())
@LAW
def test_a_disguise_is_seen_through_and_named(name: str, step: str, data: st.DataObject) -> None:
    style = STYLES[name]
    drawn = data.draw(citations(style))
    text = DISGUISES[step](drawn.printed(style))
    found = find_citation(text, style)
    canonical = parse_citation(drawn.printed(style), style)
    assert found.citation == canonical
    if text != canonical.citation:
        assert step in found.steps or (step == "entities" and found.steps == ("entities", "dashes"))


@pytest.mark.parametrize("name", STYLES)
@given(data=st.data())
@LAW
def test_what_is_found_is_canonical_but_for_the_edition(name: str, data: st.DataObject) -> None:
    style = STYLES[name]
    text = data.draw(citations(style)).printed(style)
    at = data.draw(st.integers(0, len(text)))
    text = text[:at] + data.draw(st.text(" -–.,;()§a1[]", max_size=3)) + text[at + data.draw(st.integers(0, 3)) :]
    found = find_citation(text, style)
    assert set(found.steps) <= set(STEPS)
    assert (found.citation is None) == (found.kind in ("range", "list", "none"))
    if found.citation is not None:
        assert_canonical(found.citation, style)


def assert_canonical(citation: Citation, style: Style) -> None:
    assert parse_section(citation.section, style).path == citation.section_path
    year = citation.edition_year
    printing = style.with_default_format() if year is None else style
    if year is None or year in style.standards[citation.standard].editions:
        assert parse_citation(citation.citation, printing).section == citation.section


@given(text=st.text())
@LAW
def test_folding_lookalikes_twice_is_folding_once(text: str) -> None:
    folded = fold_lookalikes(text)
    assert fold_lookalikes(folded) == folded
    assert not re.search(r"[\u2010-\u2015\u200b\u00a0]|\s{2}", folded)


def test_compatibility_characters_are_not_folded() -> None:
    assert fold_lookalikes("B31.³ ﬁ ½ ①") == "B31.³ ﬁ ½ ①"
