"""The site of sixty nights, published once by each worker that needs it."""

from pathlib import Path

import pytest

from tests.site.sixty import publish_sixty


@pytest.fixture(scope="session")
def sixty_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a site with sixty nights of seven societies; to be read only."""
    site = tmp_path_factory.mktemp("sixty") / "site"
    publish_sixty(site)
    return site
