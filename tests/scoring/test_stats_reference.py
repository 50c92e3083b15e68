"""Every row of stats_reference.csv whose method scoring uses, to 1e-9."""

import csv
import json
from collections.abc import Callable
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any, Final

import pytest

from harness.citation.model import FIELDS
from harness.scoring.compare import mcnemar_p
from harness.scoring.intervals import (
    Z_ONE_SIDED,
    ClusterSums,
    clopper_pearson,
    clopper_pearson_bounds,
    cluster_interval,
    cluster_variance,
    kish_effective_n,
    naive_variance,
    weighted_interval,
    wilson,
)
from harness.scoring.measures import Tally
from harness.scoring.model import Outcome
from tests.scoring.factories import item, passage, score

Inputs = dict[str, Any]
Row = dict[str, str]
Found = dict[str, float]

ROWS: Final[dict[str, Row]] = {
    row["id"]: row
    for row in csv.DictReader((Path(__file__).parent / "stats_reference.csv").read_text("utf-8").splitlines())
}


def sums_of(clusters: list[tuple[int, int]]) -> ClusterSums:
    """Cluster sums of (k, n) pairs, straight from their definition."""
    return ClusterSums(
        clusters=len(clusters),
        k=Fraction(sum(k for k, _ in clusters)),
        n=sum(n for _, n in clusters),
        kk=Fraction(sum(k * k for k, _ in clusters)),
        kn=Fraction(sum(k * n for k, n in clusters)),
        nn=sum(n * n for _, n in clusters),
    )


def wilson_limits(inputs: Inputs) -> Found:
    low, high = wilson(inputs["k"] / inputs["n"], inputs["n"])
    return {"low": low, "high": high}


def exact_limits(inputs: Inputs) -> Found:
    low, high = clopper_pearson(inputs["k"], inputs["n"])
    return {"low": low, "high": high}


def exact_upper(inputs: Inputs) -> Found:
    return {"low": 0.0, "high": clopper_pearson_bounds(inputs["k"], inputs["n"])[1]}


def exact_lower(inputs: Inputs) -> Found:
    return {"low": clopper_pearson_bounds(inputs["k"], inputs["n"])[0], "high": 1.0}


def wilson_upper(inputs: Inputs) -> Found:
    return {"low": 0.0, "high": wilson(inputs["k"] / inputs["n"], inputs["n"], Z_ONE_SIDED)[1]}


def mcnemar(inputs: Inputs) -> Found:
    return {"p_value": float(mcnemar_p(inputs["only_tonight_ok"], inputs["only_last_night_ok"]))}


def clustered(inputs: Inputs) -> ClusterSums:
    return sums_of([(cluster["k"], cluster["n"]) for cluster in inputs["clusters"]])


def naive_error(inputs: Inputs) -> Found:
    sums = clustered(inputs)
    return {"estimate": float(sums.k / sums.n), "statistic": sqrt(naive_variance(sums))}


def cluster_error(inputs: Inputs) -> Found:
    return {"statistic": sqrt(cluster_variance(clustered(inputs)))}


def cluster_wilson(inputs: Inputs) -> Found:
    interval, warnings = cluster_interval(clustered(inputs))
    assert (interval.method, warnings) == ("wilson_cluster", ())
    return {"low": interval.low, "high": interval.high, "statistic": interval.n_effective}


def weights_of(inputs: Inputs) -> tuple[Fraction, Fraction, Fraction]:
    """Sums of w times y, of w and of w squared."""
    weights = [Fraction(weight) for weight in inputs["w"]]
    good = sum((weight for weight, right in zip(weights, inputs["y"], strict=True) if right), Fraction(0))
    return good, sum(weights, Fraction(0)), sum((weight * weight for weight in weights), Fraction(0))


def kish(inputs: Inputs) -> Found:
    good, weight, squared = weights_of(inputs)
    return {"estimate": float(good / weight), "statistic": float(kish_effective_n(weight, squared))}


def kish_wilson(inputs: Inputs) -> Found:
    sums = sums_of([(right, 1) for right in inputs["y"]])
    interval, warnings = weighted_interval(sums, *weights_of(inputs))
    assert (interval.method, warnings) == ("wilson_kish", ())
    return {"low": interval.low, "high": interval.high, "statistic": interval.n_effective}


def weighted_share(inputs: Inputs) -> Found:
    tally = Tally(FIELDS)
    for number, (weight, right) in enumerate(zip(inputs["w"], inputs["y"], strict=True)):
        row = score(passage("2" if right else "1"), of=item(id=str(number), weight=weight))
        assert (row.expectations[0].outcome is Outcome.CORRECT) == bool(right)
        tally.add(row)
    (found,) = (row for row in tally.measures() if (row.name, row.stratum) == ("weighted_citation_correctness", None))
    assert found.value is not None
    assert (found.value < Fraction(inputs["floor"])) is ("below=True" in ROWS["X08"]["note"])
    return {"estimate": float(found.value)}


APPLIED: Final[dict[str, Callable[[Inputs], Found]]] = {
    **{f"W0{number}": wilson_limits for number in range(1, 9)},
    **{f"C0{number}": exact_limits for number in range(1, 9)},
    **{"O01": exact_upper, "O02": exact_lower, "O03": wilson_upper, "O04": exact_lower},
    **{f"M0{number}": mcnemar for number in range(1, 6)},
    **{"K01": naive_error, "K03": cluster_error, "K05": cluster_wilson},
    **{"D01": kish, "D04": kish_wilson, "X08": weighted_share},
}

NOT_FOR_SCORING: Final[dict[str, str]] = {
    "J01 J02 J03 J04": "Jeffreys limits are not used",
    "WC01": "no continuity correction is used",
    "B01 B02 B03": "the exact binomial rule is sla's",
    "K02 K04": "only the CR1 standard error is used",
    "D02 D03": "weights enter by Kish's effective n, not by linearisation",
    "F01 F02": "a test set is no finite sample of itself",
    "R01 R02 R03 R04 R05 R06 R07": "no correction for repeated looks; lint states the chance of a false flag",
    "E01 E02": "no anytime-valid test is used",
    "N01 N02": "sizing is the test set's power command",
    "T01": "nights are compared on the same items only",
    "P01": "pairs are tested exactly by McNemar",
    "X01 X02 X03 X04 X05 X06 X07": "floors are sla's",
    "G01 G02 G03 G04 G05 G06 G07 G08": "credit tiers are sla's",
}


def test_every_row_is_either_applied_or_named_as_not_for_scoring() -> None:
    left = [row for rows in NOT_FOR_SCORING for row in rows.split()]
    assert len(left) == len(set(left))
    assert APPLIED.keys().isdisjoint(left)
    assert ROWS.keys() == APPLIED.keys() | set(left)


@pytest.mark.parametrize("row", APPLIED)
def test_the_row_agrees_to_one_in_a_thousand_million(row: str) -> None:
    inputs: Inputs = json.loads(ROWS[row]["inputs"])
    found = APPLIED[row](inputs)
    stated = {name: float(ROWS[row][name]) for name in found}
    assert found == pytest.approx(stated, rel=0, abs=1e-9)
