"""Settings for every test, and the databases that the tests of several rooms run on."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from sqlalchemy import Engine

from harness.store.engine import open_engine
from harness.store.migrate import upgrade
from tests.databases import empty_database

settings.register_profile("harness", deadline=None, max_examples=100, derandomize=True)
settings.load_profile("harness")


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database, once of each kind."""
    with empty_database(request.param, tmp_path) as url:
        yield url


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """An engine on a database with the current schema."""
    engine = open_engine(database_url)
    upgrade(engine)
    yield engine
    engine.dispose()
