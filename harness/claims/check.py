"""Reading a claim part that somebody else made: what the specification requires, unknown fields kept (claims.md)."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from harness.claims.part import ClaimPart, Source
from harness.errors import InvalidInput, Problem

_BASE: Final = ("name", "n")
_SOURCE: Final = ("table", "column", "function")
_SPECIFIED: Final = ("study", "period", "fielded", "base", "weight", "source", "warnings")

_REMEDY: Final = "Ask whoever made the part to follow Citations v1."
_TEXT: Final = "a string that is not blank"

_MONTH: Final = re.compile(r"[0-9]{4}(?:-(?:0[1-9]|1[0-2]))?")
_DAY_OF_YEAR: Final = re.compile(r"[0-9]{4}-?(?:00[1-9]|0[1-9][0-9]|[12][0-9]{2}|3[0-5][0-9]|36[0-6])")
_MOMENT: Final = re.compile(r"[0-9W-]+(?:T[0-9:.,]+(?:Z|[+-][0-9:]+)?)?")
_DURATION: Final = re.compile(
    r"P(?=[0-9T])(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+W)?(?:[0-9]+D)?"
    r"(?:T(?=[0-9])(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:[.,][0-9]+)?S)?)?"
)


def part_problems(wire: object, place: str = "claim part") -> tuple[Problem, ...]:
    """Everything about a decoded JSON value that keeps it from being a Citations v1 part; `place` says where it stood.

    What was found is told by its type and, where short, its value.
    """
    if not isinstance(wire, Mapping):
        return (_problem(place, None, wire, "an object"),)
    return tuple(_problem(place, *finding) for finding in _findings(wire))


def parse_part(wire: object, place: str = "claim part") -> ClaimPart:
    """The part as a value, with every field it carries beyond the specified ones.

    A part without `weight` is unweighted, without `warnings` has none. Raises InvalidInput with all its problems.
    """
    found = part_problems(wire, place)
    if found or not isinstance(wire, Mapping):
        raise InvalidInput(found)
    base, source = wire["base"], wire["source"]
    return ClaimPart(
        study=wire["study"],
        period=wire["period"],
        fielded=wire.get("fielded"),
        base_name=base["name"],
        base_n=base["n"],
        weight=wire.get("weight", "unweighted"),
        source=Source(**{name: source[name] for name in _SOURCE}),
        warnings=tuple(wire.get("warnings", ())),
        domain=_beyond(wire, _SPECIFIED),
        base_extra=_beyond(base, _BASE),
        source_extra=_beyond(source, _SOURCE),
    )


def is_iso8601(text: str) -> bool:
    """Whether the text is an ISO 8601 year, month, date, time of a date, or interval of such, or with a duration."""
    start, slash, end = text.partition("/")
    if not slash:
        return _is_moment(start)
    if _DURATION.fullmatch(start):
        return _is_moment(end)
    # An interval's end may leave out what it shares with its start: 2026-11-29/30.
    whole_end = start[: len(start) - len(end)] + end if len(end) < len(start) else end
    ends = (_is_moment(end), _is_moment(whole_end), _DURATION.fullmatch(end))
    return bool(end) and _is_moment(start) and any(ends)


_Finding = tuple[str, Any, str]
"""Field, what was found there, what was expected."""

_ABSENT: Final = object()

_LARGE: Final = 10**18


def _findings(wire: Mapping[str, Any]) -> Iterator[_Finding]:
    for name in ("study", "period"):
        yield from _text(name, wire.get(name, _ABSENT))
    if "fielded" in wire and not (isinstance(wire["fielded"], str) and is_iso8601(wire["fielded"])):
        yield "fielded", wire["fielded"], "an ISO 8601 date or interval"
    yield from _base(wire.get("base", _ABSENT))
    if "weight" in wire:
        yield from _text("weight", wire["weight"])
    yield from _source(wire.get("source", _ABSENT))
    warnings = wire.get("warnings", [])
    if not isinstance(warnings, list) or not all(isinstance(warning, str) for warning in warnings):
        yield "warnings", warnings, "an array of strings"


def _base(base: Any) -> Iterator[_Finding]:
    if not isinstance(base, Mapping):
        yield "base", base, "an object with name and n"
        return
    yield from _text("base.name", base.get("name", _ABSENT))
    n = base.get("n", _ABSENT)
    if type(n) is not int or n < 1:  # a boolean is an int to isinstance
        yield "base.n", n, "a positive integer"


def _source(source: Any) -> Iterator[_Finding]:
    if not isinstance(source, Mapping):
        yield "source", source, "an object with table, column and function"
        return
    for name in _SOURCE:
        yield from _text(f"source.{name}", source.get(name, _ABSENT))


def _text(field: str, value: Any) -> Iterator[_Finding]:
    if not isinstance(value, str) or not value.strip():
        yield field, value, _TEXT


def _is_moment(text: str) -> bool:
    if _MONTH.fullmatch(text) or _DAY_OF_YEAR.fullmatch(text):
        return True
    if not _MOMENT.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _problem(place: str, field: str | None, value: Any, expected: str) -> Problem:
    return Problem(file=place, field=field, found=_shown(value), expected=expected, remedy=_REMEDY)


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "nothing"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {value!r}" if abs(value) < _LARGE or value != value else "a number too large to show"
    if isinstance(value, str):
        return f"the string {value!r}" if len(value) <= 40 else f"a string of {len(value)} characters"
    return "an array" if isinstance(value, list) else "an object"


def _beyond(wire: Mapping[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in wire.items() if name not in known}
