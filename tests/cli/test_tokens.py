"""`harness tokens` as a person uses it: a token is printed once, alone, and never again."""

import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect

from harness.store.tokens import list_tokens
from tests.end_to_end.command import Place

TOKEN = re.compile(r"cht_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(folder=tmp_path)


def _create(place: Place, *words: str, scope: str = "read:sla", name: str = "billing") -> str:
    ended = place.run("tokens", "create", "--scope", scope, "--name", name, *words)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()[-1]


def _list(place: Place) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(place.run("tokens", "list", "--format", "json").stdout)
    return found


def test_a_token_stands_alone_on_the_last_line(place: Place) -> None:
    ended = place.run("tokens", "create", "--scope", "read:sla", "--scope", "write:ack", "--name", "billing")
    assert (ended.returncode, ended.stdout.count("\n")) == (0, 1)
    match = TOKEN.fullmatch(ended.stdout.strip())
    assert match is not None
    assert match[0] not in ended.stderr
    assert ended.stderr.startswith(f"token {match[1]} for billing: read:sla, write:ack, until ")
    assert ended.stderr.endswith("; shown this once:\n")


def test_a_token_is_never_shown_again(place: Place) -> None:
    text = _create(place)
    secret = text.split("_", 2)[2]
    (row,) = _list(place)
    assert set(row) == {"id", "name", "scopes", "created", "expires", "state"}
    assert (row["id"], row["name"], row["scopes"], row["state"]) == (text[4:16], "billing", "read:sla", "active")
    table = place.run("tokens", "list").stdout
    assert text[4:16] in table and "billing" in table
    kept = b"".join(file.read_bytes() for file in place.reports.rglob("*") if file.is_file())
    assert text[4:16].encode() in kept
    assert secret.encode() not in kept


@pytest.mark.parametrize(("words", "days"), [((), 365), (("--days", "1"), 1)])
def test_a_token_expires(place: Place, words: tuple[str, ...], days: int) -> None:
    _create(place, *words)
    (row,) = _list(place)
    created, expires = (datetime.fromisoformat(row[name]) for name in ("created", "expires"))
    assert expires - created == timedelta(days=days)


def test_a_revoked_token_says_so(place: Place) -> None:
    revoked, kept = (_create(place, name=name)[4:16] for name in ("old", "new"))
    ended = place.run("tokens", "revoke", revoked)
    assert ended.stdout.startswith(f"token {revoked} (old): revoked at ")
    assert place.run("tokens", "revoke", revoked).stdout == ended.stdout
    assert {row["id"]: row["state"] for row in _list(place)} == {revoked: "revoked", kept: "active"}


def test_a_name_is_printed_as_it_is(place: Place) -> None:
    name = "[bold red]A & B[/] <i>Größe</i>"
    _create(place, name=name)
    assert _list(place)[0]["name"] == name
    assert name in place.run("tokens", "list").stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--scope", "read:sla", "--name", "a\nb"), r"name: found 'a\nb'; expected 1 to 80 printable characters"),
        (("--scope", "read:sla", "--name", "\x1b[2J"), r"name: found '\x1b[2J'; expected 1 to 80 printable characters"),
        (("--scope", "read:sla", "--name", "x" * 81), "expected 1 to 80 printable characters"),
        (("--scope", "read:sla", "--name", " "), "name: found ' '; expected 1 to 80 printable characters"),
        (("--scope", "read:all", "--name", "x"), "'read:all' is not one of 'read:sla', 'write:ack'"),
        (("--name", "x"), "Missing option '--scope'"),
        (("--scope", "read:sla"), "Missing option '--name'"),
        (("--scope", "read:sla", "--name", "x", "--days", "0"), "0 is not in the range"),
    ],
)
def test_error_no_token_is_made(place: Place, words: tuple[str, ...], says: str) -> None:
    ended = place.run("tokens", "create", *words)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert says in ended.stderr
    assert "\x1b[2J" not in ended.stderr
    with place.engine() as engine:
        assert not inspect(engine).has_table("token") or list_tokens(engine) == []


def test_error_revoking_what_is_no_token(place: Place) -> None:
    _create(place)
    ended = place.run("tokens", "revoke", "0" * 12)
    assert ended.returncode == 2
    assert ended.stderr == "harness: token '000000000000': not known; `harness tokens list` lists them\n"


def test_error_a_list_finds_nothing_in_a_place_that_it_would_have_to_make_up(place: Place) -> None:
    ended = place.run("tokens", "list")
    assert ended.returncode == 2
    assert ended.stderr.startswith("harness: no database at reports/harness.db: ")
    assert not place.reports.exists()


def test_the_help_says_how_long_a_token_lasts(place: Place) -> None:
    shown = place.run("tokens", "create", "--help").stdout
    assert "[default: 365" in shown and "read:sla|write:ack" in shown
