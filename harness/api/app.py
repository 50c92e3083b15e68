"""The API over a ledger, and the published site, as one ASGI application."""

from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from harness import __version__
from harness.api import problems
from harness.api.gate import Gate
from harness.api.models import EventOut, HealthOut
from harness.api.problems import ProblemBody, documented
from harness.api.routes import routes
from harness.api.site import Site
from harness.clock import Clock
from harness.store.ledger import Ledger
from harness.store.migrate import check_current

_ABOUT = (
    "Settlements of contractual floors, for billing. Percents, ratios and floors are decimal strings, counts are "
    "integers, times are UTC with Z. Every error is application/problem+json."
)


def create_app(ledger: Ledger, clock: Clock, site_root: Path) -> FastAPI:
    """The application; nothing is connected or read until it is called. `site_root` is where publish shows the site."""
    app = FastAPI(
        title="Citehouse settlement API",
        version=__version__,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        separate_input_output_schemas=False,
        generate_unique_id_function=lambda route: route.name,
    )
    problems.install(app)
    app.include_router(routes(ledger, clock))

    @app.get("/healthz", summary="Whether the process answers", tags=["health"])
    def healthz() -> HealthOut:
        return HealthOut(status="ok")

    @app.get(
        "/readyz",
        summary="Whether the ledger can be served: database reachable, schema current, not behind its journal",
        tags=["health"],
        responses=documented(503),
    )
    def readyz() -> HealthOut:
        check_current(ledger.engine)
        ledger.journalled()
        return HealthOut(status="ok")

    # The site is what no call answers, and so no part of the document.
    app.router.default = Site(site_root, otherwise=app.router.not_found)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    app.add_middleware(Gate, engine=ledger.engine, clock=clock)
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    """The document, with the models that only its hand-written parts name, and our own form of a validation error."""
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        schemas = document["components"]["schemas"]
        for model in (ProblemBody, EventOut):
            found = model.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas.update(found.pop("$defs", {}))
            schemas[model.__name__] = found
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        app.openapi_schema = document
    return app.openapi_schema
