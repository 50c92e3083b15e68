"""Digests over canonical JSON."""

import math
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.testset.digest import ListDigest, canonical_json
from tests.testset.folder import sha256_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(st.text(st.characters(codec="utf-8")), JSON, max_size=4), max_size=5)


def items_digest(rows: Iterable[dict[str, object]]) -> str:
    whole = ListDigest()
    for row in rows:
        whole.add(row)
    return whole.hexdigest()


@given(OBJECTS)
def test_taken_one_by_one_it_is_the_digest_of_the_whole_list(rows: list[dict[str, object]]) -> None:
    assert items_digest(iter(rows)) == sha256_of(rows)


@given(OBJECTS)
def test_key_order_and_escapes_do_not_count_but_item_order_does(rows: list[dict[str, object]]) -> None:
    turned = [dict(reversed(row.items())) for row in rows]
    assert items_digest(turned) == items_digest(rows)
    if rows != rows[::-1]:
        assert items_digest(rows[::-1]) != items_digest(rows)


def test_known_value() -> None:
    """`printf '[{"a":"§","b":[1,null]}]' | sha256sum`."""
    assert canonical_json([{"b": [1, None], "a": "§"}]) == '[{"a":"§","b":[1,null]}]'
    assert (
        items_digest([{"b": [1, None], "a": "§"}]) == "ae834074b733a4c4402d9c2edb9d44e23c5d77cb0e39531ca04ccffb86ebb1e6"
    )


def test_numbers_that_json_lacks_are_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(math.nan)
