"""The tables. Times are UTC text (`2026-11-30T02:17:05.123456Z`), nights ISO dates, fractions exact text (`37/2`)."""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)

TEXT: Final = Text().with_variant(Text(collation="C"), "postgresql")
"""Text that sorts by code point on both databases: the order of ids is part of what is published and digested."""

METADATA: Final = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

DEPLOYMENT = Table(
    "deployment",
    METADATA,
    Column("name", TEXT, primary_key=True),
    Column("value", TEXT, nullable=False),
    comment="Facts of this deployment: its name and the key that item ids are hashed with.",
)

RUN = Table(
    "run",
    METADATA,
    Column("run_id", TEXT, primary_key=True),
    Column("night", TEXT, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("state", TEXT, nullable=False),  # open, complete
    Column("seed", TEXT, nullable=False),
    Column("transport", TEXT, nullable=False),
    Column("gateway", TEXT, nullable=False),
    Column("harness_version", TEXT, nullable=False),
    Column("started_at", TEXT, nullable=False),
    Column("finished_at", TEXT),
    Column("stopped", TEXT),  # why items were left unasked, where some were
    Column("calls_sent", BigInteger, nullable=False, server_default="0"),
    Column("asked_again", BigInteger, nullable=False, server_default="0"),
    Column("sittings", Integer, nullable=False, server_default="0"),  # how often it was started or resumed
    UniqueConstraint("night", "attempt"),
)

RUN_SOCIETY = Table(
    "run_society",
    METADATA,
    Column("run_id", TEXT, nullable=False),
    Column("slug", TEXT, nullable=False),
    Column("snapshot_sha256", TEXT, nullable=False),
    Column("testset_version", TEXT, nullable=False),
    Column("testset_sha256", TEXT, nullable=False),
    Column("terms_version", Integer),
    Column("terms_sha256", TEXT),
    Column("window", TEXT),  # of the floors: night, calendar_month; null without a floor
    Column("items", BigInteger, nullable=False),
    Column("expectations", BigInteger, nullable=False),
    Column("refused", TEXT),  # the gateway's refusal of this society's corpus (403), if any
    PrimaryKeyConstraint("run_id", "slug"),
    ForeignKeyConstraint(["run_id"], ["run.run_id"]),
)

ANSWER = Table(
    "answer",
    METADATA,
    Column("run_id", TEXT, nullable=False),
    Column("slug", TEXT, nullable=False),
    Column("item_id", TEXT, nullable=False),
    Column("sitting", Integer, nullable=False),
    Column("reason", TEXT),  # null: usable
    Column("http_status", Integer),
    Column("ledger_entry_id", TEXT),
    Column("tokens_returned", BigInteger),
    Column("latency_ms", Integer, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("billed", Integer, nullable=False),  # attempts that came back with a ledger entry
    Column("asked_at", TEXT, nullable=False),
    Column("answered_at", TEXT, nullable=False),
    Column("segment", TEXT, nullable=False),
    Column("place", Integer, nullable=False),
    PrimaryKeyConstraint("run_id", "slug", "item_id", "sitting"),
    ForeignKeyConstraint(["run_id", "slug"], ["run_society.run_id", "run_society.slug"]),
)

REVISION = Table(
    "revision",
    METADATA,
    Column("run_id", TEXT, nullable=False),
    Column("slug", TEXT, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("scorer_version", Integer, nullable=False),
    Column("scored_at", TEXT, nullable=False),
    Column("scores_sha256", TEXT, nullable=False),
    Column("reason", TEXT),  # of a rescore; null: the night's own scoring, as for the next three
    Column("gold_sha256", TEXT),  # the folder, as frozen for a gold correction, whose gold counts
    Column("testset_version", TEXT),
    Column("testset_sha256", TEXT),
    PrimaryKeyConstraint("run_id", "slug", "revision"),
    ForeignKeyConstraint(["run_id", "slug"], ["run_society.run_id", "run_society.slug"]),
)

_REVISION_KEY = [REVISION.c.run_id, REVISION.c.slug, REVISION.c.revision]


def _revision_columns() -> tuple[Column[str], Column[str], Column[int]]:
    return (
        Column("run_id", TEXT, nullable=False),
        Column("slug", TEXT, nullable=False),
        Column("revision", Integer, nullable=False),
    )


SCORE = Table(
    "score",
    METADATA,
    *_revision_columns(),
    Column("item_id", TEXT, nullable=False),
    Column("item_hash", TEXT, nullable=False),  # the published id
    Column("verdict", TEXT, nullable=False),  # an ItemScore as JSON
    PrimaryKeyConstraint("run_id", "slug", "revision", "item_id"),
    ForeignKeyConstraint(["run_id", "slug", "revision"], _REVISION_KEY),
)

MEASURE = Table(
    "measure",
    METADATA,
    *_revision_columns(),
    Column("name", TEXT, nullable=False),
    Column("stratum", TEXT, nullable=False),  # empty: the whole
    Column("good", TEXT, nullable=False),
    Column("valid", BigInteger, nullable=False),
    Column("number", TEXT, nullable=False),  # the Measure as JSON
    PrimaryKeyConstraint("run_id", "slug", "revision", "name", "stratum"),
    ForeignKeyConstraint(["run_id", "slug", "revision"], _REVISION_KEY),
)

FAULT = Table(
    "fault",
    METADATA,
    *_revision_columns(),
    Column("item_id", TEXT, nullable=False),
    Column("expectation", Integer, nullable=False),
    Column("diagnosis", TEXT, nullable=False),  # JSON; never read by scoring or money
    PrimaryKeyConstraint("run_id", "slug", "revision", "item_id", "expectation"),
    ForeignKeyConstraint(["run_id", "slug", "revision"], _REVISION_KEY),
)

ASSESSMENT = Table(
    "assessment",
    METADATA,
    *_revision_columns(),
    Column("measure", TEXT, nullable=False),
    Column("status", TEXT, nullable=False),
    Column("assessed_at", TEXT, nullable=False),
    Column("assessment", TEXT, nullable=False),  # an Assessment as JSON
    PrimaryKeyConstraint("run_id", "slug", "revision", "measure"),
    ForeignKeyConstraint(["run_id", "slug", "revision"], _REVISION_KEY),
)

TERMS_USE = Table(
    "terms_use",
    METADATA,
    Column("slug", TEXT, nullable=False),
    Column("version", Integer, nullable=False),
    Column("sha256", TEXT, nullable=False),
    Column("first_night", TEXT, nullable=False),
    Column("last_night", TEXT, nullable=False),
    Column("society_id", TEXT),
    Column("terms", TEXT),  # the Terms as JSON, with the `effective_to` last seen; null: used under schema 0001 only
    PrimaryKeyConstraint("slug", "version"),
    comment="Terms are frozen by their first use (sla.md).",
)

LEASE = Table(
    "lease",
    METADATA,
    Column("night", TEXT, primary_key=True),
    Column("token", TEXT, nullable=False),
    Column("host", TEXT, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("expires_at", TEXT, nullable=False),
)

SETTLEMENT_EVENTS = Table(
    "settlement_events",
    METADATA,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("event_id", TEXT, nullable=False, unique=True),
    Column("subject", TEXT, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("type", TEXT, nullable=False),
    Column("body", TEXT, nullable=False),
    Column("data_sha256", TEXT, nullable=False),
    Column("prev_sha256", TEXT, nullable=False),
    Column("recorded_at", TEXT, nullable=False),
    UniqueConstraint("subject", "revision"),
)

SETTLEMENT = Table(
    "settlement",
    METADATA,
    Column("subject", TEXT, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("slug", TEXT, nullable=False),
    Column("month", TEXT, nullable=False),  # of the window: 2026-11
    Column("state", TEXT, nullable=False),
    Column("closes_at", TEXT, nullable=False),  # when the dispute clock runs out
    Column("finalized_at", TEXT),
    ForeignKeyConstraint(["seq"], ["settlement_events.seq"]),
    comment="Each subject's latest event with what it is looked up by; made of the events alone.",
)

ACT = Table(
    "act",
    METADATA,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("event_id", TEXT, nullable=False),
    Column("actor", TEXT, nullable=False),
    Column("note", TEXT, nullable=False),
    Column("recorded_at", TEXT, nullable=False),
    ForeignKeyConstraint(["seq"], ["settlement_events.seq"]),
    comment="Who brought an event about by hand, and what they noted; never served.",
)

SUPERSESSION = Table(
    "supersession",
    METADATA,
    Column("run_id", TEXT, nullable=False),
    Column("slug", TEXT, nullable=False),
    Column("by_run_id", TEXT, nullable=False),
    Column("reason", TEXT, nullable=False),
    Column("recorded_at", TEXT, nullable=False),
    PrimaryKeyConstraint("run_id", "slug"),
    ForeignKeyConstraint(["run_id", "slug"], ["run_society.run_id", "run_society.slug"]),
    ForeignKeyConstraint(["by_run_id"], ["run.run_id"]),
)

POOLING = Table(
    "pooling",
    METADATA,
    Column("slug", TEXT, nullable=False),
    Column("month", TEXT, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("basis_sha256", TEXT, nullable=False),  # of the runs and revisions pooled
    Column("recorded_at", TEXT, nullable=False),
    PrimaryKeyConstraint("slug", "month", "revision"),
)

TOKEN = Table(
    "token",
    METADATA,
    Column("token_id", TEXT, primary_key=True),
    Column("name", TEXT, nullable=False),
    Column("scopes", TEXT, nullable=False),  # separated by spaces
    Column("secret_sha256", TEXT, nullable=False),
    Column("created_at", TEXT, nullable=False),
    Column("expires_at", TEXT),  # null: never
    Column("revoked_at", TEXT),
)

ACKNOWLEDGEMENT = Table(
    "acknowledgement",
    METADATA,
    Column("idempotency_key", TEXT, primary_key=True),
    Column("subject", TEXT, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("invoice_ref", TEXT, nullable=False),
    Column("token_id", TEXT, nullable=False),
    Column("request_sha256", TEXT, nullable=False),
    Column("recorded_at", TEXT, nullable=False),
    ForeignKeyConstraint(["subject", "revision"], ["settlement_events.subject", "settlement_events.revision"]),
)

Index(None, SETTLEMENT.c.month, SETTLEMENT.c.subject)
Index(None, SETTLEMENT.c.state, SETTLEMENT.c.closes_at)
Index(None, SETTLEMENT.c.finalized_at)
Index(None, ACKNOWLEDGEMENT.c.subject)
Index(None, RUN.c.night)
Index(None, SCORE.c.run_id, SCORE.c.slug, SCORE.c.revision, SCORE.c.item_hash, unique=True)
