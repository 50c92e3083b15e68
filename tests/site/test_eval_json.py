"""eval.json: the keys, types and digits that readers were promised."""

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.site.eval_json import EvalDocument, decode, encode
from harness.site.model import Previous
from tests.site.results import Night, document, result
from tests.site.schema import SCHEMA, violations

KEYS = [
    "schema_version",
    "society",
    "night",
    "revision",
    "official",
    "status",
    "floors",
    "measures",
    "outcomes",
    "faults",
    "latency_ms",
    "calls",
    "testset",
    "editions",
    "scorer_version",
    "harness_version",
    "gateway",
    "run",
    "previous",
    "warnings",
]
"""What publishing.md promises."""

ADDED = ["reason", "scored_at", "terms_version", "top_k", "checks", "clusters"]
"""What came later; absent from what was published before."""


def written(night: Night, **changes: Any) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(encode(document(result(night, **changes))))
    return parsed


PREVIOUS = Previous(night="2026-11-28", value="0.900000", better=2, worse=3, compared=60, mcnemar_p="1.000000")

NIGHTS = {
    "met": Night(),
    "breached": Night(outcomes="c" * 50 + "i" * 5 + "m" * 3 + "g" * 2),
    "not_run": Night(outcomes="h" * 30),
    "insufficient_data": Night(outcomes="c" * 5),
    "no_floor": Night(floor=None),
}


@pytest.mark.parametrize("status", NIGHTS)
def test_every_status_is_written_as_the_schema_says(status: str) -> None:
    told = written(NIGHTS[status])
    assert told["status"] == status
    assert violations(told) == []


@pytest.mark.parametrize(
    "night",
    [
        Night(previous=PREVIOUS),
        Night(outcomes="cicicicici" * 9, clusters=7, weights=("1", "2.5")),
        Night(floor="0.9500001", rule="exact_binomial_95"),
        Night(checks=("standard", "section")),
    ],
    ids=["previous", "weights", "long_floor", "few_checks"],
)
def test_every_shape_is_written_as_the_schema_says(night: Night) -> None:
    assert violations(written(night)) == []


@pytest.mark.parametrize(
    ("change", "violation"),
    [
        ({"extra": 1}, ": Additional properties are not allowed ('extra' was unexpected)"),
        ({"revision": True}, 'revision: true is not of type "integer"'),
        ({"revision": 0}, "revision: 0 is less than the minimum of 1"),
        ({"status": "fine"}, 'status: "fine" is not one of'),
        ({"night": "29.11.2026"}, 'night: "29.11.2026" does not match'),
    ],
)
def test_the_schema_refuses_what_it_does_not_promise(change: dict[str, Any], violation: str) -> None:
    (found,) = violations(written(Night()) | change)
    assert found.startswith(violation)


def test_a_reader_with_the_schema_takes_keys_of_a_later_release() -> None:
    assert violations(written(Night()) | {"extra": 1}, as_reader=True) == []
    assert violations(written(Night()) | {"revision": 0}, as_reader=True) != []


def test_keys_in_the_promised_order() -> None:
    assert list(written(Night(previous=PREVIOUS))) == [*KEYS, *ADDED]
    assert SCHEMA["required"] == KEYS
    assert list(SCHEMA["properties"]) == [*KEYS, *ADDED]


def test_what_is_written_is_read_back() -> None:
    told = document(result(Night(previous=PREVIOUS)))
    assert decode(encode(told)) == told


def test_a_key_of_a_later_release_is_no_obstacle() -> None:
    told = document(result())
    later = json.dumps(json.loads(encode(told)) | {"later": [1]}).encode()
    assert decode(later) == told
    with pytest.raises(msgspec.ValidationError):
        decode(b'{"schema_version": 1}')


