"""terms.toml: every defect with its whole text; what a version's digest covers."""

from datetime import date
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.testset.model import Terms
from harness.testset.society import load_society
from tests.testset.folder import CANARY, TERMS, refusals, write_society

SECOND = TERMS.replace(f"# {CANARY}\n", "\n")
"""The same version again, with line 27 its effective_from."""
KEYS = (
    "version, effective_from, effective_to, editions, checks, top_k, max_tokens, max_error_rate, min_sample, window, "
    "max_missed_nights, dispute_days, floors"
)
MEASURES = (
    "citation_correctness, correctness_when_retrieved, string_correctness, field_correctness, society_correctness, "
    "standard_correctness, section_correctness, edition_year_correctness, section_path_correctness"
)
CHECKS = "society, standard, section, edition_year, section_path, citation"
ALL_CHECKS = str(CHECKS.split(", ")).replace("'", '"')
TILING = "Tiers are half-open and tile [0, floor): each one's below is the at_least of the one above it."
QUOTE = 'Write it in quotes, like "0.95".'
DATE = "Write it as 2026-01-31, without quotes and without a time."
ANOTHER_FLOOR = """[[terms.floors]]
measure = "citation_correctness"
floor = "0.5"
rule = "point"
tiers = [{ below = "0.5", at_least = "0", credit_percent = "1" }]
"""

