"""The published site over HTTP: the tree that visitors see, read only (publishing.md, Tree and Headers)."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Final

import mimeparse  # type: ignore[import-untyped]
import structlog
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.api.gate import PROTECTED
from harness.api.problems import RETRY_AFTER, Problem

HOME: Final = "/standards/"
POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
LATEST: Final = "public, max-age=300"
FOR_EVER: Final = "public, max-age=31536000, immutable"
TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".csv": "text/csv; charset=utf-8",
    ".atom": "application/atom+xml; charset=utf-8",
    ".svg": "image/svg+xml",
    ".css": "text/css; charset=utf-8",
}
"""What is served, and as what; the machine's own table of types is not asked. Any other file is no address."""

_OPEN_TO_ALL: Final = frozenset({".json", ".csv"})
"""What pages of other hosts may read (CORS)."""

_TWINS: Final = ("eval.json", "index.json")
"""The JSON twin of a folder's page is the first of these that is there: of a society's folder, of any other."""

_NAME: Final = r"[A-Za-z0-9_-][A-Za-z0-9._-]*"
_ADDRESS: Final = re.compile(rf"/(?:standards|static)(?:/{_NAME})*/?")
"""No published name starts with a dot or needs an escape: what does not match is looked for nowhere."""

_IMMUTABLE: Final = re.compile(r"/static/.+|/standards/[^/]+/eval/[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?/r[0-9]+/.*")
_LONGEST: Final = 1000
"""Characters of an address, and of an Accept header, that are looked at."""

_RANGE: Final = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")
_BAD: Final = {"Cache-Control": "no-store", "Content-Security-Policy": POLICY}
_READING: Final = ("GET", "HEAD")

_log = structlog.get_logger()


class Site:
    """What no call of the API answers, as an ASGI application. Raises Problem.

    `root` is the link that `publish` replaces; it is followed once for a request, so that an answer is of one build.
    `otherwise` answers what is no address of the site.
    """

    def __init__(self, root: Path, otherwise: ASGIApp) -> None:
        self._root = root
        self._otherwise = otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(PROTECTED):
            await self._otherwise(scope, receive, send)
            return
        try:
            answer = await run_in_threadpool(self._answer, scope)
            if isinstance(answer, FileResponse):
                await _send_file(answer, scope, receive, send)
                return
        except OSError as error:
            raise _unavailable(error) from None
        await (answer or self._otherwise)(scope, receive, send)

    def _answer(self, scope: Scope) -> Response | None:
        """The answer; None where the address is not the site's."""
        path, reading = scope["path"], scope["method"] in _READING
        if path == "/" or _is_inside(path):
            if not reading:
                said = "The site is for reading: GET and HEAD only."
                raise Problem(405, "method-not-allowed", said, {"Allow": ", ".join(_READING), **_BAD})
            if path == "/":
                return _redirect(HOME, scope)
        elif not reading:
            return None
        try:
            build = self._root.resolve(strict=True)
        except FileNotFoundError:
            if _is_inside(path):
                said = "Nothing is published yet: `harness nightly` or `harness demo` publishes a night."
                raise Problem(404, "nothing-published", said, _BAD) from None
            return None
        return _found(build, scope) or _missing(build, path)


