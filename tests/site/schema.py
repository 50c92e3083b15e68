"""eval.schema.json for tests: as it is for readers, and shut, so that a key nobody promised is seen."""

import json
from pathlib import Path
from typing import Any, Final

from jsonschema_rs import Draft202012Validator

import harness.site

SCHEMA: Final = json.loads((Path(harness.site.__file__).parent / "eval.schema.json").read_text(encoding="utf-8"))


def _shut(schema: Any) -> Any:
    """The schema with no key allowed that it does not name; readers are told that later releases add some."""
    if isinstance(schema, list):
        return [_shut(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: _shut(value) for name, value in schema.items()}
    if "properties" in inner and inner.get("type") == "object":
        inner.setdefault("additionalProperties", False)
    return inner


_OPEN: Final = Draft202012Validator(SCHEMA)
_SHUT: Final = Draft202012Validator(_shut(SCHEMA))


def violations(value: Any, *, as_reader: bool = False) -> list[str]:
    """Every place where the value is not what the schema says."""
    checked = _OPEN if as_reader else _SHUT
    return [f"{'.'.join(map(str, error.instance_path))}: {error.message}" for error in checked.iter_errors(value)]
