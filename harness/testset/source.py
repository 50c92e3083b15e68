"""A folder's files as text, tables and lines, with every defect noted at its place (testsets.md).

UTF-8 with or without BOM, LF or CRLF; text is used as it is, never normalised.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.errors import InvalidInput, Problem
from harness.testset.toml_lines import KeyPath, key_lines

BOM: Final = b"\xef\xbb\xbf"
_TOML_PLACE: Final = re.compile(
    r"^(?P<what>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$", re.S
)


@dataclass(slots=True)
class Findings:
    """The problems of one file, in the order they were met. `file` is how the file is named to a person."""

    file: str
    problems: list[Problem] = field(default_factory=list)

    def add(self, *, found: str, expected: str, remedy: str, line: int | None = None, field: str | None = None) -> None:
        """Note one problem; `found` must be safe to print (errors.Problem)."""
        self.problems.append(
            Problem(file=self.file, line=line, field=field, found=found, expected=expected, remedy=remedy)
        )

    def in_line_order(self) -> list[Problem]:
        """The problems by line, those of the file as a whole first."""
        return sorted(self.problems, key=lambda problem: problem.line or 0)


def raise_if_any(*findings: Findings) -> None:
    """Raise InvalidInput with the problems of all files, or return when there is none."""
    problems = [problem for found in findings for problem in found.in_line_order()]
    if problems:
        raise InvalidInput(problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class TomlFile:
    """A TOML file: its text, its table, and the 1-based line of each key path."""

    text: str
    table: dict[str, Any]
    lines: dict[KeyPath, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonLine:
    """One line of a JSONL file that holds a JSON object; `number` is 1-based."""

    number: int
    value: dict[str, Any]


def read_text(path: Path, findings: Findings) -> str | None:
    """The file's text without its BOM; None, with the reason noted, where it cannot be read or is not UTF-8."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        _note_unreadable(findings, error)
        return None
    try:
        return raw.removeprefix(BOM).decode()
    except UnicodeDecodeError as error:
        offset = error.start + (len(BOM) if raw.startswith(BOM) else 0)
        _note_not_utf8(findings, raw[offset], offset, raw.count(b"\n", 0, offset) + 1)
        return None


def read_toml(path: Path, findings: Findings) -> TomlFile | None:
    """The file's table with the line of each key; None, with the reason noted, where it is not TOML."""
    text = read_text(path, findings)
    if text is None:
        return None
    try:
        table = tomllib.loads(text)
        lines = key_lines(text)
    except RecursionError:
        findings.add(
            found="values nested too deep to read",
            expected="the few levels of a society's folder",
            remedy="Flatten the value.",
        )
        return None
    except ValueError as error:
        _note_not_toml(findings, error)
        return None
    return TomlFile(text=text, table=table, lines=lines)


def read_jsonl(path: Path, findings: Findings) -> Iterator[JsonLine]:
    """The objects of a JSONL file one by one, memory flat in lines; blank lines are passed over.

    A line that is not UTF-8, not JSON, not an object, or that repeats a key, is noted and left out.
    """
    try:
        with path.open("rb") as stream:
            offset = 0
            for number, raw in enumerate(stream, 1):
                value = _decode_line(raw, number=number, offset=offset, findings=findings)
                offset += len(raw)
                if value is not None:
                    yield JsonLine(number=number, value=value)
    except OSError as error:
        _note_unreadable(findings, error)


class _BadJson(ValueError):
    """JSON that Python would take and we refuse: what was found, and what was expected instead."""

    def __init__(self, found: str, expected: str, field: str | None = None) -> None:
        super().__init__(found)
        self.found = found
        self.expected = expected
        self.field = field


def _decode_line(raw: bytes, *, number: int, offset: int, findings: Findings) -> dict[str, Any] | None:
    body = raw.removeprefix(BOM) if number == 1 else raw
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        start = error.start + len(raw) - len(body)
        _note_not_utf8(findings, raw[start], offset + start, number)
        return None
    if not text.strip(" \t\r\n"):
        return None
    try:
        value = _DECODER.decode(text)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()  # an escaped lone surrogate has no UTF-8
    except (ValueError, RecursionError) as error:
        _note_not_json(findings, error, number)
        return None
    if not isinstance(value, dict):
        findings.add(
            line=number,
            found=describe_kind(value),
            expected="one JSON object a line",
            remedy="Write the object on one line, in braces.",
        )
        return None
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _BadJson(
                    f"a key of {len(key)} characters twice in one object", "each key once", printable_key(key)
                )
            seen.add(key)
    return value


def _no_constant(name: str) -> Any:
    raise _BadJson(name, "JSON, which has no such number")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_no_constant)


def describe_kind(value: object) -> str:
    """What kind of value it is, without showing it (it may be held out)."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    kinds = ((int, "an integer"), (float, "a float"), (str, "a string"), (list, "an array"), (dict, "an object"))
    return next((text for kind, text in kinds if isinstance(value, kind)), "a date or time")


def printable_key(key: str) -> str | None:
    """A key that a message may name; None for one that does not look like a key (it may be held out)."""
    return key if re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", key) else None


def _note_unreadable(findings: Findings, error: OSError) -> None:
    findings.add(
        found="no such file" if isinstance(error, FileNotFoundError) else f"an unreadable file ({error.strerror})",
        expected="a readable file",
        remedy="Add the file or mend its permissions.",
    )


def _note_not_utf8(findings: Findings, byte: int, offset: int, line: int) -> None:
    findings.add(
        line=line,
        found=f"byte 0x{byte:02X} at byte offset {offset}, which is not UTF-8",
        expected="UTF-8 text",
        remedy="Save the file as UTF-8.",
    )


def _note_not_toml(findings: Findings, error: ValueError) -> None:
    place = _TOML_PLACE.match(str(error))
    line = int(place["line"]) if place and place["line"] else None
    what = place["what"] if place else str(error)
    where = f" at column {place['column']}" if place and place["column"] else ""
    findings.add(
        line=line,
        found=f"text that is not TOML ({what}{where or (' at the end' if place else '')})",
        expected="TOML 1.0",
        remedy="Mend the syntax there.",
    )


def _note_not_json(findings: Findings, error: ValueError | RecursionError, line: int) -> None:
    if isinstance(error, _BadJson):
        findings.add(line=line, field=error.field, found=error.found, expected=error.expected, remedy="Mend that line.")
        return
    if isinstance(error, json.JSONDecodeError):
        found = f"text that is not JSON ({error.msg} at column {error.colno})"
    elif isinstance(error, UnicodeEncodeError):
        found = "an escaped lone surrogate, which is no character"
    elif isinstance(error, RecursionError):
        found = "values nested too deep to read"
    else:
        found = "a number too long to read"
    findings.add(
        line=line,
        found=found,
        expected="one JSON object a line",
        remedy="Mend that line; nothing may follow the object.",
    )
