"""Alembic, wired to this package's own migrations: `upgrade` and `current`."""

from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, inspect

from harness.errors import StoreError
from harness.store.engine import reading, shown, writing

SCRIPTS: Final = Path(__file__).parent / "migrations"


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    return config


def head() -> str:
    """The schema version that this release reads and writes."""
    revision = ScriptDirectory.from_config(_config()).get_current_head()
    assert revision is not None  # noqa: S101 - the package ships at least one migration
    return revision


def current(engine: Engine) -> str | None:
    """The database's schema version, None for an empty database."""
    with reading(engine) as connection:
        return MigrationContext.configure(connection).get_current_revision()


def upgrade(engine: Engine) -> str:
    """Bring the schema to `head`, creating it in an empty database; the version it then has.

    Raises StoreError for tables of something else and for a version that this release does not know.
    """
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    config = _config()
    with writing(engine, exclusive=True) as connection:
        # Looked at under the lock: another process may be making the schema at this moment.
        found = MigrationContext.configure(connection).get_current_revision()
        if found is None and inspect(connection).get_table_names():
            raise StoreError(
                f"database {shown(engine.url)}: found tables of something else; "
                "expected an empty database or one of ours"
            )
        if found is not None and found not in known:
            raise _foreign(engine, found)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    return head()


def check_current(engine: Engine) -> None:
    """Raise StoreError where the database cannot be reached or its schema is not this release's; change nothing."""
    found = current(engine)
    if found != head():
        raise _foreign(engine, found or "none")


def require_current(engine: Engine) -> None:
    """Create the schema in an empty database; raise StoreError where it is of another version."""
    found = current(engine)
    if found == head():
        return
    if found is None:
        upgrade(engine)
        return
    raise _foreign(engine, found)


def _foreign(engine: Engine, found: str) -> StoreError:
    return StoreError(
        f"database {shown(engine.url)}: found schema version {found}; expected {head()}. "
        "Run `harness db upgrade` with a release that knows both, or restore a backup."
    )
