"""Every row of stats_reference.csv that decides about a floor, exactly or to 1e-12."""

import json
from fractions import Fraction
from typing import Any, Final

import pytest

from harness.sla.assess import assess, is_below
from harness.sla.binomial import at_most, is_rarer, smallest_telling_sample
from harness.sla.model import Status
from harness.sla.terms import false_flag_chance
from harness.testset.model import Tier
from tests.scoring.test_stats_reference import ROWS
from tests.sla.factories import counted, floor, terms

CLOSE: Final = Fraction(1, 10**12)


def rows(*kinds: str) -> list[str]:
    return [name for name, row in ROWS.items() if row["kind"] in kinds]


def inputs(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ROWS[name]["inputs"])
    return found


def test_the_table_has_the_rows_that_this_room_answers_for() -> None:
    assert rows("test") == ["B01", "B02", "B03"]
    assert rows("sizing") == ["N01", "N02"]
    assert rows("exact-compare") == [f"X0{number}" for number in range(1, 9)]
    assert rows("credit-tier") == [f"G0{number}" for number in range(1, 9)]
    assert rows("repeated-looks") == [f"R0{number}" for number in range(1, 6)]


@pytest.mark.parametrize("name", rows("test"))
def test_the_binomial_tail(name: str) -> None:
    given = inputs(name)
    value = Fraction(ROWS[name]["p_value"])
    assert abs(Fraction(*at_most(given["k"], given["n"], Fraction(given["floor"]))) - value) < CLOSE
    assert is_rarer(given["k"], given["n"], Fraction(given["floor"])) == (value < Fraction(1, 20))


@pytest.mark.parametrize("name", [name for name in rows("exact-compare") if "k" in inputs(name)])
def test_the_point_rule(name: str) -> None:
    given = inputs(name)
    below = ROWS[name]["note"].startswith("below=True")
    assert is_below(floor(given["floor"]), given["k"], given["n"]) == below
    status = assess(terms(min_sample=1), floor(given["floor"]), counted(given["k"], given["n"])).status
    assert status is (Status.BREACHED if below else Status.MET)


def test_a_weighted_ratio_at_the_floor_is_not_below_it() -> None:
    given = inputs("X08")
    weights = [Fraction(weight) for weight in given["w"]]
    ratio = sum(w * y for w, y in zip(weights, given["y"], strict=True)) / sum(weights)
    assert not is_below(floor(given["floor"]), ratio.numerator, ratio.denominator)


@pytest.mark.parametrize("name", rows("credit-tier"))
def test_the_tier(name: str) -> None:
    given = inputs(name)
    tiers = tuple(
        Tier(below=row["below"], at_least=row["at_least"], credit_percent=str(row["credit_percent"]))
        for row in given["tiers"]
    )
    assessment = assess(terms(), floor(tiers[0].below, tiers=tiers), counted(given["k"], given["n"]))
    assert Fraction(assessment.target_percent) == Fraction(ROWS[name]["statistic"])


@pytest.mark.parametrize("name", ["R03", "R04", "R05"])
def test_false_flags(name: str) -> None:
    given = inputs(name)
    chance = false_flag_chance(floor(given["floor"]), given["n"], Fraction(given["true_p"]))
    assert abs(chance - Fraction(ROWS[name]["statistic"])) < CLOSE
    over_all_nights = 1 - (1 - chance) ** given["nights"]
    assert abs(over_all_nights - Fraction(ROWS[name]["p_value"])) < CLOSE


@pytest.mark.parametrize("name", rows("sizing"))
def test_the_smallest_sample_that_can_tell(name: str) -> None:
    assert smallest_telling_sample(Fraction(inputs(name)["floor"])) == Fraction(ROWS[name]["statistic"])