DEFECTS: dict[str, tuple[tuple[tuple[str, str], ...], str]] = {
    "float floor": (
        (('floor = "0.95"', "floor = 0.95"),),
        "18: terms[0].floors[0].floor: found 0.95 (a float); expected a decimal in quotes, above 0 and at "
        f"most 1. {QUOTE}",
    ),
    "float in a tier": (
        (('below = "0.90"', "below = 0.9"),),
        "22: terms[0].floors[0].tiers[1].below: found 0.9 (a float); expected a decimal in quotes, from 0 to "
        f"1. {QUOTE}",
    ),
    "integer percent": (
        (('credit_percent = "10"', "credit_percent = 10"),),
        "21: terms[0].floors[0].tiers[0].credit_percent: found 10; expected a decimal in quotes, from 0 to 100. "
        + QUOTE,
    ),
    "float error rate": (
        (('max_error_rate = "0.02"', "max_error_rate = 0.02"),),
        f"10: terms[0].max_error_rate: found 0.02 (a float); expected a decimal in quotes, from 0 to 1. {QUOTE}",
    ),
    "exponent": (
        (('floor = "0.95"', 'floor = "95e-2"'),),
        f"18: terms[0].floors[0].floor: found '95e-2'; expected a decimal in quotes, above 0 and at most 1. {QUOTE}",
    ),
    "floor of nothing": (
        (('floor = "0.95"', 'floor = "0"'),),
        f"18: terms[0].floors[0].floor: found '0'; expected a decimal in quotes, above 0 and at most 1. {QUOTE}",
    ),
    "unknown key": (
        (("top_k = 5", "top_k = 5\ntopk = 5"),),
        f"9: terms[0].topk: found an unknown key; expected one of {KEYS}. Did you mean 'top_k'?",
    ),
    "unknown key like no other": (
        (("top_k = 5", "colour = 5"),),
        f"8: terms[0].colour: found an unknown key; expected one of {KEYS}. Remove it.",
    ),
    "unknown key of a tier": (
        (('"10" }', '"10", credit = "1" }'),),
        "21: terms[0].floors[0].tiers[0].credit: found an unknown key; expected one of below, at_least, "
        "credit_percent. "
        "Did you mean 'credit_percent'?",
    ),
    "no min_sample": (
        (("min_sample = 2\n", ""),),
        "2: terms[0].min_sample: found nothing; expected an integer from 1 to 1000000000. Add min_sample.",
    ),
    "gap": (
        (('at_least = "0.90"', 'at_least = "0.91"'),),
        "20: terms[0].floors[0].tiers: found a gap at below = '0.90'; expected below = '0.91', the at_least "
        "of the tier "
        f"above it. {TILING}",
    ),
    "overlap": (
        (('at_least = "0.90"', 'at_least = "0.89"'),),
        "20: terms[0].floors[0].tiers: found an overlap at below = '0.90'; expected below = '0.89', the "
        "at_least of the "
        f"tier above it. {TILING}",
    ),
    "tiers below the floor": (
        (('below = "0.95"', 'below = "0.949"'),),
        f"20: terms[0].floors[0].tiers: found a gap at below = '0.949'; expected below = '0.95', the floor. {TILING}",
    ),
    "tiers above the floor": (
        (('below = "0.95"', 'below = "0.96"'),),
        "20: terms[0].floors[0].tiers: found an overlap at below = '0.96'; expected below = '0.95', the "
        f"floor. {TILING}",
    ),
    "tiers that end above 0": (
        (('at_least = "0"', 'at_least = "0.5"'),),
        "20: terms[0].floors[0].tiers: found no tier below 0.5; expected tiers down to 0. "
        'Set at_least = "0" in the lowest tier.',
    ),
    "tier upside down": (
        (('below = "0.95", at_least = "0.90"', 'below = "0.90", at_least = "0.95"'),),
        "21: terms[0].floors[0].tiers[0].at_least: found '0.95', not under below = '0.90'; expected a "
        "decimal less than "
        "below. A tier is at_least ≤ ratio < below; swap or correct the two.",
    ),
    "unknown measure": (
        (('"citation_correctness"', '"mrr"'),),
        f"17: terms[0].floors[0].measure: found 'mrr'; expected one of {MEASURES}. Write one of them.",
    ),
    "measure of a check left out": (
        (('"citation_correctness"', '"string_correctness"'), (', "citation"]', "]")),
        "17: terms[0].floors[0].measure: found string_correctness, which needs the check citation; expected "
        "a measure of "
        "the contracted checks, society, standard, section, edition_year, section_path. "
        "Add the check to checks or name another measure.",
    ),
    "relevance without its fields": (
        (('"citation_correctness"', '"correctness_when_retrieved"'), ('"edition_year", "section_path", ', "")),
        "17: terms[0].floors[0].measure: found correctness_when_retrieved, which needs the check edition_year and "
        "section_path; expected a measure of the contracted checks, society, standard, section, citation. "
        "Add the check to checks or name another measure.",
    ),
    "field_correctness of the string alone": (
        (('"citation_correctness"', '"field_correctness"'), (ALL_CHECKS, '["citation"]')),
        "17: terms[0].floors[0].measure: found field_correctness, which needs the check society or standard or section "
        "or edition_year or section_path; expected a measure of the contracted checks, citation. "
        "Add the check to checks or name another measure.",
    ),
    "two floors of a measure": (
        (("[[terms.floors]]\n", f"{ANOTHER_FLOOR}\n[[terms.floors]]\n"),),
        "23: terms[0].floors[1].measure: found citation_correctness again; expected one floor per measure. "
        "Take one of them out.",
    ),
    "exact rule on months": (
        (('"point"', '"exact_binomial_95"'), ('"night"', '"calendar_month"')),
        '19: terms[0].floors[0].rule: found exact_binomial_95 with the window calendar_month; expected "point", or the '
        'window "night". Change the rule or the window.',
    ),
    "month from the 2nd": (
        (("2026-01-01", "2026-01-02"), ('"night"', '"calendar_month"')),
        "4: terms[0].effective_from: found 2026-01-02; expected the 1st of a month, because the window is a month. "
        "Start the version on the 1st.",
    ),
    "date in quotes": (
        (("2026-01-01", '"2026-01-01"'),),
        f"4: terms[0].effective_from: found '2026-01-01'; expected a date. {DATE}",
    ),
    "date with a time": (
        (("2026-12-31", "2026-12-31T00:00:00Z"),),
        f"5: terms[0].effective_to: found 2026-12-31 00:00:00+00:00; expected a date. {DATE}",
    ),
    "end before the start": (
        (("2026-12-31", "2025-12-31"),),
        "5: terms[0].effective_to: found 2025-12-31; expected a date not before effective_from, 2026-01-01. "
        "Correct one of the two.",
    ),
    "edition the style lacks": (
        (("P100 = [2022]", "P100 = [2022, 2021]"),),
        "6: terms[0].editions.P100: found 2021, which the style does not list; expected one of 2018, 2022. "
        "Add it to society.toml or correct the year.",
    ),
    "standard the style lacks": (
        (("P100", "P101"),),
        "6: terms[0].editions.P101: found 'P101', which the style does not list; expected one of P100, Q7. "
        "Add it to society.toml or correct the name.",
    ),
    "edition as a float": (
        (("[2022]", "[2022.0]"),),
        "6: terms[0].editions.P100: found [2022.0]; expected a list of years, none twice, empty for an "
        "undated standard. "
        "Write it as [2022].",
    ),
    "no edition": (
        (("{ P100 = [2022], Q7 = [] }", "{}"),),
        '6: terms[0].editions: found no standard; expected the contracted standards. Write it as { "B31.3" = [2022] }.',
    ),
    "true for a number": (
        (("top_k = 5", "top_k = true"),),
        "8: terms[0].top_k: found true; expected an integer from 1 to 1000. "
        "Write it without quotes and without a decimal point.",
    ),
    "check twice": (
        (
            (
                '["society", "standard", "section", "edition_year", "section_path", "citation"]',
                '["citation", "citation"]',
            ),
        ),
        "7: terms[0].checks: found ['citation', 'citation']; expected a list of checks, none twice, one at least, of "
        f"{CHECKS}. Name checks of the list.",
    ),
    "min_sample above a night's plan": (
        (("min_sample = 2", "min_sample = 3"),),
        "11: terms[0].min_sample: found 3; expected at most 2, the most expectations that a night of the "
        "version plans. "
        "Lower it or add items: every night would be insufficient_data.",
    ),
    "no TOML": (
        (("version = 1", "version = = 1"),),
        "3: found text that is not TOML (Invalid value at column 11); expected TOML 1.0. Mend the syntax there.",
    ),
    "no end of a string": (
        (('"10"', '"10'),),
        "21: found text that is not TOML (Illegal character '\\n' at column 63); expected TOML 1.0. Mend the "
        "syntax there.",
    ),
    "an integer without end": (
        (("top_k = 5", f"top_k = 0x{'f' * 9000}"),),
        "8: terms[0].top_k: found an integer; expected an integer from 1 to 1000. "
        "Write it without quotes and without a decimal point.",
    ),
}


