"""Alembic, wired to this package's own migrations: `upgrade` and `current`."""

from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, inspect

from harness.errors import StoreError
from harness.store.engine import reading, writing

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
    """Bring the schema to `head`, creating it in an empty database; the version it then has."""
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    found = current(engine)
    if found is not None and found not in known:
        raise _foreign(engine, found)
    config = _config()
    with writing(engine, exclusive=True) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    return head()


def require_current(engine: Engine) -> None:
    """Create the schema in an empty database; raise StoreError where it is of another version."""
    found = current(engine)
    if found == head():
        return
    if found is None:
        with reading(engine) as connection:
            tables = inspect(connection).get_table_names()
        if not tables:
            upgrade(engine)
            return
        shown = engine.url.render_as_string(hide_password=True)
        raise StoreError(f"database {shown}: found tables of something else; expected an empty database or one of ours")
    raise _foreign(engine, found)


def _foreign(engine: Engine, found: str) -> StoreError:
    shown = engine.url.render_as_string(hide_password=True)
    return StoreError(
        f"database {shown}: found schema version {found}; expected {head()}. "
        "Run `harness db upgrade` with a release that knows both, or restore a backup."
    )
