"""Fault profiles as data: what is read, what is refused, which question a rule meets."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InvalidInput, UsageError
from harness.reference.faults import Fault, Profile, Rule, draw, load_profile, profile_names

QUESTIONS = [f"question {number}" for number in range(4000)]


def share(profile: Profile, fault: Fault, society: str = "ACME", seed: int = 0) -> float:
    """The share of many questions that meet the fault."""
    rules = (profile.rule_for(seed, "corpus", (society,), question) for question in QUESTIONS)
    return sum(rule is not None and rule.fault is fault for rule in rules) / len(QUESTIONS)


def test_built_in_profiles() -> None:
    assert profile_names() == ["none", "demo", "flaky10", "flaky60", *Fault]
    assert len(set(profile_names())) == len(profile_names())
    assert load_profile("none") == Profile(name="none")
    assert load_profile("flaky10").rules == (Rule(fault=Fault.HTTP_503, share=0.1),)
    assert load_profile("flaky60").rules == (Rule(fault=Fault.HTTP_503, share=0.6),)


@pytest.mark.parametrize("fault", Fault)
def test_each_fault_is_a_profile_that_spoils_every_call(fault: Fault) -> None:
    assert share(load_profile(fault.value), fault) == 1.0


@pytest.mark.parametrize(
    ("society", "fault", "expected"),
    [
        ("SAE", Fault.DEFAULT_FORMAT, 0.20),
        ("SAE", Fault.DOUBLE_SPACE, 0.005),
        ("ASME", Fault.DEFAULT_FORMAT, 0.0),
        ("ASME", Fault.DOUBLE_SPACE, 0.005),
        ("ASME", Fault.NO_BREAK_SPACE, 0.005),
    ],
)
def test_demo_shares(society: str, fault: Fault, expected: float) -> None:
    assert share(load_profile("demo"), fault, society) == pytest.approx(expected, abs=0.02 if expected > 0.1 else 0.004)


def test_a_file_is_a_profile(tmp_path: Path) -> None:
    path = tmp_path / "bad night.toml"
    path.write_text(
        '[[rules]]\nfault = "http_500"\nshare = 0.25\n'
        '[[rules]]\nfault = "hang"\nshare = 0.5\nsocieties = ["ACME"]\nseconds = 2\ntimes = 3\n',
        encoding="utf-8",
    )
    profile = load_profile(path)
    assert profile == Profile(
        name="bad night",
        rules=(
            Rule(fault=Fault.HTTP_500, share=0.25),
            Rule(fault=Fault.HANG, share=0.5, societies=("ACME",), seconds=2, times=3),
        ),
    )
    assert load_profile(str(path)) == profile


@given(seed=st.integers(), corpus=st.text(), question=st.text())
def test_the_rule_depends_on_seed_corpus_and_question_alone(seed: int, corpus: str, question: str) -> None:
    rules = tuple(Rule(fault=fault, share=1 / 32) for fault in Fault)
    asked = [Profile(name="p", rules=rules).rule_for(seed, corpus, ("ACME",), question) for _ in range(2)]
    assert asked[0] == asked[1]
    place = draw(seed, corpus, question)
    assert 0.0 <= place < 1.0
    # The rules lie side by side in [0, 1): the expected one is computed from the draw in exact numbers.
    number = int(Fraction(place) * 32)
    assert asked[0] == (rules[number] if number < len(rules) else None)


def test_another_seed_spoils_other_questions() -> None:
    profile = load_profile("flaky60")
    hit = [{question for question in QUESTIONS if profile.rule_for(seed, "c", ("A",), question)} for seed in (0, 1)]
    assert hit[0] != hit[1]
    assert all(abs(len(each) / len(QUESTIONS) - 0.6) < 0.03 for each in hit)


def test_rules_of_other_societies_take_no_place() -> None:
    profile = Profile(
        name="p",
        rules=(Rule(fault=Fault.HANG, share=0.9, societies=("OTHER",)), Rule(fault=Fault.HTTP_500, share=0.5)),
    )
    assert share(profile, Fault.HTTP_500) == pytest.approx(0.5, abs=0.03)
    assert share(profile, Fault.HANG) == 0.0


def test_error_unknown_profile(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        load_profile("flacky")
    assert str(caught.value) == (
        "no fault profile 'flacky': neither a file nor one of none, demo, flaky10, flaky60, wrong_edition, "
        "sibling_section, parent_section, double_space, no_break_space, missing_brackets, default_format, en_dash, "
        "year_string, path_numbers, missing_field, markup, other_society, unpinned, empty_passages, dropped_ledger_id, "
        "truncated_json, html_page, oversized, hang, slow_drip, unlicensed, rate_limit_burst, http_500, http_503, "
        "http_503_once"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = ", ["x.toml: found Invalid value (at end of document); expected TOML in UTF-8. Mend the file."]),
        (
            "rule = []",
            [
                "x.toml: rules: found the keys rule; expected an array of tables `rules` and nothing else."
                " Correct the value."
            ],
        ),
        (
            "rules = [1, { fault = 'hang', share = 1.5, shares = 1, times = 0, seconds = true, societies = 'A' }]",
            [
                "x.toml: rules[0]: found int; expected a table. Correct the value.",
                "x.toml: rules[1].shares: found an unknown key; expected one of fault, seconds, share, societies,"
                " times. Correct the value.",
                "x.toml: rules[1].share: found 1.5; expected a number from 0 to 1. Correct the value.",
                "x.toml: rules[1].seconds: found True; expected seconds from 0 to 86400. Correct the value.",
                "x.toml: rules[1].times: found 0; expected a whole number from 1. Correct the value.",
                "x.toml: rules[1].societies: found 'A'; expected a list of society ids. Correct the value.",
            ],
        ),
        (
            "rules = [{ fault = 'hang', share = 0.6 }, { fault = 'markup', share = 0.6, societies = ['A'] }]",
            [
                "x.toml: rules: found shares of 1.2 in all for A; expected shares of at most 1 in all."
                " Correct the value."
            ],
        ),
        (
            "rules = [{ fault = 'hand' }]",
            [f"x.toml: rules[0].fault: found 'hand'; expected one of {', '.join(Fault)}. Correct the value."],
        ),
    ],
)
def test_error_bad_file(tmp_path: Path, text: str, said: list[str]) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        load_profile(path)
    assert str(caught.value).replace(f"{tmp_path}/", "").splitlines() == said
