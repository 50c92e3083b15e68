"""Whatever the files hold, a folder loads or is refused with problems; nothing else is ever raised."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import InvalidInput
from harness.testset.lint import lint
from harness.testset.society import load_society
from tests.testset.folder import (
    CHANGES,
    FILE_NAMES,
    SOCIETY,
    SOURCES,
    TERMS,
    item,
    json_lines,
    section_rows,
    sha256_of,
    write_society,
)

VALID = {
    "society": SOCIETY.replace("SHA256", sha256_of([item(1), item(2)])),
    "terms": TERMS,
    "items": json_lines([item(1), item(2)]),
    "catalogue": json_lines(section_rows()),
    "corpus": json_lines(section_rows(text="In our own words.")),
    "changes": CHANGES,
    "sources": SOURCES,
}
FILES = sorted(FILE_NAMES)
SCALARS = [None, True, 0, -1, 2022, 1.5, 1e308, "", "x", "0.5", "[ACME P100 §1.2]", "\x00", "é" * 300, 10**30]


def judged(folder: Path) -> bool:
    """Whether the folder loads; lint agrees where the defect is in a file that a night needs."""
    try:
        load_society(folder)
    except InvalidInput as error:
        assert error.problems
        assert all(problem.found and problem.expected and problem.remedy for problem in error.problems)
        assert set(error.problems) <= set(lint(folder).problems)
        return False
    assert len(lint(folder).societies) == 1
    return True


def write(root: Path, name: str, content: bytes) -> Path:
    files: dict[str, Any] = {**VALID, name: content}
    return write_society(root, **files)


def test_the_folder_that_is_changed_here_is_valid(tmp_path: Path) -> None:
    folder = write(tmp_path, "changes", CHANGES.encode())
    assert judged(folder)
    assert lint(folder).problems == ()
    assert set(VALID) == set(FILE_NAMES)


@pytest.mark.parametrize("name", FILES)
@given(content=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
@settings(max_examples=25, deadline=None)
def test_arbitrary_bytes(tmp_path_factory: pytest.TempPathFactory, name: str, content: bytes) -> None:
    judged(write(tmp_path_factory.mktemp("bytes"), name, content))


@pytest.mark.parametrize("name", FILES)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_bytes_cut_out_put_in_or_doubled(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    content = VALID[name].encode()
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(len(content), start + 40)))
    between = data.draw(
        st.binary(max_size=3) | st.sampled_from([b'"', b"\n", b"\r", b"[", b"{}", b"0.5", content[start:end] * 2])
    )
    judged(write(tmp_path_factory.mktemp("cut"), name, content[:start] + between + content[end:]))


def replaced(value: Any, change: Callable[[Any], Any], at: int) -> tuple[Any, int]:
    """The JSON value with the part at a position of its depth-first walk changed, and the positions left."""
    if at == 0:
        return change(value), -1
    at -= 1
    if isinstance(value, dict | list):
        rows = list(value.items() if isinstance(value, dict) else enumerate(value))
        copy: Any = dict(value) if isinstance(value, dict) else list(value)
        for key, held in rows:
            if at >= 0:
                copy[key], at = replaced(held, change, at)
        return copy, at
    return value, at


@pytest.mark.parametrize("name", ["items", "catalogue", "corpus"])
@given(
    at=st.integers(0, 14),
    junk=st.sampled_from(SCALARS) | st.lists(st.sampled_from(SCALARS), max_size=2),
    nested=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_any_value_in_any_field(
    tmp_path_factory: pytest.TempPathFactory, name: str, at: int, junk: Any, nested: bool
) -> None:
    row = json.loads(VALID[name].splitlines()[0])
    changed, _ = replaced(row, lambda _: {"key": junk} if nested else junk, at)
    lines = [json.dumps(changed), *VALID[name].splitlines()[1:]]
    judged(write(tmp_path_factory.mktemp("junk"), name, "\n".join(lines).encode()))


TOML_SCALARS = [
    '""',
    '"x"',
    "0",
    "-1",
    "1.5",
    "inf",
    "nan",
    "true",
    "2026-01-01",
    "[]",
    "[[]]",
    "{}",
    "[{}]",
    '{ a = "x" }',
    "0xffff",
    '["a", 1]',
]


@pytest.mark.parametrize("name", ["society", "terms"])
@given(data=st.data())
@settings(max_examples=80, deadline=None)
def test_any_value_for_any_key(tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject) -> None:
    lines = VALID[name].splitlines()
    keys = [number for number, line in enumerate(lines) if " = " in line and not line.startswith((" ", "#", "tiers"))]
    number = data.draw(st.sampled_from(keys))
    lines[number] = f"{lines[number].partition(' = ')[0]} = {data.draw(st.sampled_from(TOML_SCALARS))}"
    judged(write(tmp_path_factory.mktemp("toml"), name, "\n".join(lines).encode()))
