"""Marks in the terminal stand under what they mark, whatever width it has there."""

import pytest

from harness.cli.shown import contrasted
from harness.site.contrast import contrast


@pytest.mark.parametrize(
    ("one", "other", "lines"),
    [
        ("§1.2", "§1.2", ["§1.2"]),
        ("§1.2", "§1.3", ["§1.2", "   ^"]),
        ("a b", "a\u00a0b", ["a b", " ^"]),
        ("a\u00a0b", "a b", [r"a\xa0b", " ^^^^"]),
        ("e\u0301x", "ex", [r"e\u0301x", " ^^^^^^"]),  # a combining accent has no column of its own
        ("【1】x", "[1]x", ["【1】x", "^^ ^^"]),
        ("", "x", [""]),
    ],
)
def test_carets_stand_under_what_differs(one: str, other: str, lines: list[str]) -> None:
    assert [line[22:] for line in contrasted("  gold", contrast(one, other)[0])] == lines


def test_long_texts_are_broken_with_their_marks() -> None:
    lines = list(contrasted("  found", contrast("x" * 70 + "y", "x" * 70 + "z")[0]))
    assert lines == [f"  found{'':15}{'x' * 60}", f"{'':22}{'x' * 10}y", f"{'':32}^"]
