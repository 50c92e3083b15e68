"""Passages as a gateway could return them: near the gold, wrong in type, and hostile."""

from typing import Any, Final

from hypothesis import strategies as st

from tests.scoring.factories import passage

STRANGE: Final[tuple[Any, ...]] = (
    None,
    True,
    False,
    0,
    -1,
    10**400,
    2022.0,
    1e308,
    "",
    "\ud800",
    "[ASME B31.3 §304.1.2]\udfff",
    "[" * 10_000,
    "(" * 10_000,
    "§" + "1." * 5_000,
    "a" * 10_000,
    "\x00\u202e\u200b",
    "<script>alert(1)</script>",
    [],
    [[[[[]]]]],
    ["304", ["1"], {"2": None}],
    ["1"] * 10_000,
    {},
    {"society": {"society": "ASME"}},
)

json_values: Final = st.recursive(
    st.sampled_from(STRANGE) | st.text(max_size=8) | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)

_KEYS: Final = st.dictionaries(
    st.sampled_from(["society", "standard", "section", "edition_year", "section_path", "citation", "text", "other"]),
    st.sampled_from(STRANGE) | st.sampled_from(["ASME", "B31.3", "§304.1.2", 2022, ["304", "1", "2"]]),
)

passages: Final = (
    st.builds(lambda last, changes: passage(last) | changes, st.sampled_from(["1", "2", "3"]), _KEYS)
    | st.sampled_from(["1", "2"]).map(passage)
    | _KEYS
    | json_values
)
"""Often near §304.1.1 and §304.1.2, sometimes anything."""
