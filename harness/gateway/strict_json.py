"""JSON as the contract means it: UTF-8, no duplicate keys, no NaN or Infinity, no lone surrogates (gateway.md)."""

import json
import math
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
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
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


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise NotStrict("a number beyond the range of a double")
    return number


def _has_surrogate(value: Any) -> bool:
    """Whether any text or key of the value holds one; without recursion, as the value may be nested to the limit."""
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, str):
            if not each.isascii() and any("\ud800" <= letter <= "\udfff" for letter in each):
                return True
        elif isinstance(each, dict):
            pending.extend(each)
            pending.extend(each.values())
        elif isinstance(each, list):
            pending.extend(each)
    return False
