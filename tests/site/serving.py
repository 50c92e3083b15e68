"""What every server of the site answers: `harness serve`, and nginx and Caddy by the example configurations."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Final
from urllib.parse import urlsplit

POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
LATEST: Final = "public, max-age=300"
FOR_EVER: Final = "public, max-age=31536000, immutable"
EVAL: Final = "/standards/asme/eval"
REVISION: Final = f"{EVAL}/2026-11-29/r1"
HTML: Final = "text/html; charset=utf-8"
BROWSER: Final = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request and what is promised of its answer: status and headers, None for one that must be absent.

    `or_status` is as good: nginx itself refuses an address that climbs or has a NUL before any of its rules.
    """

    path: str
    status: int
    method: str = "GET"
    accept: str | None = None
    headers: Mapping[str, str | None] = field(default_factory=dict)
    or_status: int | None = None

    def __str__(self) -> str:
        return " ".join(filter(None, (self.method, self.path, self.accept)))


def _page(path: str, cache: str, accept: str | None = BROWSER, vary: str | None = "Accept") -> Request:
    found = {"content-type": HTML, "cache-control": cache, "vary": vary, "access-control-allow-origin": None}
    return Request(path=path, status=200, accept=accept, headers=found)


def _data(path: str, cache: str, kind: str, open_to_all: str | None = "*") -> Request:
    found = {"content-type": kind, "cache-control": cache, "access-control-allow-origin": open_to_all}
    return Request(path=path, status=200, headers=found)


def _negotiated(path: str, twin: str, accept: str, cache: str = LATEST) -> Request:
    found = {
        "content-type": "application/json",
        "content-location": twin,
        "vary": "Accept",
        "cache-control": cache,
        "access-control-allow-origin": "*",
    }
    return Request(path=path, status=200, accept=accept, headers=found)


def _none(path: str, or_status: int | None = None) -> Request:
    headers = {"cache-control": "no-store", "access-control-allow-origin": None}
    return Request(path=path, status=404, headers=headers, or_status=or_status)


REQUESTS: Final = (
    _page("/standards/", LATEST),
    _page(f"{EVAL}/", LATEST),
    _page(f"{EVAL}/", LATEST, accept="*/*"),
    _page(f"{EVAL}/", LATEST, accept="application/json;q=0.2, text/html"),
    _page(f"{REVISION}/", FOR_EVER),
    _page(f"{REVISION}/index.html", FOR_EVER, vary=None),
    _page("/standards/eval/method/", LATEST),
    _negotiated(f"{EVAL}/", f"{EVAL}/eval.json", "application/json"),
    _negotiated(EVAL, f"{EVAL}/eval.json", "application/json"),
    _negotiated(f"{EVAL}/", f"{EVAL}/eval.json", "text/html;q=0.5, application/json"),
    _negotiated("/standards/", "/standards/index.json", "application/json"),
    _negotiated(f"{REVISION}/", f"{REVISION}/eval.json", "application/json", FOR_EVER),
    _data(f"{EVAL}/eval.json", LATEST, "application/json"),
    _data(f"{EVAL}/history.csv", LATEST, "text/csv; charset=utf-8"),
    _data(f"{REVISION}/scores.csv", FOR_EVER, "text/csv; charset=utf-8"),
    _data(f"{EVAL}/feed.atom", LATEST, "application/atom+xml; charset=utf-8", None),
    _data(f"{EVAL}/badge.svg", LATEST, "image/svg+xml", None),
    _data(f"{EVAL}/history.jsonl", LATEST, "application/jsonl", None),
    Request(path="/", status=308, headers={"location": "/standards/"}),
    Request(path=EVAL, status=308, accept=BROWSER, headers={"location": f"{EVAL}/", "vary": "Accept"}),
    Request(path=f"{EVAL}?night=1", status=308, accept=BROWSER, headers={"location": f"{EVAL}/?night=1"}),
    Request(path=f"{EVAL}/", status=200, method="HEAD", accept=BROWSER, headers={"content-type": HTML}),
    Request(path=f"{EVAL}/", status=405, method="POST", headers={"allow": "GET, HEAD", "cache-control": "no-store"}),
    Request(path=f"{EVAL}/eval.json", status=405, method="DELETE", headers={"allow": "GET, HEAD"}),
    _none("/standards/asme/eval/2026-11-28/"),
    _none("/standards/nobody/eval"),
    _none("/.deployment"),
    _none("/standards/.deployment"),
    _none("/standards/../.deployment"),
    _none("/standards/%2e%2e/.deployment"),
    _none("/standards/..%2f..%2finternal/2026-11-29/asme.html", or_status=400),
    _none("/internal/2026-11-29/asme.html"),
    _none("/standards/asme/eval/eval.json%00.html", or_status=400),
    _none("/standards/asme/eval/eval.txt"),
    _none("/harness.db"),
)


def ask(url: str, path: str, method: str = "GET", headers: Mapping[str, str] | None = None) -> Answer:
    """Ask with the path as it is written."""
    parts = urlsplit(url)
    connection = HTTPConnection(str(parts.hostname), parts.port, timeout=30)
    try:
        connection.request(method, path, headers=dict(headers or {}))
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(status=answer.status, headers=found, body=answer.read())
    finally:
        connection.close()


def differences(url: str, request: Request) -> list[str]:
    """What of the answer is not as promised."""
    headers = {} if request.accept is None else {"Accept": request.accept}
    answer = ask(url, request.path, request.method, headers)
    always = {
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "content-security-policy": POLICY,
    }
    if request.status >= 400 and answer.headers.get("content-type") == "application/problem+json":
        del always["content-security-policy"]  # the API's own, which is stricter
    found = (
        []
        if answer.status in (request.status, request.or_status)
        else [f"status {answer.status}, not {request.status}"]
    )
    for name, expected in (always | dict(request.headers)).items():
        told = answer.headers.get(name)
        if (told or "").replace(url, "") != (expected or ""):
            found.append(f"{name}: {told!r}, not {expected!r}")
    if request.status == 200:
        if not _is_strong(answer.headers.get("etag", "")):
            found.append(f"etag: {answer.headers.get('etag')!r} is not strong")
        found += _conditional(url, request, headers, answer)
    if request.method == "HEAD" and answer.body:
        found.append("a body to HEAD")
    return found


def _is_strong(etag: str) -> bool:
    return len(etag) > 2 and etag[0] == etag[-1] == '"'


def _conditional(url: str, request: Request, headers: Mapping[str, str], first: Answer) -> list[str]:
    """The same request again by somebody who has the answer already."""
    again = ask(url, request.path, request.method, {**headers, "If-None-Match": first.headers.get("etag", "")})
    found = [] if (again.status, again.body) == (304, b"") else [f"unchanged: {again.status}"]
    for name in ("etag", "cache-control", "vary"):
        if again.headers.get(name) != first.headers.get(name):
            found.append(f"unchanged: {name} {again.headers.get(name)!r}, not {first.headers.get(name)!r}")
    return found
