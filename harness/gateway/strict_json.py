"""JSON as the contract means it: UTF-8, no duplicate keys, no NaN or Infinity, no lone surrogates (gateway.md)."""

import json
from typing import Any, NoReturn


class NotStrict(ValueError):
    """The bytes are no JSON of the contract. The message names the fault and never quotes the body."""


def decode_strict(raw: bytes) -> Any:
    """The decoded value. Raises NotStrict."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotStrict(f"byte {error.start} is not UTF-8") from None
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise NotStrict(f"{error.msg} at byte {error.pos}") from None
    except RecursionError:
        raise NotStrict("nested too deeply") from None
    except NotStrict:
        raise
    except ValueError:
        raise NotStrict("a number that is too long") from None
    # A surrogate can only come in by a \\u escape: UTF-8 itself has none.
    if "\\u" in text and _has_surrogate(value):
        raise NotStrict("a lone surrogate")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise NotStrict("a key that stands twice in one object")
    return table


def _no_constant(_name: str) -> NoReturn:
    raise NotStrict("NaN or Infinity")


def _has_surrogate(value: Any) -> bool:
    if isinstance(value, str):
        return any("\ud800" <= letter <= "\udfff" for letter in value)
    if isinstance(value, dict):
        return any(_has_surrogate(key) or _has_surrogate(inner) for key, inner in value.items())
    return isinstance(value, list) and any(_has_surrogate(inner) for inner in value)
