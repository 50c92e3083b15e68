"""Freezing by first use, and what a floor means for the plan that measures it."""

from datetime import date
from fractions import Fraction
from math import comb
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sla.assess import is_below, tier_of
from harness.sla.terms import FrozenFault, Usage, false_flag_chance, frozen_faults, unreachable_tiers
from harness.testset.model import Tier
from tests.sla.factories import floor, terms

LAST = date(2026, 11, 29)
USED = Usage(version=3, sha256="3" * 64, last_night=LAST)
RULES = st.sampled_from(["point", "exact_binomial_95"])


def faults(*offered: Any, used: tuple[Usage, ...] = (USED,)) -> list[FrozenFault]:
    return frozen_faults(used, offered)


@pytest.mark.parametrize(
    "offered",
    [
        (terms(),),
        (terms(effective_to=date(2026, 11, 30)),),
        (terms(effective_to=LAST),),
        (terms(effective_to=date(2026, 11, 30)), terms(version=4, effective_from=date(2026, 12, 1), sha256="4" * 64)),
        (terms(effective_to=LAST), terms(version=4, effective_from=date(2026, 11, 30), sha256="4" * 64)),
    ],
)
def test_used_terms_may_end_on_a_night_not_yet_assessed_and_be_followed(offered: tuple[Any, ...]) -> None:
    assert faults(*offered) == []


def test_a_version_that_ended_before_the_first_use_is_history() -> None:
    history = terms(version=2, effective_from=date(2025, 1, 1), effective_to=date(2025, 12, 31), sha256="2" * 64)
    assert faults(history, terms()) == []


def test_a_version_that_reaches_into_the_first_one_used_is_no_history() -> None:
    reaching = terms(version=2, effective_from=date(2025, 1, 1), effective_to=date(2026, 1, 1), sha256="2" * 64)
    assert [fault.version for fault in faults(reaching, terms())] == [2]


def test_a_version_slipped_in_after_the_first_use_is_too_early() -> None:
    first = terms(version=1, effective_from=date(2025, 1, 1), effective_to=date(2025, 6, 30), sha256="1" * 64)
    slipped = terms(version=2, effective_from=date(2025, 7, 1), effective_to=date(2025, 12, 31), sha256="2" * 64)
    used = (Usage(version=1, sha256="1" * 64, last_night=date(2025, 6, 30)), USED)
    assert [fault.version for fault in faults(first, slipped, terms(), used=used)] == [2]


def test_terms_that_were_never_used_may_be_anything() -> None:
    assert faults(terms(version=9, effective_from=date(2020, 1, 1)), used=()) == []


@pytest.mark.parametrize(
    ("offered", "field", "found", "expected", "remedy"),
    [
        (
            (terms(sha256="f" * 64),),
            "version",
            "terms that differ from those already used",
            "version 3 as it was when first used",
            "Restore it, and write the change as a new version.",
        ),
        (
            (),
            "version",
            "no such version any more",
            "version 3 as it was when first used",
            "Restore it, and write the change as a new version.",
        ),
        (
            (terms(effective_to=date(2026, 11, 28)),),
            "effective_to",
            "2026-11-28",
            "2026-11-29 or later: that night is assessed under it",
            "Set it to a night not yet assessed.",
        ),
        (
            (terms(effective_to=date(2026, 11, 30)), terms(version=4, effective_from=LAST)),
            "effective_from",
            "2026-11-29",
            "a night after 2026-11-29, the last one assessed",
            "Let the new version start later.",
        ),
    ],
)
def test_error_frozen(offered: tuple[Any, ...], field: str, found: str, expected: str, remedy: str) -> None:
    version = 4 if field == "effective_from" else 3
    fault = FrozenFault(version=version, field=field, found=found, expected=expected, remedy=remedy)
    assert faults(*offered) == [fault]


def test_every_fault_comes_at_once() -> None:
    older = Usage(version=2, sha256="2" * 64, last_night=date(2025, 12, 31))
    offered = (terms(sha256="f" * 64), terms(version=5, effective_from=date(2025, 6, 1)))
    assert [(fault.version, fault.field) for fault in faults(*offered, used=(older, USED))] == [
        (2, "version"),
        (3, "version"),
        (5, "effective_from"),
    ]


@given(n=st.integers(1, 40), hundredths=st.integers(1, 99), true=st.integers(0, 100), rule=RULES)
def test_the_chance_of_a_false_flag_is_that_of_the_counts_that_breach(
    n: int, hundredths: int, true: int, rule: str
) -> None:
    against, rate = floor(f"0.{hundredths:02d}", rule), Fraction(true, 100)
    by_definition = sum(
        comb(n, good) * rate**good * (1 - rate) ** (n - good) for good in range(n + 1) if is_below(against, good, n)
    )
    assert false_flag_chance(against, n, rate) == by_definition


@given(n=st.integers(1, 120), rule=RULES)
def test_a_tier_is_reached_by_some_breach_or_named(n: int, rule: str) -> None:
    against = floor(rule=rule)
    reached = {tier_of(against, Fraction(good, n)) for good in range(n + 1) if is_below(against, good, n)}
    assert unreachable_tiers(against, n) == [tier for tier in against.tiers if tier not in reached]


def test_a_tier_between_two_neighbouring_counts_is_not_reached() -> None:
    edges = (("0.95", "0.6"), ("0.6", "0.5"), ("0.5", "0"))
    tiers = tuple(Tier(below=below, at_least=at_least, credit_percent="10") for below, at_least in edges)
    assert unreachable_tiers(floor(tiers=tiers), 5) == [tiers[1]]


@pytest.mark.parametrize(
    ("n", "rule", "bands"),
    [
        (59, "point", []),
        (59, "exact_binomial_95", ["0.90"]),
        (9, "point", ["0.90"]),
        (3, "exact_binomial_95", ["0.90", "0.80"]),
        (400, "exact_binomial_95", []),
    ],
)
def test_tiers_that_a_plan_cannot_reach(n: int, rule: str, bands: list[str]) -> None:
    assert [tier.at_least for tier in unreachable_tiers(floor(rule=rule), n)] == bands
