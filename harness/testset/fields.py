"""Typed values out of a table or JSON object, with what is wrong noted field by field."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, Final, Generic, TypeVar

from harness.testset.source import Findings, describe_kind, printable_key
from harness.testset.toml_lines import KeyPath

T = TypeVar("T")

_DECIMAL: Final = re.compile(r"(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,18})?")
_LONGEST_SHOWN: Final = 80
_ISO_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Refused(Exception):
    """A value that is not of the kind; never leaves this module."""


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """What a field may hold: how it is said, what to do otherwise, and the reading, which raises Refused."""

    expected: str
    remedy: str
    read: Callable[[Any], T]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a record stands. `lines` gives the lines of a TOML file's keys; a JSONL record has the one `line`.

    `shown` says whether its values may be printed; those of held-out files may not.
    """

    findings: Findings
    path: KeyPath = ()
    line: int | None = None
    lines: Mapping[KeyPath, int] | None = None
    shown: bool = True

    def line_of(self, *keys: str | int) -> int | None:
        """The line of a key below this place, or of the nearest thing around it that has one."""
        if self.lines is None:
            return self.line
        path = (*self.path, *keys)
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, self.line)

    def name(self, *keys: str | int) -> str | None:
        """The dotted name of a key below this place: `terms[0].floors[1].floor`."""
        text = ""
        for key in (*self.path, *keys):
            text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
        return text or None

    def below(self, *keys: str | int) -> "Place":
        """The place of a value inside."""
        return Place(
            findings=self.findings,
            path=(*self.path, *keys),
            line=self.line_of(*keys),
            lines=self.lines,
            shown=self.shown,
        )

    def note(self, *keys: str | int, found: str, expected: str, remedy: str) -> None:
        """Note a problem with a key below this place."""
        self.findings.add(
            line=self.line_of(*keys), field=self.name(*keys), found=found, expected=expected, remedy=remedy
        )


class Record:
    """One table or object: takes its values out by key. What is absent, unknown or refused is noted at its place."""

    def __init__(self, raw: Mapping[str, Any], place: Place, known: Iterable[str]) -> None:
        self.raw = raw
        self.place = place
        self._note_unknown(tuple(known))

    def need(self, key: str, kind: Kind[T]) -> T | None:
        """The value of a required key; None, with the reason noted, where it is absent or refused."""
        if key not in self.raw:
            self.place.note(key, found="nothing", expected=kind.expected, remedy=f"Add {key}.")
            return None
        return self._read(key, kind)

    def take(self, key: str, kind: Kind[T], default: T) -> T:
        """The value of an optional key; the default where it is absent or null, or, with the reason noted, refused."""
        if self.raw.get(key) is None:
            return default
        value = self._read(key, kind)
        return default if value is None else value

    def optional(self, key: str, kind: Kind[T]) -> T | None:
        """The value of an optional key; None where it is absent or null, or, with the reason noted, refused."""
        return None if self.raw.get(key) is None else self._read(key, kind)

    def tables(self, key: str, *, required: bool = False) -> list[tuple[Mapping[str, Any], Place]]:
        """The tables of an array of tables, each with its place."""
        rows = self.need(key, TABLES) if required else self.optional(key, TABLES)
        return [(row, self.place.below(key, index)) for index, row in enumerate(rows or ())]

    def _read(self, key: str, kind: Kind[T]) -> T | None:
        value = self.raw[key]
        try:
            return kind.read(value)
        except Refused:
            self.place.note(key, found=self._show(value), expected=kind.expected, remedy=kind.remedy)
            return None

    def _show(self, value: object) -> str:
        if not self.place.shown:
            return f"a string of {len(value)} characters" if isinstance(value, str) else describe_kind(value)
        if isinstance(value, float):
            return f"{value!r} (a float)"
        if isinstance(value, str):
            return repr(value) if len(value) <= _LONGEST_SHOWN else f"a string of {len(value)} characters"
        if type(value) is int or isinstance(value, list):
            try:
                shown = repr(value)
            except ValueError:  # an integer of more digits than Python prints
                shown = ""
            return shown if 0 < len(shown) <= _LONGEST_SHOWN else describe_kind(value)
        return str(value) if isinstance(value, date) else describe_kind(value)

    def _note_unknown(self, known: tuple[str, ...]) -> None:
        for key in self.raw:
            if key not in known:
                near = get_close_matches(key, known, 1) if len(key) <= 64 else []
                named = printable_key(key)
                self.place.findings.add(
                    line=self.place.line_of(key),
                    field=self.place.name() if named is None else self.place.name(named),
                    found="an unknown key" if named is not None else f"an unknown key of {len(key)} characters",
                    expected=f"one of {', '.join(known)}",
                    remedy=f"Did you mean {near[0]!r}?" if near else "Remove it.",
                )


