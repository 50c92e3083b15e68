"""What billing said it did with a settlement: appended, once for each idempotency key (sla.md, Feed and API)."""

from dataclasses import asdict, dataclass

from sqlalchemy import Engine, insert, select

from harness.errors import HarnessError
from harness.store.engine import reading, writing
from harness.store.schema import ACKNOWLEDGEMENT, SETTLEMENT_EVENTS


class KeyReused(HarnessError):
    """The idempotency key came before with another request."""


class UnknownRevision(HarnessError):
    """The settlement has no such revision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """What billing did on a revision of a settlement. `request_sha256` is over subject and body; `recorded_at` UTC."""

    idempotency_key: str
    subject: str
    revision: int
    invoice_ref: str
    token_id: str
    request_sha256: str
    recorded_at: str


def acknowledge(engine: Engine, offered: Acknowledgement) -> tuple[Acknowledgement, bool]:
    """Record it, or find what the same key recorded before; whether it is new.

    Raises KeyReused where the key stands for another request, UnknownRevision where the revision was never written.
    """
    table, events = ACKNOWLEDGEMENT, SETTLEMENT_EVENTS
    with writing(engine, exclusive=True) as connection:
        query = select(table).where(table.c.idempotency_key == offered.idempotency_key)
        row = connection.execute(query).one_or_none()
        if row is not None:
            known = Acknowledgement(**row._mapping)
            if known.request_sha256 != offered.request_sha256:
                raise KeyReused("this Idempotency-Key came before with another subject or body")
            return known, False
        here = select(events.c.seq).where(events.c.subject == offered.subject, events.c.revision == offered.revision)
        if connection.execute(here).one_or_none() is None:
            raise UnknownRevision(f"revision {offered.revision} of this settlement does not exist")
        connection.execute(insert(table).values(**asdict(offered)))
        return offered, True


def find_acknowledgements(engine: Engine, subject: str) -> list[Acknowledgement]:
    """What was said of a settlement, oldest first."""
    table = ACKNOWLEDGEMENT
    query = select(table).where(table.c.subject == subject).order_by(table.c.recorded_at, table.c.idempotency_key)
    with reading(engine) as connection:
        return [Acknowledgement(**row._mapping) for row in connection.execute(query)]
