"""The server's life: ready when it says so, stopped by a signal, quiet, and quick with a large corpus."""

import http.client
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.reference.server import ReferenceSettings, running_gateway
from tests.reference.library import ACME, KEY, P100, TERMS, Caller, gateway, write_folder, write_library
from tests.shared import ROOT

RUN = """
import sys
from pathlib import Path
from harness.reference.server import ReferenceSettings, run_gateway

run_gateway(
    ReferenceSettings(testsets=Path(sys.argv[1]), keys={sys.argv[2]: None}),
    on_ready=lambda url: print(url, flush=True),
)
print("stopped")
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_nothing_more_said(tmp_path: Path, number: signal.Signals) -> None:
    write_library(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", RUN, str(tmp_path), KEY],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        url = process.stdout.readline().strip()
        assert Caller(url=url).query("ovality").status == 200
        process.send_signal(number)
        said, complained = process.communicate(timeout=60)
    assert (process.returncode, said, complained) == (0, "stopped\n", "")


def test_a_running_gateway_is_ready_and_afterwards_gone(tmp_path: Path) -> None:
    with gateway(tmp_path) as caller:
        assert caller.query("ovality").status == 200
    with pytest.raises(ConnectionRefusedError):
        caller.query("ovality")


def test_an_idle_connection_does_not_keep_it(tmp_path: Path) -> None:
    with gateway(tmp_path) as caller:
        host, port = caller.url.removeprefix("http://").split(":")
        connection = http.client.HTTPConnection(host, int(port))
        connection.request("GET", "/api/v1/corpora")
        assert connection.getresponse().read()
    connection.close()


def test_several_run_side_by_side(tmp_path: Path) -> None:
    with gateway(tmp_path) as one, gateway(tmp_path, faults="http_500") as other:
        assert one.url != other.url
        assert (one.query("ovality").status, other.query("ovality").status) == (200, 500)


def test_ipv6(tmp_path: Path) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    with gateway(tmp_path, host="::1") as caller:
        assert caller.url.startswith("http://[::1]:")
        assert caller.query("ovality").status == 200


def test_an_error_in_the_callers_block_stops_it(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), gateway(tmp_path) as caller:
        raise ZeroDivisionError
    with pytest.raises(ConnectionRefusedError):
        caller.query("ovality")


def test_error_port_in_use(tmp_path: Path) -> None:
    write_library(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        settings = ReferenceSettings(testsets=tmp_path, keys={}, port=port)
        with pytest.raises(UsageError) as caught, running_gateway(settings):
            pass
    assert str(caught.value) == f"cannot listen on 127.0.0.1:{port}: Address already in use"


def test_settings_do_not_show_keys(tmp_path: Path) -> None:
    assert KEY not in repr(ReferenceSettings(testsets=tmp_path, keys={KEY: None}))


def test_a_corpus_of_three_thousand_passages(tmp_path: Path) -> None:
    words = ("pressure", "pipe", "weld", "bolt", "torque", "soil", "gasket", "valve", "flange", "bend", "creep")
    rows = tuple(
        ("P-100", 2018, f"§{number // 100 + 1}.{number % 100}", f"{words[number % 11]} {words[number % 7]} n{number}")
        for number in range(3000)
    )
    write_folder(tmp_path, ACME, rows + P100[4:], TERMS)
    with gateway(tmp_path) as caller:
        assert caller.query("what is n1234 of the pressure").citations[0] == "[ACME P-100:2018 §13.34]"
        assert len(caller.query("pressure pipe weld").citations) == 10


def test_a_bad_folder_is_told_and_the_others_are_served(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_library(tmp_path)
    (tmp_path / "bolt" / "society.toml").write_text("id = ", encoding="utf-8")
    with gateway(tmp_path) as caller:
        assert caller.query("ovality").status == 200
        assert caller.query("bolts", "bolt-9").status == 404
    assert "corpus left out" in capsys.readouterr().out
