"""Every error as `application/problem+json` (RFC 9457), with a sentence for a person and nothing of our insides."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

import msgspec
import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from starlette.exceptions import HTTPException

from harness.errors import StoreError

MEDIA_TYPE: Final = "application/problem+json"
RETRY_AFTER: Final = "30"
"""Seconds after which a database that is down is worth another try."""

UNAVAILABLE: Final = (StoreError, NoConnectionFree, OSError)
"""What is raised where the ledger's database or journal does not work, or is not whole."""

_HEADERS: Final = {
    401: {"WWW-Authenticate": {"schema": {"type": "string"}}},
    429: {"Retry-After": {"description": "Seconds.", "schema": {"type": "string", "pattern": "^[0-9]+$"}}},
    503: {"Retry-After": {"description": "Seconds.", "schema": {"type": "string", "pattern": "^[0-9]+$"}}},
}
_SAID: Final = {
    400: ("bad-request", "The body cannot be read as JSON."),
    404: ("not-found", "There is no such address."),
    405: ("method-not-allowed", "The address does not take this method."),
    413: ("too-large", "The body is larger than any that this API takes."),
}
"""Kind and detail of the errors that the framework raises."""

_ERRORS_SAID: Final = 5

_log = structlog.get_logger()


class ProblemBody(BaseModel):
    """An error, as RFC 9457 has it."""

    type: str
    title: str
    status: int
    detail: str


@dataclass(slots=True, eq=False)
class Problem(Exception):
    """An error with its status, a slug that names its kind, and a sentence that says what to do."""

    status: int
    kind: str
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self) -> Response:
        """The answer that says so."""
        body = ProblemBody(
            type=f"urn:citehouse:problem:{self.kind}",
            title=HTTPStatus(self.status).phrase,
            status=self.status,
            detail=self.detail,
        )
        content = msgspec.json.encode(body.model_dump())
        return Response(content, self.status, {**self.headers, "Cache-Control": "no-store"}, media_type=MEDIA_TYPE)


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI description of these errors."""
    schema = {"$ref": f"#/components/schemas/{ProblemBody.__name__}"}
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": schema}},
            "headers": _HEADERS.get(status, {}),
        }
        for status in statuses
    }


def unavailable(error: Exception) -> Problem:
    """The ledger cannot be served now: its own words are for the log, since they name places of ours."""
    _log.error("ledger_unavailable", error=str(error), kind=type(error).__name__)
    return Problem(
        status=503,
        kind="ledger-unavailable",
        detail="The ledger is not served now. Nothing is lost and a cursor stays good: try again later.",
        headers={"Retry-After": RETRY_AFTER},
    )


def install(app: FastAPI) -> None:
    """Let the app answer every error so."""

    @app.exception_handler(Problem)
    async def _problem(_request: Request, error: Problem) -> Response:
        return error.response()

    async def _unavailable(_request: Request, error: Exception) -> Response:
        return unavailable(error).response()

    for kind in UNAVAILABLE:
        app.add_exception_handler(kind, _unavailable)

    @app.exception_handler(HTTPException)
    async def _http(_request: Request, error: HTTPException) -> Response:
        status = error.status_code
        kind, words = _SAID.get(status, ("http-error", HTTPStatus(status).phrase))
        return Problem(status, kind, words, dict(error.headers or {})).response()

    @app.exception_handler(RequestValidationError)
    async def _invalid(_request: Request, error: RequestValidationError) -> Response:
        return _invalid_problem(error).response()


def _invalid_problem(error: RequestValidationError) -> Problem:
    """Field by field what was expected; what was sent is not repeated."""
    found = error.errors()
    if any(each["loc"] == ("header", "idempotency-key") and each["type"] == "missing" for each in found):
        detail = "The header Idempotency-Key is required: a key of yours that makes repeating this call harmless."
        return Problem(400, "idempotency-key-missing", detail)
    said = [f"{' '.join(_shown(part) for part in each['loc'])}: {each['msg'][:200]}" for each in found[:_ERRORS_SAID]]
    if len(found) > len(said):
        said.append(f"and {len(found) - len(said)} more")
    return Problem(422, "invalid-request", "; ".join(said).encode("ascii", "backslashreplace").decode())


def _shown(part: str | int) -> str:
    """A part of a place, which may be a name that the caller made up: what does not print is escaped."""
    return str(part)[:40].encode("unicode_escape").decode()[:80]
