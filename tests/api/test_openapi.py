"""The OpenAPI document says what the code does: a tester that knows nothing else finds no difference."""

import subprocess
import sys
from pathlib import Path

from tests.api.conftest import Served
from tests.api.server import Caller

CONFIG = """
[checks]
# A cursor that the ledger does not have is answered with 410, as sla.md says; the tester would want it accepted.
positive_data_acceptance.expected-statuses = ["2xx", 401, 403, 404, 410, 429]

[[operations]]
include-name = "POST /v1/sla/settlements/{subject}/acknowledgements"
# Made-up revisions do not exist, and made-up keys come twice.
checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 401, 403, 404, 422, 429]
"""


def test_a_tester_finds_nothing(served: Served, tmp_path: Path) -> None:
    config = tmp_path / "schemathesis.toml"
    config.write_text(CONFIG, encoding="utf-8")
    command = [str(Path(sys.executable).parent / "schemathesis"), "--config-file", str(config), "run"]
    options = ["--checks", "all", "--max-examples", "12", "--generation-deterministic", "--no-color", "--workers", "2"]
    header = ["-H", f"Authorization: Bearer {served.caller.token}"]
    ended = subprocess.run(
        [*command, f"{served.url}/openapi.json", *header, *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-8000:]
    assert "Operations:       8 selected / 8 total" in ended.stdout
    assert str(served.caller.token) not in ended.stdout


def test_every_address_of_the_ledger_wants_a_token(served: Served) -> None:
    document = served.caller.get("/openapi.json").json
    stranger = Caller(url=served.url)
    operations = [(path, method) for path, methods in document["paths"].items() for method in methods]
    protected = [(path, method) for path, method in operations if path.startswith("/v1/")]
    assert len(protected) == 6
    for path, method in protected:
        where = path.replace("{subject}", "slf_asme_citation_correctness_2026-11-29").replace("{month}", "2026-11")
        reply = stranger.call(method.upper(), where, b"{" if method == "post" else None)
        assert (reply.status, reply.kind) == (401, "no-token"), path
        assert reply.headers["www-authenticate"].startswith("Bearer")
        assert document["paths"][path][method]["security"] == [{"HTTPBearer": []}]
    assert stranger.get("/v1/anything").status == 401
    assert [stranger.get(path).status for path in ("/healthz", "/readyz", "/openapi.json")] == [200] * 3


def test_the_document_names_every_status_as_a_problem(served: Served) -> None:
    document = served.caller.get("/openapi.json").json
    for path, methods in document["paths"].items():
        for operation in methods.values():
            for status, answer in operation["responses"].items():
                if not status.startswith("2"):
                    assert list(answer["content"]) == ["application/problem+json"], (path, status)
