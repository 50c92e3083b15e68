"""The quarter, lived through once for all tests that ask what it came to."""

from collections.abc import Iterator

import pytest

from tests.end_to_end.deployment import Deployment
from tests.end_to_end.quarter import run_quarter


@pytest.fixture(scope="session")
def quarter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Tests that use it are of the xdist group `quarter`, so that one process does."""
    deployment = run_quarter(tmp_path_factory.mktemp("quarter"))
    yield deployment
    deployment.close()
