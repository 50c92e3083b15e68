"""`harness serve` as an operator starts and stops it: a process of its own on loopback."""

import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.api.server import Caller
from tests.end_to_end.command import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A place with a database; nothing was ever settled in it."""
    made = Place(folder=tmp_path)
    assert made.run("tokens", "create", "--scope", "read:sla", "--name", "first").returncode == 0
    return made


@contextmanager
def served(place: Place, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The running command and the address that it prints."""
    process = place.start("serve", *words)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        match = re.fullmatch(r"settlement API at (http://\S+)\n", line)
        assert match is not None, line + process.stdout.read()
        yield process, match[1]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_it_answers_at_the_address_that_it_prints_and_ends_when_asked(place: Place) -> None:
    token = place.run("tokens", "create", "--scope", "read:sla", "--name", "x").stdout.strip()
    with served(place, "--port", "0") as (process, url):
        assert not url.endswith(":0")
        caller = Caller(url=url, token=token)  # at once: who reads the address can call it
        assert (caller.get("/v1/sla/events").status, caller.get("/v1/sla/events").json) == (200, [])
        assert Caller(url=url).get("/v1/sla/events?cht_secret").status == 401
        assert caller.get("/readyz").json == {"status": "ok"}
        revoked = place.run("tokens", "revoke", token[4:16])
        assert revoked.returncode == 0
        assert caller.get("/v1/sla/events").status == 401  # from now on, in a server that has seen it before
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=30)
        assert process.returncode == 0
        assert token not in said and "cht_secret" not in said


def test_a_connection_that_stays_open_does_not_hold_it_back(place: Place) -> None:
    with served(place, "--port", "0") as (process, url):
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=30) as idle:
            idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert idle.recv(100).startswith(b"HTTP/1.1 200")
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=30) == 0


def test_interrupted_from_the_keyboard(place: Place) -> None:
    with served(place, "--port", "0") as (process, url):
        assert Caller(url=url).get("/healthz").status == 200
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=30)
        assert process.returncode == 130
        assert "Traceback" not in said


def test_error_a_port_in_use(place: Place) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ended = place.run("serve", "--port", str(port))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        f"harness: cannot listen on 127.0.0.1:{port}: Address already in use. Name another --port\n"
    )


def test_error_a_host_that_there_is_not(place: Place) -> None:
    ended = place.run("serve", "--host", "no-such-host.invalid", "--port", "0")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("harness: cannot listen on no-such-host.invalid:0: ")


def test_error_no_database(tmp_path: Path) -> None:
    ended = Place(folder=tmp_path).run("serve", "--port", "0")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("harness: no database at reports/harness.db: ")
    assert not (tmp_path / "reports").exists()


def test_error_a_database_that_is_down(tmp_path: Path) -> None:
    place = Place(folder=tmp_path, database="postgresql+psycopg://postgres:hunter2@127.0.0.1:9/none")
    ended = place.run("serve", "--port", "0")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("harness: database postgresql+psycopg://postgres:***@127.0.0.1:9/none: ")
    assert "hunter2" not in ended.stderr and "Traceback" not in ended.stderr
