"""A factory of internal reports and their rows: one line says what a test is about."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from harness.site.internal import Call, FailedCheck, FailedExpectation, Flips, InternalReport, Quoted
from harness.site.text import Chip
from tests.site.results import Night, result

GATEWAY: Final = "https://gateway.example"

STANDARDS: Final = ("B31.1", "B31.3", "BPVC")


def report(**changes: Any) -> InternalReport:
    """A report of a night with four wrong expectations, without flips and calls."""
    values: dict[str, Any] = {
        "result": result(Night(outcomes="c" * 56 + "iimg")),
        "flips": Flips(),
        "slowest": (),
        "retried": (),
        "retried_count": 0,
        "gateway": GATEWAY,
    }
    return InternalReport(**values | changes)


def call(item: str, store: Path, **changes: Any) -> Call:
    values: dict[str, Any] = {
        "item": item,
        "endings": ("usable",),
        "latency_ms": 5,
        "attempts": 1,
        "ledger_entry_id": f"le_{item}",
        "file": store / "ab" / f"{'ab' * 32}.zst",
        "place": 7,
    }
    return Call(**values | changes)


def failed(store: Path, number: int = 1, **changes: Any) -> FailedExpectation:
    """Row `number`: another section of a standard, latency `number` ms; every tenth is a gateway error."""
    item, section = f"asme-{number:05d}", f"§{number % 97}.{number % 7}"
    standard = STANDARDS[number % 3]
    wrong = f"§{number % 97}.{number % 7 + 1}"
    error = number % 10 == 0
    values: dict[str, Any] = {
        "item": item,
        "expectation": 1,
        "query": f"What is required of part {number}?",
        "gold": (cited(standard, section),),
        "returned": None if error else cited(standard, wrong),
        "checks": () if error else (FailedCheck(name="section", expected=f'"{section}"', found=f'"{wrong}"'),),
        "outcome": "gateway_error" if error else "incorrect",
        "shapes": ("http_5xx",) if error else ("section:sibling", "section: value"),
        "standard": standard,
        "kind": "table" if number % 5 == 0 else "section",
        "rank": None if error else 1 + number % 5,
        "call": call(item, store, latency_ms=number, place=number % 256),
    }
    return FailedExpectation(**values | changes)


def cited(standard: str, section: str) -> Quoted:
    return Quoted(text=f"[ASME {standard} {section}]", chip=Chip(identifier=f"ASME {standard}", section=section))


def many(store: Path, count: int) -> Iterator[FailedExpectation]:
    """Rows 1 to `count`, made as they are asked for."""
    return (failed(store, number) for number in range(1, count + 1))
