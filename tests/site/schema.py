"""A checker of the part of JSON Schema that eval.schema.json uses; a keyword it does not know is an error."""

import re
from collections.abc import Iterator
from typing import Any

_TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "boolean": bool,
    "null": type(None),
}

_SAID = {"$schema", "$defs", "title", "description"}


def violations(value: Any, schema: dict[str, Any], root: dict[str, Any], place: str = "$") -> Iterator[str]:
    """Every place where the value is not what the schema says."""
    for keyword, expected in schema.items():
        if keyword in _SAID:
            continue
        check = _CHECKS.get(keyword)
        if check is None:
            raise NotImplementedError(f"keyword {keyword} at {place}")
        yield from check(value, expected, schema, root, place)


def _type(value: Any, expected: str, schema: dict[str, Any], root: dict[str, Any], place: str) -> Iterator[str]:
    if not isinstance(value, _TYPES[expected]) or (isinstance(value, bool) and expected == "integer"):
        yield f"{place}: {value!r} is no {expected}"


def _properties(value: Any, expected: Any, schema: dict[str, Any], root: dict[str, Any], place: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in expected.items():
            if name in value:
                yield from violations(value[name], inner, root, f"{place}.{name}")


def _required(value: Any, expected: Any, schema: dict[str, Any], root: dict[str, Any], place: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{place}: {name} is absent" for name in expected if name not in value)


def _additional(value: Any, expected: Any, schema: dict[str, Any], root: dict[str, Any], place: str) -> Iterator[str]:
    if not isinstance(value, dict):
        return
    for name in value.keys() - schema.get("properties", {}).keys():
        if expected is False:
            yield f"{place}: {name} is not promised"
        elif expected is not True:
            yield from violations(value[name], expected, root, f"{place}.{name}")


def _items(value: Any, expected: Any, schema: dict[str, Any], root: dict[str, Any], place: str) -> Iterator[str]:
    if isinstance(value, list):
        for number, inner in enumerate(value):
            yield from violations(inner, expected, root, f"{place}[{number}]")


def _any_of(value: Any, expected: Any, schema: dict[str, Any], root: dict[str, Any], place: str) -> Iterator[str]:
    if all(list(violations(value, inner, root, place)) for inner in expected):
        yield f"{place}: {value!r} is none of {len(expected)} alternatives"


def _pattern(value: Any, expected: str, schema: dict[str, Any], root: dict[str, Any], place: str) -> Iterator[str]:
    if isinstance(value, str) and re.search(expected, value) is None:
        yield f"{place}: {value!r} does not match {expected}"


def _minimum(value: Any, expected: int, schema: dict[str, Any], root: dict[str, Any], place: str) -> Iterator[str]:
    if isinstance(value, int) and value < expected:
        yield f"{place}: {value} is below {expected}"


def _enum(value: Any, expected: Any, schema: dict[str, Any], root: dict[str, Any], place: str) -> Iterator[str]:
    if value not in expected:
        yield f"{place}: {value!r} is none of {expected}"


def _const(value: Any, expected: Any, schema: dict[str, Any], root: dict[str, Any], place: str) -> Iterator[str]:
    if value != expected:
        yield f"{place}: {value!r} is not {expected!r}"


def _ref(value: Any, expected: str, schema: dict[str, Any], root: dict[str, Any], place: str) -> Iterator[str]:
    yield from violations(value, root["$defs"][expected.removeprefix("#/$defs/")], root, place)


_CHECKS = {
    "type": _type,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional,
    "items": _items,
    "anyOf": _any_of,
    "pattern": _pattern,
    "minimum": _minimum,
    "enum": _enum,
    "const": _const,
    "$ref": _ref,
}
