"""Settlements as they stand, acts by hand, superseded runs, contract terms, rescored revisions, tokens, receipts."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

_APPEND_ONLY = {
    "act": ("seq",),
    "acknowledgement": ("idempotency_key",),
    "pooling": ("slug", "month", "revision"),
    "supersession": ("run_id", "slug"),
}
"""Tables that are only added to, with their keys."""

_SQLITE_GUARD = """
CREATE TRIGGER {table}_no_{verb} BEFORE {verb} ON {table}
BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END
"""

# INSERT OR REPLACE would remove a row without asking the DELETE trigger.
_SQLITE_ONCE = """
CREATE TRIGGER {table}_once BEFORE INSERT ON {table}
WHEN EXISTS (SELECT 1 FROM {table} WHERE {same})
BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END
"""

_POSTGRES_FUNCTION = """
CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$
"""

_POSTGRES_GUARD = """
CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
FOR EACH STATEMENT EXECUTE FUNCTION append_only()
"""


def upgrade() -> None:
    _create_tables()
    _add_columns()
    _guard()
    _fill_settlements()


def _create_tables() -> None:
    op.create_table(
        "settlement",
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("slug", TEXT, nullable=False),
        sa.Column("month", TEXT, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("closes_at", TEXT, nullable=False),
        sa.Column("finalized_at", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["seq"], ["settlement_events.seq"], name=op.f("fk_settlement_seq_settlement_events")),
        sa.PrimaryKeyConstraint("subject", name=op.f("pk_settlement")),
        comment="Each subject's latest event with what it is looked up by; made of the events alone.",
    )
    op.create_index(op.f("ix_settlement_month"), "settlement", ["month", "subject"], unique=False)
    op.create_index(op.f("ix_settlement_state"), "settlement", ["state", "closes_at"], unique=False)
    op.create_index(op.f("ix_settlement_finalized_at"), "settlement", ["finalized_at"], unique=False)
    op.create_table(
        "act",
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("event_id", TEXT, nullable=False),
        sa.Column("actor", TEXT, nullable=False),
        sa.Column("note", TEXT, nullable=False),
        sa.Column("recorded_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["seq"], ["settlement_events.seq"], name=op.f("fk_act_seq_settlement_events")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_act")),
        comment="Who brought an event about by hand, and what they noted; never served.",
    )
    op.create_table(
        "supersession",
        sa.Column("run_id", TEXT, nullable=False),
        sa.Column("slug", TEXT, nullable=False),
        sa.Column("by_run_id", TEXT, nullable=False),
        sa.Column("reason", TEXT, nullable=False),
        sa.Column("recorded_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "slug"],
            ["run_society.run_id", "run_society.slug"],
            name=op.f("fk_supersession_run_id_run_society"),
        ),
        sa.ForeignKeyConstraint(["by_run_id"], ["run.run_id"], name=op.f("fk_supersession_by_run_id_run")),
        sa.PrimaryKeyConstraint("run_id", "slug", name=op.f("pk_supersession")),
    )
    op.create_table(
        "pooling",
        sa.Column("slug", TEXT, nullable=False),
        sa.Column("month", TEXT, nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("basis_sha256", TEXT, nullable=False),
        sa.Column("recorded_at", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("slug", "month", "revision", name=op.f("pk_pooling")),
    )
    op.create_table(
        "token",
        sa.Column("token_id", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("scopes", TEXT, nullable=False),
        sa.Column("secret_sha256", TEXT, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.Column("expires_at", TEXT, nullable=True),
        sa.Column("revoked_at", TEXT, nullable=True),
        sa.PrimaryKeyConstraint("token_id", name=op.f("pk_token")),
    )
    op.create_table(
        "acknowledgement",
        sa.Column("idempotency_key", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("invoice_ref", TEXT, nullable=False),
        sa.Column("token_id", TEXT, nullable=False),
        sa.Column("request_sha256", TEXT, nullable=False),
        sa.Column("recorded_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["subject", "revision"],
            ["settlement_events.subject", "settlement_events.revision"],
            name=op.f("fk_acknowledgement_subject_settlement_events"),
        ),
        sa.PrimaryKeyConstraint("idempotency_key", name=op.f("pk_acknowledgement")),
    )
    op.create_index(op.f("ix_acknowledgement_subject"), "acknowledgement", ["subject"], unique=False)


def _add_columns() -> None:
    for name in ("reason", "gold_sha256", "testset_version", "testset_sha256"):
        op.add_column("revision", sa.Column(name, TEXT, nullable=True))
    for name in ("society_id", "terms"):
        op.add_column("terms_use", sa.Column(name, TEXT, nullable=True))


def _guard() -> None:
    if op.get_bind().dialect.name == "sqlite":
        for table, key in _APPEND_ONLY.items():
            for verb in ("UPDATE", "DELETE"):
                op.execute(_SQLITE_GUARD.format(table=table, verb=verb))
            op.execute(_SQLITE_ONCE.format(table=table, same=" AND ".join(f"{name} = NEW.{name}" for name in key)))
        return
    op.execute(_POSTGRES_FUNCTION)
    for table in _APPEND_ONLY:
        op.execute(_POSTGRES_GUARD.format(table=table))


def _fill_settlements() -> None:
    """Each subject's latest event of a ledger that was there before this table."""
    connection = op.get_bind()
    latest = "SELECT MAX(seq) FROM settlement_events GROUP BY subject"
    found = connection.execute(sa.text(f"SELECT seq, body FROM settlement_events WHERE seq IN ({latest})"))  # noqa: S608
    for seq, body in found.all():
        data = json.loads(body)["data"]
        connection.execute(
            sa.text(
                "INSERT INTO settlement (subject, seq, slug, month, state, closes_at, finalized_at) "
                "VALUES (:subject, :seq, :slug, :month, :state, :closes_at, :finalized_at)"
            ),
            {
                "subject": data["subject"],
                "seq": seq,
                "slug": data["society"]["slug"],
                "month": data["window"]["label"][:7],
                "state": data["state"],
                "closes_at": data["dispute"]["closes"],
                "finalized_at": data["finalized_at"],
            },
        )