def text(
    expected: str = "a text, not empty", remedy: str = "Write it in quotes.", pattern: str = r"(?s).*\S.*"
) -> Kind[str]:
    """A string that matches the whole pattern."""
    compiled = re.compile(pattern)

    def read(value: Any) -> str:
        if isinstance(value, str) and compiled.fullmatch(value):
            return value
        raise Refused

    return Kind(expected, remedy, read)


def choice(*names: str) -> Kind[str]:
    """One of the names."""

    def read(value: Any) -> str:
        if isinstance(value, str) and value in names:
            return value
        raise Refused

    return Kind(f"one of {', '.join(names)}", "Write one of them.", read)


def whole(low: int, high: int) -> Kind[int]:
    """An integer from low to high, both included."""

    def read(value: Any) -> int:
        if type(value) is int and low <= value <= high:
            return value
        raise Refused

    return Kind(f"an integer from {low} to {high}", "Write it without quotes and without a decimal point.", read)


def decimal(expected: str, accepts: Callable[[Fraction], bool]) -> Kind[str]:
    """A decimal in quotes, kept as it is written: digits, at most one point, no sign and no exponent."""

    def read(value: Any) -> str:
        if isinstance(value, str) and _DECIMAL.fullmatch(value) and accepts(Fraction(value)):
            return value
        raise Refused

    return Kind(f"a decimal in quotes, {expected}", 'Write it in quotes, like "0.95".', read)


def list_of(kind: Kind[T], expected: str, remedy: str, *, least: int = 0) -> Kind[tuple[T, ...]]:
    """A list of values of the kind, at least so many, none twice."""

    def read(value: Any) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise Refused
        values = tuple(kind.read(element) for element in value)
        if len(values) < least or len(set(values)) < len(values):
            raise Refused
        return values

    return Kind(expected, remedy, read)


def _read_flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise Refused


def _read_toml_date(value: Any) -> date:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    raise Refused


def _read_iso_date(value: Any) -> date:
    if isinstance(value, str) and _ISO_DATE.fullmatch(value):
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise Refused from None
    raise Refused


def _read_table(value: Any) -> Mapping[str, Any]:
    if isinstance(value, dict):
        return value
    raise Refused


def _read_tables(value: Any) -> list[Mapping[str, Any]]:
    if isinstance(value, list) and all(isinstance(row, dict) for row in value):
        return list(value)
    raise Refused


def _read_texts_by_key(value: Any) -> Mapping[str, str]:
    if isinstance(value, dict) and all(isinstance(held, str) for held in value.values()):
        return value
    raise Refused


def _read_path(value: Any) -> tuple[str, ...]:
    if isinstance(value, list) and value and all(isinstance(element, str) and element for element in value):
        return tuple(value)
    raise Refused


FLAG: Final = Kind("true or false", "Write true or false without quotes.", _read_flag)
TOML_DATE: Final = Kind("a date", "Write it as 2026-01-31, without quotes and without a time.", _read_toml_date)
ISO_DATE: Final = Kind("a date in quotes", 'Write it as "2026-01-31".', _read_iso_date)
TABLE: Final = Kind("a table", "Write it as key = value pairs.", _read_table)
TABLES: Final = Kind("a list of tables (in JSON: of objects)", "Write each one as a table of its own.", _read_tables)
TEXTS_BY_KEY: Final = Kind("an object of strings", "Quote each value.", _read_texts_by_key)
SECTION_PATH: Final = Kind("a list of strings, none empty", 'Write it as ["304", "1", "2"].', _read_path)
YEARS: Final = range(1800, 2201)
YEAR: Final = whole(YEARS.start, YEARS.stop - 1)
