"""First schema: runs, answers, verdicts, assessments and the append-only ledger with its guards."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

_SQLITE_GUARD = """
CREATE TRIGGER settlement_events_no_{verb} BEFORE {verb} ON settlement_events
BEGIN SELECT RAISE(ABORT, 'settlement_events is append-only'); END
"""

# INSERT OR REPLACE would remove a row without asking the DELETE trigger.
_SQLITE_NEXT_ONLY = """
CREATE TRIGGER settlement_events_next_only BEFORE INSERT ON settlement_events
WHEN NEW.seq <> (SELECT COALESCE(MAX(seq), 0) + 1 FROM settlement_events)
  OR EXISTS (SELECT 1 FROM settlement_events
             WHERE event_id = NEW.event_id OR (subject = NEW.subject AND revision = NEW.revision))
BEGIN SELECT RAISE(ABORT, 'settlement_events is append-only'); END
"""

_POSTGRES_GUARD = """
CREATE FUNCTION settlement_events_append_only() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'settlement_events is append-only'; END $$;
CREATE TRIGGER settlement_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON settlement_events
FOR EACH STATEMENT EXECUTE FUNCTION settlement_events_append_only();
"""


def upgrade() -> None:
    _create_tables()
    if op.get_bind().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(_SQLITE_GUARD.format(verb=verb))
        op.execute(_SQLITE_NEXT_ONLY)
    else:
        op.execute(_POSTGRES_GUARD)


def _create_tables() -> None:
    op.create_table(
        "deployment",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("value", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_deployment")),
        comment="Facts of this deployment: its name and the key that item ids are hashed with.",
    )
    op.create_table(
        "lease",
        sa.Column("night", TEXT, nullable=False),
        sa.Column("token", TEXT, nullable=False),
        sa.Column("host", TEXT, nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("expires_at", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("night", name=op.f("pk_lease")),
    )
    op.create_table(
        "run",
        sa.Column("run_id", TEXT, nullable=False),
        sa.Column("night", TEXT, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("seed", TEXT, nullable=False),
        sa.Column("transport", TEXT, nullable=False),
        sa.Column("gateway", TEXT, nullable=False),
        sa.Column("harness_version", TEXT, nullable=False),
        sa.Column("started_at", TEXT, nullable=False),
        sa.Column("finished_at", TEXT, nullable=True),
        sa.Column("stopped", TEXT, nullable=True),
        sa.Column("calls_sent", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("asked_again", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("sittings", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_run")),
        sa.UniqueConstraint("night", "attempt", name=op.f("uq_run_night")),
    )
    op.create_index(op.f("ix_run_night"), "run", ["night"], unique=False)
    op.create_table(
        "settlement_events",
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("event_id", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("type", TEXT, nullable=False),
        sa.Column("body", TEXT, nullable=False),
        sa.Column("data_sha256", TEXT, nullable=False),
        sa.Column("prev_sha256", TEXT, nullable=False),
        sa.Column("recorded_at", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_settlement_events")),
        sa.UniqueConstraint("event_id", name=op.f("uq_settlement_events_event_id")),
        sa.UniqueConstraint("subject", "revision", name=op.f("uq_settlement_events_subject")),
    )
    op.create_table(
        "terms_use",
        sa.Column("slug", TEXT, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("sha256", TEXT, nullable=False),
        sa.Column("first_night", TEXT, nullable=False),
        sa.Column("last_night", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("slug", "version", name=op.f("pk_terms_use")),
        comment="Terms are frozen by their first use (sla.md).",
    )
    op.create_table(
        "run_society",
        sa.Column("run_id", TEXT, nullable=False),
        sa.Column("slug", TEXT, nullable=False),
        sa.Column("snapshot_sha256", TEXT, nullable=False),
        sa.Column("testset_version", TEXT, nullable=False),
        sa.Column("testset_sha256", TEXT, nullable=False),
        sa.Column("terms_version", sa.Integer(), nullable=True),
        sa.Column("terms_sha256", TEXT, nullable=True),
        sa.Column("window", TEXT, nullable=True),
        sa.Column("items", sa.BigInteger(), nullable=False),
        sa.Column("expectations", sa.BigInteger(), nullable=False),
        sa.Column("refused", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name=op.f("fk_run_society_run_id_run")),
        sa.PrimaryKeyConstraint("run_id", "slug", name=op.f("pk_run_society")),
    )
    op.create_table(
        "answer",
        sa.Column("run_id", TEXT, nullable=False),
        sa.Column("slug", TEXT, nullable=False),
        sa.Column("item_id", TEXT, nullable=False),
        sa.Column("sitting", sa.Integer(), nullable=False),
        sa.Column("reason", TEXT, nullable=True),
        sa.Column("http_status", sa.Integer(), nullable=True),
        sa.Column("ledger_entry_id", TEXT, nullable=True),
        sa.Column("tokens_returned", sa.BigInteger(), nullable=True),
        sa.Column("latency_ms", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("billed", sa.Integer(), nullable=False),
        sa.Column("asked_at", TEXT, nullable=False),
        sa.Column("answered_at", TEXT, nullable=False),
        sa.Column("segment", TEXT, nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "slug"], ["run_society.run_id", "run_society.slug"], name=op.f("fk_answer_run_id_run_society")
        ),
        sa.PrimaryKeyConstraint("run_id", "slug", "item_id", "sitting", name=op.f("pk_answer")),
    )
    op.create_table(
        "revision",
        sa.Column("run_id", TEXT, nullable=False),
        sa.Column("slug", TEXT, nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("scorer_version", sa.Integer(), nullable=False),
        sa.Column("scored_at", TEXT, nullable=False),
        sa.Column("scores_sha256", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "slug"], ["run_society.run_id", "run_society.slug"], name=op.f("fk_revision_run_id_run_society")
        ),
        sa.PrimaryKeyConstraint("run_id", "slug", "revision", name=op.f("pk_revision")),
    )
    op.create_table(
        "assessment",
        sa.Column("run_id", TEXT, nullable=False),
        sa.Column("slug", TEXT, nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("measure", TEXT, nullable=False),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("assessed_at", TEXT, nullable=False),
        sa.Column("assessment", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "slug", "revision"],
            ["revision.run_id", "revision.slug", "revision.revision"],
            name=op.f("fk_assessment_run_id_revision"),
        ),
        sa.PrimaryKeyConstraint("run_id", "slug", "revision", "measure", name=op.f("pk_assessment")),
    )
    op.create_table(
        "fault",
        sa.Column("run_id", TEXT, nullable=False),
        sa.Column("slug", TEXT, nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("item_id", TEXT, nullable=False),
        sa.Column("expectation", sa.Integer(), nullable=False),
        sa.Column("diagnosis", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "slug", "revision"],
            ["revision.run_id", "revision.slug", "revision.revision"],
            name=op.f("fk_fault_run_id_revision"),
        ),
        sa.PrimaryKeyConstraint("run_id", "slug", "revision", "item_id", "expectation", name=op.f("pk_fault")),
    )
    op.create_table(
        "measure",
        sa.Column("run_id", TEXT, nullable=False),
        sa.Column("slug", TEXT, nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("stratum", TEXT, nullable=False),
        sa.Column("good", TEXT, nullable=False),
        sa.Column("valid", sa.BigInteger(), nullable=False),
        sa.Column("number", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "slug", "revision"],
            ["revision.run_id", "revision.slug", "revision.revision"],
            name=op.f("fk_measure_run_id_revision"),
        ),
        sa.PrimaryKeyConstraint("run_id", "slug", "revision", "name", "stratum", name=op.f("pk_measure")),
    )
    op.create_table(
        "score",
        sa.Column("run_id", TEXT, nullable=False),
        sa.Column("slug", TEXT, nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("item_id", TEXT, nullable=False),
        sa.Column("item_hash", TEXT, nullable=False),
        sa.Column("verdict", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "slug", "revision"],
            ["revision.run_id", "revision.slug", "revision.revision"],
            name=op.f("fk_score_run_id_revision"),
        ),
        sa.PrimaryKeyConstraint("run_id", "slug", "revision", "item_id", name=op.f("pk_score")),
    )
    op.create_index(op.f("ix_score_run_id"), "score", ["run_id", "slug", "revision", "item_hash"], unique=True)
