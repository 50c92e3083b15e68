"""Lines of TOML keys, against the standard library's reading of the same text."""

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.testset.toml_lines import KeyPath, key_lines
from tests.shared import TESTSETS
from tests.testset.folder import SOCIETY, TERMS

TEXT = '''# comment = 1
top = "a # b" # c
dotted.'quoted "x"'."y\\u0041" = [1,
  "two]", # three
  { in = "}", line = [ [], ["""
""" ] ] },
]

[table."with.dot"]
long = """
key = 1 \\""" [no]""""
raw = \'\'\'
[[no]]'\'\'\'
day = 2026-01-01 10:00:00

[[rows]]
a = 1

[[rows]]
b = { c.d = 1, e = 2 }
[rows.inner]
[[rows.deep]]
x = 1
[[rows.deep]]
x = 2
'''

EXPECTED: dict[KeyPath, int] = {
    ("top",): 2,
    ("dotted",): 3,
    ("dotted", 'quoted "x"'): 3,
    ("dotted", 'quoted "x"', "yA"): 3,
    ("dotted", 'quoted "x"', "yA", 0): 3,
    ("dotted", 'quoted "x"', "yA", 1): 4,
    ("dotted", 'quoted "x"', "yA", 2): 5,
    ("dotted", 'quoted "x"', "yA", 2, "in"): 5,
    ("dotted", 'quoted "x"', "yA", 2, "line"): 5,
    ("dotted", 'quoted "x"', "yA", 2, "line", 0): 5,
    ("dotted", 'quoted "x"', "yA", 2, "line", 1): 5,
    ("dotted", 'quoted "x"', "yA", 2, "line", 1, 0): 5,
    ("table",): 9,
    ("table", "with.dot"): 9,
    ("table", "with.dot", "long"): 10,
    ("table", "with.dot", "raw"): 12,
    ("table", "with.dot", "day"): 14,
    ("rows",): 16,
    ("rows", 0): 16,
    ("rows", 0, "a"): 17,
    ("rows", 1): 19,
    ("rows", 1, "b"): 20,
    ("rows", 1, "b", "c"): 20,
    ("rows", 1, "b", "c", "d"): 20,
    ("rows", 1, "b", "e"): 20,
    ("rows", 1, "inner"): 21,
    ("rows", 1, "deep"): 22,
    ("rows", 1, "deep", 0): 22,
    ("rows", 1, "deep", 0, "x"): 23,
    ("rows", 1, "deep", 1): 24,
    ("rows", 1, "deep", 1, "x"): 25,
}


def paths(value: Any, above: KeyPath = ()) -> Iterator[KeyPath]:
    """Every path in a table, as tomllib reads it."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, held in inner:
        yield (*above, key)
        yield from paths(held, (*above, key))


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_lines_of_every_form(ending: str) -> None:
    assert key_lines(TEXT.replace("\n", ending)) == EXPECTED


@pytest.mark.parametrize("text", [TEXT, SOCIETY, TERMS], ids=["forms", "society", "terms"])
def test_paths_are_those_that_tomllib_reads(text: str) -> None:
    assert set(key_lines(text)) == set(paths(tomllib.loads(text)))


@pytest.mark.parametrize("name", ["society.toml", "terms.toml"])
def test_paths_of_the_shipped_files(name: str) -> None:
    texts = [path.read_text(encoding="utf-8") for path in TESTSETS.glob(f"*/{name}")]
    assert len(texts) == 7
    for text in texts:
        assert set(key_lines(text)) == set(paths(tomllib.loads(text)))


BARE = st.sampled_from(["a", "b-1", "2026", "_"])
QUOTED = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters="\\"), max_size=4).map(
    lambda text: f'"{text}"' if '"' not in text else "'q'"
)
KEY = st.lists(BARE | QUOTED, min_size=1, max_size=3).map(".".join)
SCALAR = st.sampled_from(
    [
        "1",
        "-0.5e3",
        "true",
        "2026-01-01",
        "07:30:00",
        '"x, ] } # y"',
        "'it \"is\"'",
        '"""\na = 1\n"""',
        "'''\n[b]\n'''",
        '""',
    ]
)
SPACE = st.sampled_from(["", " ", "\n", " # ] }\n", "\r\n\t"])
VALUE: st.SearchStrategy[str] = st.recursive(
    SCALAR,
    lambda inner: st.one_of(
        st.tuples(SPACE, st.lists(st.tuples(inner, SPACE).map("".join), max_size=3)).map(
            lambda parts: f"[{parts[0]}{','.join(parts[1])}]"
        ),
        st.lists(inner, max_size=3).map(
            lambda values: "{" + ", ".join(f"k{n}.x = {value}" for n, value in enumerate(values)) + "}"
        ),
    ),
    max_leaves=6,
)
STATEMENT = st.one_of(
    st.tuples(KEY, VALUE).map(" = ".join),
    KEY.map("[{}]".format),
    KEY.map("[[{}]]".format),
    st.just("# note [x] = 1"),
)


@given(st.lists(STATEMENT, max_size=8).map("\n".join))
@settings(max_examples=300, deadline=None)
def test_whatever_tomllib_reads_has_its_lines(text: str) -> None:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    lines = key_lines(text)
    assert set(lines) == set(paths(table))
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())
