"""A month of settlements as billing asks for it."""

from datetime import date

from harness.nightly.contracts import contracts
from harness.sla.period import Period, period_of
from harness.store.ledger import Ledger, Query


def period(ledger: Ledger, month: date) -> Period | None:
    """The period of the month that a date lies in; None where no window of it is known."""
    found = ledger.settlements(Query(month=f"{month:%Y-%m}"))
    return period_of(month, contracts(ledger.engine), (stand.settlement for stand in found))
