"""JSON as the contract means it: what is read as it stands, what is refused, and that no text gets into the message."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.gateway.strict_json import NotStrict, decode_strict

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def kinds(value: Any) -> Any:
    """The value with the type of every part, so that 1, 1.0 and true differ."""
    if isinstance(value, list):
        return [kinds(each) for each in value]
    if isinstance(value, dict):
        return {key: kinds(each) for key, each in value.items()}
    return type(value), value


@given(value=JSON_VALUES, escaped=st.booleans())
def test_what_is_written_is_read_type_for_type(value: Any, escaped: bool) -> None:
    raw = json.dumps(value, ensure_ascii=escaped).encode()
    assert kinds(decode_strict(raw)) == kinds(value)


@given(raw=st.binary() | st.text('[]{}",:\\u0123dD8NaInfiyt-+.eE \ufeff\u00a7').map(str.encode))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    try:
        value = decode_strict(raw)
    except NotStrict:
        return
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b" 1 ", 1),
        (b"1.0", 1.0),
        (b"true", True),
        (b'"\\ud83d\\ude00"', "\U0001f600"),  # a pair is one character
        (b'"\\\\ud800"', "\\ud800"),  # a backslash, not an escape
        (b'"\\u0000"', "\0"),
        ('"\u00a7\u00a0\u2013"'.encode(), "\u00a7\u00a0\u2013"),  # nothing is normalised
        (b'{"a": {"b": 1}, "c": {"b": 2}}', {"a": {"b": 1}, "c": {"b": 2}}),
        (b"123456789012345678901234567890", 123456789012345678901234567890),
    ],
)
def test_reads(raw: bytes, value: Any) -> None:
    assert kinds(decode_strict(raw)) == kinds(value)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b'"\xff"', "byte 1 is not UTF-8"),
        (b'"\xed\xa0\x80"', "byte 1 is not UTF-8"),
        (b"", "Expecting value at byte 0"),
        (b'{"secret": ', "Expecting value at byte 11"),
        (b"{} {}", "Extra data at byte 3"),
        (b"\xef\xbb\xbf{}", "Unexpected UTF-8 BOM (decode using utf-8-sig) at byte 0"),
        (b'{"secret": 1, "secret": 1}', "a key that stands twice in one object"),
        (b'[{"x": {"a": 1, "\\u0061": 2}}]', "a key that stands twice in one object"),
        (b"[NaN]", "NaN or Infinity"),
        (b"[Infinity]", "NaN or Infinity"),
        (b"[-Infinity]", "NaN or Infinity"),
        (b"[1e309]", "a number beyond the range of a double"),
        (b"[-1e309]", "a number beyond the range of a double"),
        (b"9" * 5000, "a number that is too long"),
        (b'["\\ud800"]', "a lone surrogate"),
        (b'["\\uDC00\\uD800"]', "a lone surrogate"),
        (b'{"\\ud800": 1}', "a lone surrogate"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_error_refused(raw: bytes, said: str) -> None:
    with pytest.raises(NotStrict) as caught:
        decode_strict(raw)
    assert str(caught.value) == said


@pytest.mark.parametrize("depth", [200, 400, 480, 600, 900])
def test_a_surrogate_is_found_at_any_depth(depth: int) -> None:
    """Within the decoder's own limit of nesting, and beyond it refused all the same."""
    with pytest.raises(NotStrict):
        decode_strict(b"[" * depth + b'"\\ud800"' + b"]" * depth)
