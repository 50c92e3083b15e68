"""The example configurations of cron/, run by the real nginx and the real Caddy over a published site."""

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.site.publish import publish
from tests.site.results import Night, result
from tests.site.serving import REQUESTS, ask, differences
from tests.tools import require_tool

CRON = Path(__file__).parents[2] / "cron"

INSTALLED = "/opt/citehouse/harness/reports/site"


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def put(text: str, *pairs: tuple[str, str]) -> str:
    """The configuration with what a reader is told to set; each must be there once."""
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


@contextmanager
def running(command: list[str], url: str, folder: Path) -> Iterator[str]:
    """The server's address, once it answers."""
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        try:
            for _ in range(300):
                assert process.poll() is None, (folder / "server.log").read_text()
                try:
                    ask(url, "/")
                    break
                except OSError:
                    time.sleep(0.05)
            yield url
        finally:
            process.terminate()
            process.wait(timeout=30)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site where another account may read it, as a server's does."""
    root = tmp_path / "reports" / "site"
    publish(root, [result(Night()), result(Night(slug="sae"))], "urn:citehouse:test", base_url="https://a.example")
    return root


def test_nginx(site: Path, tmp_path: Path) -> None:
    nginx, port = require_tool("nginx"), free_port()
    told = put(
        (CRON / "nginx.conf").read_text(encoding="utf-8"),
        ("user www-data;", "user root;"),
        ("pid /run/nginx.pid;", f"pid {tmp_path}/nginx.pid;\ndaemon off;"),
        ("error_log /var/log/nginx/error.log warn;", f"error_log {tmp_path}/error.log warn;"),
        ("listen 80;", f"listen 127.0.0.1:{port};"),
        (INSTALLED, str(site)),
        ("server 127.0.0.1:8400;", f"server 127.0.0.1:{free_port()};"),
    )
    (tmp_path / "nginx.conf").write_text(told, encoding="utf-8")
    command = [nginx, "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf"), "-e", str(tmp_path / "error.log")]
    with running(command, f"http://127.0.0.1:{port}", tmp_path) as url:
        assert_like_every_server(url)


def test_caddy(site: Path, tmp_path: Path) -> None:
    caddy, port = require_tool("caddy"), free_port()
    told = put(
        (CRON / "Caddyfile").read_text(encoding="utf-8"),
        ("admin localhost:2019", "admin off"),
        (":80 {", f"http://127.0.0.1:{port} {{"),
        (INSTALLED, str(site)),
        ("reverse_proxy 127.0.0.1:8400", f"reverse_proxy 127.0.0.1:{free_port()}"),
    )
    (tmp_path / "Caddyfile").write_text(told, encoding="utf-8")
    command = [caddy, "run", "--adapter", "caddyfile", "--config", str(tmp_path / "Caddyfile")]
    with running(command, f"http://127.0.0.1:{port}", tmp_path) as url:
        assert_like_every_server(url)


def assert_like_every_server(url: str) -> None:
    found = {str(request): differences(url, request) for request in REQUESTS}
    assert {request: lines for request, lines in found.items() if lines} == {}
    assert ask(url, "/healthz").status in (502, 503)  # the API's part is handed on, and nobody is there