@pytest.mark.parametrize(("changes", "expected"), DEFECTS.values(), ids=DEFECTS)
def test_error_of_one_version(tmp_path: Path, changes: tuple[tuple[str, str], ...], expected: str) -> None:
    terms = TERMS
    for old, new in changes:
        assert old in terms
        terms = terms.replace(old, new, 1)
    assert refusals(write_society(tmp_path, terms=terms)) == [f"acme/terms.toml:{expected}"]


PAIRS: dict[str, tuple[str, str, list[str]]] = {
    "the same again": (
        TERMS,
        SECOND,
        [
            "26: terms[1].version: found 1 again; expected each version once. Number it anew.",
            "27: terms[1].effective_from: found 2026-01-01; expected a night that version 1 leaves free, from "
            "2026-01-01 "
            "until 2026-12-31. End version 1 the night before, or start this one later.",
        ],
    ),
    "the last night twice": (
        TERMS,
        SECOND.replace("version = 1", "version = 2").replace("from = 2026-01-01", "from = 2026-12-31"),
        [
            "27: terms[1].effective_from: found 2026-12-31; expected a night that version 1 leaves free, from "
            "2026-01-01 "
            "until 2026-12-31. End version 1 the night before, or start this one later."
        ],
    ),
    "behind one without an end": (
        TERMS.replace("effective_to = 2026-12-31", "#"),
        SECOND.replace("version = 1", "version = 2")
        .replace("2026-01-01", "2027-01-01")
        .replace("2026-12-31", "2027-12-31"),
        [
            "27: terms[1].effective_from: found 2027-01-01; expected a night that version 1 leaves free, from "
            "2026-01-01 "
            "without an end. End version 1 the night before, or start this one later."
        ],
    ),
    "nights after months": (
        TERMS.replace('"night"', '"calendar_month"'),
        SECOND.replace("version = 1", "version = 2")
        .replace("2026-01-01", "2027-01-02")
        .replace("2026-12-31", "2027-12-31"),
        [
            "27: terms[1].effective_from: found 2027-01-02; expected the 1st of a month, because version 1 has month "
            "windows. Start the version on the 1st."
        ],
    ),
    "one after the other": (
        TERMS,
        SECOND.replace("version = 1", "version = 2")
        .replace("2026-01-01", "2027-01-01")
        .replace("2026-12-31", "2027-12-31"),
        [],
    ),
}


