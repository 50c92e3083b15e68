"""Configuration that cannot be meant is refused before anything is sent or written."""

from pathlib import Path

import pytest

from harness.errors import InvalidInput, UsageError
from harness.settings import checked_gateway_url, load_settings
from tests.end_to_end.command import Place


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("[asking]\nconcurrency = 0", "2: asking.concurrency: found 0; expected a number from 1 on."),
        ("[asking]\nattempts = 0", "2: asking.attempts: found 0; expected a number from 1 on."),
        ("[asking]\nrate = 0", "2: asking.rate: found 0; expected a number from 1e-06 on."),
        ("[asking]\nrate = nan", "2: asking.rate: found nan; expected a number from 1e-06 on."),
        ("[asking]\ncall_timeout = inf", "2: asking.call_timeout: found inf; expected a number from 0 on."),
        ("[asking]\nmax_calls = -1", "2: asking.max_calls: found -1; expected a number from 0 on."),
        ("[asking]\nmax_calls = true", "2: asking.max_calls: found bool; expected int."),
        (
            "[night]\nopens = 06:00:00\ncloses = 05:00:00",
            "3: night.closes: found 05:00:00; expected a time after 06:00:00",
        ),
    ],
)
def test_error_a_value_that_cannot_be_meant(tmp_path: Path, table: str, says: str) -> None:
    file = tmp_path / "harness.toml"
    file.write_text(table + "\n")
    with pytest.raises(InvalidInput) as refused:
        load_settings(file, {}, {})
    assert str(refused.value).startswith(f"{file}:{says}")


@pytest.mark.parametrize("name", ["HARNESS_GATEWAY_KEY", "HARNESS_GATEWAY_KEY_FILE"])
def test_error_a_key_that_no_header_can_carry_is_never_shown(tmp_path: Path, name: str) -> None:
    secret = "se\ncret"
    (tmp_path / "key").write_text(secret)
    value = str(tmp_path / "key") if name.endswith("FILE") else secret
    with pytest.raises(UsageError, match=f"^{name}: found what no header can carry") as refused:
        load_settings(None, {}, {name: value})
    assert "cret" not in str(refused.value)


def test_error_a_log_format_that_is_none() -> None:
    with pytest.raises(UsageError, match="log_format: found 'xml'; expected one of console, json"):
        load_settings(None, {}, {"HARNESS_LOG_FORMAT": "xml"})


@pytest.mark.parametrize(
    "url", ["http://[::1", "http://h:99999999", "http://h:abc", "ftp://h", "h", "http://", "http://h?q=1", "http://h:0"]
)
def test_error_a_gateway_url_that_is_none(tmp_path: Path, url: str) -> None:
    with pytest.raises(UsageError, match="gateway URL: found"):
        checked_gateway_url(url)
    ended = Place(folder=tmp_path).run("nightly", "--gateway", url)
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "reports").exists()


def test_error_credentials_in_the_url_are_refused_and_not_shown() -> None:
    with pytest.raises(UsageError) as refused:
        checked_gateway_url("https://user:hunter2@gateway.example")
    assert "hunter2" not in str(refused.value)


def test_error_a_reading_command_makes_no_database(tmp_path: Path) -> None:
    place = Place(folder=tmp_path)
    for words in (("status",), ("flags", "list"), ("report", "x"), ("score",)):
        ended = place.run(*words)
        assert ended.returncode == 2
        assert "no database at reports/harness.db" in ended.stderr
    verified = place.run("flags", "verify")
    assert verified.returncode == 7
    assert not (tmp_path / "reports").exists()


def test_error_a_ledger_that_cannot_be_read_is_not_whole(tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "harness.db").write_bytes(b"no database" * 100)
    assert Place(folder=tmp_path).run("flags", "verify").returncode == 7