def test_numbers_of_a_known_night() -> None:
    told = written(Night(outcomes="c" * 392 + "i" * 10 + "m" * 4 + "g" * 10, previous=PREVIOUS))
    headline = told["measures"][0]
    assert [headline[key] for key in ("name", "stratum", "good", "valid", "value")] == [
        "citation_correctness",
        None,
        392,
        416,
        "0.942307",
    ]
    # Wilson at 392 of 416 is 0.9155937 to 0.9609277: each bound goes outward.
    assert headline["interval"] == {
        "method": "wilson",
        "confidence": "0.95",
        "low": "0.915593",
        "high": "0.960928",
    }
    assert told["floors"] == [
        {
            "measure": "citation_correctness",
            "floor": "0.95",
            "rule": "point",
            "window": "night",
            "status": "breached",
            "shortfall": "0.007693",
        }
    ]
    assert told["outcomes"] == {
        "planned": 416,
        "correct": 392,
        "incorrect": 10,
        "missing": 4,
        "gateway_error": 10,
        "harness_error": 0,
    }
    assert told["previous"] == {
        "night": "2026-11-28",
        "value": "0.900000",
        "change": "-0.016666",
        "mcnemar_p": "1.000000",
        "better": 2,
        "worse": 3,
        "compared": 60,
    }


def test_without_data_there_is_no_number_and_no_part() -> None:
    told = written(Night(outcomes="h" * 30))
    assert {(entry["value"], entry["interval"], entry["claim"]) for entry in told["measures"]} == {(None, None, None)}
    assert told["floors"][0]["shortfall"] is None
    assert told["latency_ms"] == {"p50": None, "p95": None, "max": None}


def test_a_stratum_needs_a_base_of_ten() -> None:
    # Kinds are dealt 3 sections, 1 table, 1 figure; 45 items make 27, 9 and 9, 50 make 30, 10 and 10.
    assert strata("c" * 45) == {None, "standard=B31.3", "kind=section"}
    assert strata("c" * 50) == {None, "standard=B31.3", "kind=section", "kind=table", "kind=figure"}


def strata(outcomes: str) -> set[str | None]:
    """The strata that the headline measure is written for."""
    entries = written(Night(outcomes=outcomes))["measures"]
    return {entry["stratum"] for entry in entries if entry["name"] == "citation_correctness"}


def test_a_stratum_of_another_tag_stays_inside() -> None:
    told = result()
    inside = replace(told.measures[0], stratum="difficulty=hard")
    assert document(replace(told, measures=(*told.measures, inside))) == document(told)


def test_a_floor_with_more_decimals_is_followed_by_its_measure() -> None:
    measures = written(Night(floor="0.9500001"))["measures"]
    assert {len(entry["value"]) for entry in measures if entry["name"] == "citation_correctness"} == {9}
    assert {len(entry["value"]) for entry in measures if entry["name"] != "citation_correctness"} == {8}


@given(st.text("cimgh", min_size=1, max_size=80), st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_printed_numbers_keep_to_their_counts(outcomes: str, clusters: int) -> None:
    told: EvalDocument = document(result(Night(outcomes=outcomes, clusters=clusters, weights=("1", "3"))))
    ends = told.outcomes
    assert ends.planned == ends.correct + ends.incorrect + ends.missing + ends.gateway_error + ends.harness_error
    for entry in told.measures:
        assert (entry.value is None) is (entry.valid == 0) is (entry.claim is None) is (entry.interval is None)
        if entry.value is None or entry.interval is None:
            continue
        assert Fraction(entry.interval.low) <= Fraction(entry.value) <= Fraction(entry.interval.high)
        if isinstance(entry.good, int):
            exact = Fraction(entry.good, entry.valid)
            assert 0 <= exact - Fraction(entry.value) < Fraction(1, 10**6)


def test_hostile_strings_stay_strings() -> None:
    told = written(
        Night(),
        gateway_version="</script>\u202e\ud800\x00",
        citation_faults={"<img src=x>": 2, "\udfff": 1},
    )
    assert told["gateway"]["version"] == "</script>\u202e\\ud800\x00"
    assert told["faults"]["citation"] == {"<img src=x>": 2, "\\udfff": 1}