def _is_inside(path: str) -> bool:
    return f"{path}/".startswith((HOME, "/static/"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """A file of a build: `name` is its place in it, `path` its place on disk."""

    name: str
    path: str
    info: os.stat_result

    @property
    def ending(self) -> str:
        return Path(self.name).suffix


def _file(build: Path, name: str) -> _File | None:
    """The regular file of that name and of a type that is served. A file behind a link is none, wherever it leads."""
    path, info = StaticFiles(directory=build, check_dir=False).lookup_path(name)
    if info is None or not S_ISREG(info.st_mode) or path != str(build / name) or Path(name).suffix not in TYPES:
        return None
    return _File(name=name, path=path, info=info)


def _found(build: Path, scope: Scope) -> Response | None:
    """The answer from what lies at the address, a file or a folder; None where nothing does."""
    path = scope["path"]
    if len(path) > _LONGEST or _ADDRESS.fullmatch(path) is None:
        return None
    name = path.strip("/")
    if not path.endswith("/") and (file := _file(build, name)) is not None:
        return _file_answer(file, scope, {})
    vary = {"Vary": "Accept"}
    twin = next(filter(None, (_file(build, f"{name}/{twin}") for twin in _TWINS)), None)
    if twin is not None and _prefers_json(Headers(scope=scope).getlist("accept")):
        return _file_answer(twin, scope, {**vary, "Content-Location": f"/{twin.name}"})
    page = _file(build, f"{name}/index.html")
    if page is None:
        return None
    return _file_answer(page, scope, vary) if path.endswith("/") else _redirect(f"{path}/", scope, vary)


def _file_answer(file: _File, scope: Scope, more: dict[str, str]) -> Response:
    """A file in whole or in part, or the word that the caller has it already."""
    always = {"Content-Security-Policy": POLICY}
    if file.ending in _OPEN_TO_ALL:
        always["Access-Control-Allow-Origin"] = "*"
    headers = {
        "Cache-Control": FOR_EVER if _IMMUTABLE.fullmatch(scope["path"]) else LATEST,
        # The ending is part of it: two variants of a folder written at one time and of one size are not the same.
        "ETag": f'"{file.info.st_mtime_ns:x}-{file.info.st_size:x}{file.ending}"',
    }
    answer = FileResponse(
        file.path,
        headers={**always, **headers, **more},
        media_type=TYPES[file.ending],
        stat_result=file.info,
    )
    if StaticFiles().is_not_modified(answer.headers, Headers(scope=scope)):
        unchanged = NotModifiedResponse(answer.headers)
        unchanged.headers.update(always)
        return unchanged
    return answer


def _redirect(path: str, scope: Scope, more: dict[str, str] | None = None) -> Response:
    """Lead on to another path of this host, whatever it calls itself, with the same query."""
    query = scope["query_string"].decode("latin-1")
    headers = {"Cache-Control": LATEST, "Content-Security-Policy": POLICY, **(more or {})}
    return RedirectResponse(f"{path}?{query}" if query else path, status_code=308, headers=headers)


def _missing(build: Path, path: str) -> Response | None:
    """The site's own page for what there is not; without one a Problem, or None outside of what is published."""
    if not build.is_dir():
        raise _replaced()
    page = _file(build, "404.html")
    if page is not None:
        return Response(Path(page.path).read_bytes(), 404, _BAD, media_type=TYPES[page.ending])
    if _is_inside(path):
        raise Problem(404, "not-found", f"There is no such page; {HOME} leads to all that are.", _BAD)
    return None


def _prefers_json(accept: list[str]) -> bool:
    """Whether JSON is accepted more than HTML (RFC 9110, 12.5.1). A header that cannot be read accepts anything."""
    ranges = ", ".join(accept).lower()
    if not ranges or len(ranges) > _LONGEST:
        return False
    try:
        return bool(mimeparse.quality("application/json", ranges) > mimeparse.quality("text/html", ranges))
    except mimeparse.MimeTypeParseException:
        return False


async def _send_file(answer: FileResponse, scope: Scope, receive: Receive, send: Send) -> None:
    """Send a file. Nothing is sent before its first bytes are read: it may be gone by now, two publishes later.

    Raises Problem then, and OSError where it cannot be read."""
    held: Message | None = None

    async def send_when_read(message: Message) -> None:
        nonlocal held
        if message["type"] == "http.response.start":
            if message["status"] >= 400:  # a range that there is not
                MutableHeaders(scope=message).update(_BAD)
            held = message
            return
        if held is not None:
            first, held = held, None
            await send(first)
        await send(message)

    try:
        await answer(_with_plain_range(scope), receive, send_when_read)
    except FileNotFoundError:
        raise _replaced() from None


def _with_plain_range(scope: Scope) -> Scope:
    """The request without its Range header where that is not one range of bytes to GET: it may be ignored, and must be
    where its unit is unknown (RFC 9110, 14.2)."""
    match = _RANGE.fullmatch(Headers(scope=scope).get("range", ""))
    if scope["method"] == "GET" and match is not None:
        first, last = match.groups()
        if (first or last) and not (first and last and int(first) > int(last)):
            return scope
    return {**scope, "headers": [(name, value) for name, value in scope["headers"] if name != b"range"]}


def _replaced() -> Problem:
    said = "A new build took the place of this one; ask again."
    return Problem(503, "site-replaced", said, {"Retry-After": "1", **_BAD})


def _unavailable(error: OSError) -> Problem:
    """The tree cannot be read: its own words are for the log, since they name places of ours."""
    _log.error("site_unavailable", error=str(error), kind=type(error).__name__)
    said = "The site cannot be read now; try again later."
    return Problem(503, "site-unavailable", said, {"Retry-After": RETRY_AFTER, **_BAD})
