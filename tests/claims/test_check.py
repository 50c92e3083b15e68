"""Parts that somebody else made: what they must have, and that nothing of them is lost."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.claims.check import is_iso8601, parse_part, part_problems
from harness.claims.part import ClaimPart, Source
from harness.errors import InvalidInput

TEXT = st.text(min_size=1).filter(lambda text: bool(text.strip()))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
REMEDY = "Ask whoever made the part to follow Citations v1."


def wire(**changes: Any) -> dict[str, Any]:
    """A part with the required fields only; None takes one out."""
    part: dict[str, Any] = {
        "study": "s",
        "period": "p",
        "base": {"name": "b", "n": 7},
        "source": {"table": "t", "column": "c", "function": "f"},
    }
    return {name: value for name, value in (part | changes).items() if value is not None}


def without(name: str, field: str) -> dict[str, Any]:
    part = wire()
    del part[name][field]
    return part


def test_the_required_fields_are_enough() -> None:
    assert part_problems(wire()) == ()
    assert parse_part(wire()) == ClaimPart(
        study="s", period="p", base_name="b", base_n=7, source=Source(table="t", column="c", function="f")
    )


@pytest.mark.parametrize(
    ("part", "says"),
    [
        (wire(study=None), "study: found nothing; expected a string that is not blank"),
        (wire(study=" "), "study: found the string ' '; expected a string that is not blank"),
        (wire(period=3), "period: found the number 3; expected a string that is not blank"),
        (wire(fielded="last week"), "fielded: found the string 'last week'; expected an ISO 8601 date or interval"),
        (wire(fielded="x" * 41), "fielded: found a string of 41 characters; expected an ISO 8601 date or interval"),
        (wire(fielded=20261129), "fielded: found the number 20261129; expected an ISO 8601 date or interval"),
        (wire(base=None), "base: found nothing; expected an object with name and n"),
        (wire(base=[]), "base: found an array; expected an object with name and n"),
        (without("base", "name"), "base.name: found nothing; expected a string that is not blank"),
        (without("base", "n"), "base.n: found nothing; expected a positive integer"),
        (wire(base={"name": "b", "n": True}), "base.n: found the boolean true; expected a positive integer"),
        (wire(base={"name": "b", "n": "3"}), "base.n: found the string '3'; expected a positive integer"),
        (wire(base={"name": "b", "n": 0}), "base.n: found the number 0; expected a positive integer"),
        (wire(base={"name": "b", "n": -1}), "base.n: found the number -1; expected a positive integer"),
        (
            wire(base={"name": "b", "n": -(10**5000)}),
            "base.n: found a number too large to show; expected a positive integer",
        ),
        (wire(base={"name": "b", "n": 3.0}), "base.n: found the number 3.0; expected a positive integer"),
        (wire(base={"name": "b", "n": None}), "base.n: found null; expected a positive integer"),
        (wire(weight=""), "weight: found the string ''; expected a string that is not blank"),
        (wire(source="t"), "source: found the string 't'; expected an object with table, column and function"),
        (without("source", "table"), "source.table: found nothing; expected a string that is not blank"),
        (without("source", "column"), "source.column: found nothing; expected a string that is not blank"),
        (without("source", "function"), "source.function: found nothing; expected a string that is not blank"),
        (wire(warnings="few"), "warnings: found the string 'few'; expected an array of strings"),
        (wire(warnings=["few", {}]), "warnings: found an array; expected an array of strings"),
    ],
)
def test_error_field(part: dict[str, Any], says: str) -> None:
    assert [str(problem) for problem in part_problems(part, "answer 3")] == [f"answer 3: {says}. {REMEDY}"]


@pytest.mark.parametrize(("value", "shown"), [([], "an array"), ("part", "the string 'part'"), (None, "null")])
def test_error_no_object(value: Any, shown: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_part(value)
    assert str(caught.value) == f"claim part: found {shown}; expected an object. {REMEDY}"


def test_error_all_at_once() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_part({"base": {}, "source": {}})
    assert [problem.field for problem in caught.value.problems] == [
        "study",
        "period",
        "base.name",
        "base.n",
        "source.table",
        "source.column",
        "source.function",
    ]


EXTRA = st.dictionaries(st.text().filter(lambda name: name.startswith("x") or len(name) > 9), JSON, max_size=3)


@given(
    part=st.builds(
        ClaimPart,
        study=TEXT,
        period=TEXT,
        base_name=TEXT,
        base_n=st.integers(1),
        source=st.builds(Source, table=TEXT, column=TEXT, function=TEXT),
        fielded=st.sampled_from([None, "2026-11-29", "2026-11-29T02:17:05Z/2026-11-29T02:19:30Z"]),
        weight=TEXT,
        warnings=st.lists(st.text(), max_size=3).map(tuple),
        domain=EXTRA,
        base_extra=EXTRA,
        source_extra=EXTRA,
    )
)
def test_what_is_written_is_read_back_with_every_unknown_field(part: ClaimPart) -> None:
    assert parse_part(part.to_wire()) == part


@given(JSON | st.dictionaries(st.sampled_from([*wire(), "fielded", "weight", "warnings"]), JSON))
def test_any_json_is_a_part_or_has_problems_and_nothing_else_happens(value: Any) -> None:
    found = part_problems(value)
    if found:
        with pytest.raises(InvalidInput):
            parse_part(value)
    else:
        assert value.items() <= parse_part(value).to_wire().items()


@pytest.mark.parametrize(
    "text",
    [
        "2026",
        "2026-11",
        "2026-11-29",
        "20261129",
        "2026-W48",
        "2026-W48-7",
        "2026-333",
        "2026333",
        "2026-11-29T02:17",
        "2026-11-29T02:17:05Z",
        "2026-11-29T02:17:05.123456+01:00",
        "2026-11-01/2026-11-29",
        "2026-10/2026-11",
        "2026-11-01/29",
        "2026-11-29T02:17/03:20",
        "2026-11-29T02:17:05Z/2026-11-29T02:19:30.500000Z",
        "2026-11-01/P1M",
        "P1DT12H/2026-11-29",
    ],
)
def test_iso_8601(text: str) -> None:
    assert is_iso8601(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "November 2026",
        "2026-13",
        "2026-11-31",
        "2026-000",
        "2026-367",
        "2026-W54",
        "29.11.2026",
        "11/29/2026",
        "2026-11-29 02:17",
        "2026-11-29/",
        "/2026-11-29",
        "2026-11-29/tomorrow",
        "2026-11-01/2026-11-05/2026-11-29",
        "P1D",
        "P1D/P2D",
        "P/2026-11-29",
        "２０２６",
    ],
)
def test_not_iso_8601(text: str) -> None:
    assert not is_iso8601(text)
