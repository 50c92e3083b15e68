"""No float decides about money: none is written, made or reached by a true division anywhere in the room."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness.sla

MODULES = sorted(Path(harness.sla.__file__).parent.glob("*.py"))


def inexact(tree: ast.AST) -> Iterator[str]:
    """Each place where a float could come in: a literal, `float` or `round`, `/`, or math beyond whole numbers."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=float() | complex()):
                yield f"{node.lineno}: {node.value!r}"
            case ast.Name(id="float" | "round"):
                yield f"{node.lineno}: {node.id}"
            case ast.BinOp(op=ast.Div()) | ast.AugAssign(op=ast.Div()):
                yield f"{node.lineno}: /"
            case ast.ImportFrom(module="math", names=names) if {name.name for name in names} - {"ceil"}:
                yield f"{node.lineno}: math"
            case ast.Import(names=names) if {name.name for name in names} & {"math", "decimal", "numpy", "scipy"}:
                yield f"{node.lineno}: import"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_float_comes_into(path: Path) -> None:
    assert list(inexact(ast.parse(path.read_text("utf-8")))) == []


def test_the_whole_room_is_looked_at() -> None:
    money = {"acts", "assess", "binomial", "evaluation", "ledger", "model", "period", "settlement", "terms", "windows"}
    assert money <= {path.stem for path in MODULES}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x = 0.95", "1: 0.95"),
        ("x = float(y)", "1: float"),
        ("x = round(y)", "1: round"),
        ("x = a / b", "1: /"),
        ("x /= b", "1: /"),
        ("from math import log", "1: math"),
        ("import math", "1: import"),
    ],
)
def test_what_is_looked_for_is_found(source: str, found: str) -> None:
    assert list(inexact(ast.parse(source))) == [found]
