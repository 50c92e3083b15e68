"""A token is shown once, kept as a hash, and known again by its id alone."""

import hashlib
import re
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine, select

from harness.errors import UsageError
from harness.store.engine import reading
from harness.store.schema import TOKEN
from harness.store.tokens import SCOPES, create_token, find_token, hash_token, list_tokens, revoke_token

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=30)


def test_only_the_hash_of_a_token_is_kept(engine: Engine) -> None:
    token, text = create_token(engine, "billing", ["read:sla"], NOW, LATER)
    assert re.fullmatch(rf"cht_{token.token_id}_[A-Za-z0-9_-]{{43}}", text)
    assert token.secret_sha256 == hashlib.sha256(text.encode()).hexdigest() == hash_token(text)
    secret = text.split("_", 2)[2]
    with reading(engine) as connection:
        kept = [str(cell) for row in connection.execute(select(TOKEN)) for cell in row]
    assert token.secret_sha256 in kept
    assert not any(secret in cell for cell in kept)


def test_a_token_comes_back_as_it_was_made(engine: Engine) -> None:
    made, _ = create_token(engine, "Größe 名", ["write:ack", "read:sla", "read:sla"], NOW, LATER)
    assert find_token(engine, made.token_id) == made
    assert made.scopes == SCOPES
    assert (made.created_at, made.expires_at) == ("2026-12-01T12:00:00.000000Z", "2026-12-31T12:00:00.000000Z")
    assert find_token(engine, "0" * 12) is None


def test_no_two_tokens_are_alike(engine: Engine) -> None:
    made = [create_token(engine, "same", SCOPES, NOW, LATER) for _ in range(20)]
    assert len({token.token_id for token, _ in made}) == len({text for _, text in made}) == 20
    assert {token.token_id for token in list_tokens(engine)} == {token.token_id for token, _ in made}


def test_tokens_are_listed_in_the_order_they_were_made_in(engine: Engine) -> None:
    made = [create_token(engine, str(day), SCOPES, NOW + timedelta(days=-day), LATER)[0] for day in range(3)]
    assert [token.name for token in list_tokens(engine)] == ["2", "1", "0"]
    assert list_tokens(engine) == made[::-1]


@pytest.mark.parametrize(
    ("since", "state"),
    [
        (timedelta(0), "active"),
        (timedelta(days=30, microseconds=-1), "active"),
        (timedelta(days=30), "expired"),
        (timedelta(days=300), "expired"),
    ],
)
def test_a_token_expires_at_its_moment(engine: Engine, since: timedelta, state: str) -> None:
    token, _ = create_token(engine, "billing", SCOPES, NOW, LATER)
    assert token.state(NOW + since) == state


def test_a_token_without_an_end_never_expires(engine: Engine) -> None:
    made, _ = create_token(engine, "billing", SCOPES, NOW, None)
    found = find_token(engine, made.token_id)
    assert found is not None and found.expires_at is None
    assert found.state(NOW + timedelta(days=36_500)) == "active"


def test_revoking_again_changes_nothing(engine: Engine) -> None:
    token, _ = create_token(engine, "billing", SCOPES, NOW, LATER)
    other, _ = create_token(engine, "other", SCOPES, NOW, LATER)
    revoked = revoke_token(engine, token.token_id, NOW + timedelta(hours=1))
    assert revoked.revoked_at == "2026-12-01T13:00:00.000000Z"
    assert revoke_token(engine, token.token_id, NOW + timedelta(hours=2)) == revoked
    assert find_token(engine, token.token_id) == revoked
    assert revoked.state(NOW) == revoked.state(LATER) == "revoked"
    assert find_token(engine, other.token_id) == other


def test_error_revoking_what_is_no_token(engine: Engine) -> None:
    with pytest.raises(UsageError) as caught:
        revoke_token(engine, "\x1b[31m" + "x" * 80, NOW)
    assert str(caught.value) == rf"token '\x1b[31m{'x' * 35}': not known; `harness tokens list` lists them"
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("name", ["x", "x" * 80, "Größe 名", "[bold]a & b[/]"])
def test_a_name_is_what_prints(engine: Engine, name: str) -> None:
    assert create_token(engine, name, SCOPES, NOW, LATER)[0].name == name


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "a\nb", "a\x00b", "\x1b[31m", "\ud800", "\u202e", "\u2028"])
def test_error_a_name_that_does_not_print(engine: Engine, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        create_token(engine, name, SCOPES, NOW, LATER)
    assert str(caught.value) == f"name: found {name[:40]!r}; expected 1 to 80 printable characters"
    assert list_tokens(engine) == []


@pytest.mark.parametrize(
    ("scopes", "found"), [([], "none"), (["read:all"], "read:all"), (["read:sla", ""], "read:sla, ")]
)
def test_error_scopes_that_there_are_not(engine: Engine, scopes: list[str], found: str) -> None:
    with pytest.raises(UsageError) as caught:
        create_token(engine, "billing", scopes, NOW, LATER)
    assert str(caught.value) == f"scope: found {found}; expected one or more of read:sla, write:ack"
    assert list_tokens(engine) == []
