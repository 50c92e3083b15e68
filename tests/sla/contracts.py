"""Contracts in one line: terms with night or month windows from one night to another."""

from datetime import date
from typing import Any, Final

from harness.sla.period import Contract
from harness.testset.model import Terms
from tests.sla.factories import terms

BEGAN: Final = date(2026, 1, 1)
NOVEMBER: Final = date(2026, 11, 1)
DECEMBER: Final = date(2026, 12, 1)


def nightly(start: date, end: date | None = None, **changes: Any) -> Terms:
    return terms(effective_from=start, effective_to=end, **changes)


def monthly(start: date, end: date | None = None, **changes: Any) -> Terms:
    return nightly(start, end, window="calendar_month", **changes)


def contract(*versions: Terms, first: date = BEGAN, slug: str = "asme") -> Contract:
    return Contract(society_id=slug.upper(), slug=slug, first_night=first, terms=versions)