@pytest.mark.parametrize(("first", "second", "expected"), PAIRS.values(), ids=PAIRS)
def test_error_of_two_versions(tmp_path: Path, first: str, second: str, expected: list[str]) -> None:
    folder = write_society(tmp_path, terms=first + second)
    assert refusals(folder) == [f"acme/terms.toml:{line}" for line in expected]


def test_error_all_at_once_in_line_order(tmp_path: Path) -> None:
    terms = TERMS.replace('"0.95"', "0.95").replace("top_k = 5", 'top_k = "5"').replace("P100", "P101")
    lines = [int(message.split(":")[1]) for message in refusals(write_society(tmp_path, terms=terms))]
    assert lines == [6, 8, 18, 21]


def only_terms(root: Path, terms: str) -> Terms:
    return load_society(write_society(root, terms=terms)).terms[0]


def test_version_as_read(tmp_path: Path) -> None:
    terms = only_terms(tmp_path, TERMS)
    assert (terms.effective_from, terms.effective_to) == (date(2026, 1, 1), date(2026, 12, 31))
    assert terms.editions == {"P100": (2022,), "Q7": ()}
    floor = terms.floors[0]
    assert (floor.measure, floor.floor, floor.rule) == ("citation_correctness", "0.95", "point")
    assert [(tier.below, tier.at_least, tier.credit_percent) for tier in floor.tiers] == [
        ("0.95", "0.90", "10"),
        ("0.90", "0", "25"),
    ]


def test_defaults_are_the_models(tmp_path: Path) -> None:
    required = "version = 1\neffective_from = 2026-01-01\neditions = { P100 = [2022] }\nmin_sample = 1\n"
    terms = only_terms(tmp_path, f"# {CANARY}\n[[terms]]\n{required}")
    assert terms == Terms(
        version=1,
        effective_from=date(2026, 1, 1),
        effective_to=None,
        editions={"P100": (2022,)},
        min_sample=1,
        sha256=terms.sha256,
    )


def test_checks_come_in_wire_order(tmp_path: Path) -> None:
    terms = only_terms(tmp_path, TERMS.replace('"society", "standard",', '"standard", "society",'))
    assert ", ".join(terms.checks) == CHECKS


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("effective_to = 2026-12-31\n", "", True),
        ("effective_to = 2026-12-31\n", "effective_to = 2027-06-30 # ended\n", True),
        ("top_k = 5\nmax_tokens = 1200", "max_tokens = 1200\ntop_k = 5", True),
        ("top_k = 5", "top_k = 6", False),
        ('"0.90", credit', '"0.9", credit', False),
        ("effective_from = 2026-01-01", "effective_from = 2026-01-02", False),
        ("dispute_days = 30\n", "", False),
    ],
)
def test_digest_is_of_the_version_as_written_but_for_its_end(tmp_path: Path, old: str, new: str, same: bool) -> None:
    assert old in TERMS
    before = only_terms(tmp_path / "before", TERMS)
    after = only_terms(tmp_path / "after", TERMS.replace(old, new))
    assert (before.sha256 == after.sha256) is same


@given(edges=st.lists(st.integers(1, 949), max_size=5, unique=True), random=st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_tiers_that_tile_are_accepted_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, edges: list[int], random: Random
) -> None:
    """sla.md: half-open tiers must tile [0, floor) without gap or overlap."""
    marks = [0, *sorted(edges), 950]
    tiers = [
        f'{{ below = "0.{high:03d}", at_least = "{f"0.{low:03d}" if low else 0}", credit_percent = "5" }}'
        for low, high in pairwise(marks)
    ]
    random.shuffle(tiers)
    start = TERMS.index("tiers = [")
    terms = TERMS[:start] + "tiers = [" + ", ".join(tiers) + "]\n"
    assert refusals(write_society(tmp_path_factory.mktemp("tiles"), terms=terms)) == []
    if len(tiers) > 1:
        holed = TERMS[:start] + "tiers = [" + ", ".join(tiers[1:]) + "]\n"
        assert len(refusals(write_society(tmp_path_factory.mktemp("hole"), terms=holed))) == 1
