"""Tokens of the API: kept as hashes, with scopes and an expiry; a token's text is seen once, when it is made."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Engine, insert, select, update

from harness.clock import utc_text
from harness.errors import UsageError
from harness.store.engine import reading, writing
from harness.store.schema import TOKEN

SCOPES: Final = ("read:sla", "write:ack")
PREFIX: Final = "cht"


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token without its secret. Times are UTC text; `expires_at` None: never; `secret_sha256` over the whole text."""

    token_id: str
    name: str
    scopes: tuple[str, ...]
    secret_sha256: str
    created_at: str
    expires_at: str | None
    revoked_at: str | None

    def state(self, now: datetime) -> str:
        """`active`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= utc_text(now) else "active"


def create_token(
    engine: Engine, name: str, scopes: Sequence[str], now: datetime, expires: datetime | None
) -> tuple[Token, str]:
    """A new token and its text, `cht_<id>_<secret>`, of which only the hash is kept.

    Raises UsageError for a name that is not 1 to 80 printable characters, and without a scope.
    """
    if not 0 < len(name) <= 80 or not name.isprintable() or not name.strip():
        raise UsageError(f"name: found {name[:40]!r}; expected 1 to 80 printable characters")
    if not scopes or not set(scopes) <= set(SCOPES):
        raise UsageError(f"scope: found {', '.join(scopes) or 'none'}; expected one or more of {', '.join(SCOPES)}")
    token_id = secrets.token_hex(6)
    text = f"{PREFIX}_{token_id}_{secrets.token_urlsafe(32)}"
    token = Token(
        token_id=token_id,
        name=name,
        scopes=tuple(scope for scope in SCOPES if scope in scopes),
        secret_sha256=hash_token(text),
        created_at=utc_text(now),
        expires_at=None if expires is None else utc_text(expires),
        revoked_at=None,
    )
    row = {field: getattr(token, field) for field in Token.__slots__} | {"scopes": " ".join(token.scopes)}
    with writing(engine) as connection:
        connection.execute(insert(TOKEN).values(**row))
    return token, text


def find_token(engine: Engine, token_id: str) -> Token | None:
    with reading(engine) as connection:
        row = connection.execute(select(TOKEN).where(TOKEN.c.token_id == token_id)).one_or_none()
    return None if row is None else _token(dict(row._mapping))


def list_tokens(engine: Engine) -> list[Token]:
    """Every token that was ever made, oldest first."""
    with reading(engine) as connection:
        rows = connection.execute(select(TOKEN).order_by(TOKEN.c.created_at, TOKEN.c.token_id))
        return [_token(dict(row._mapping)) for row in rows]


def revoke_token(engine: Engine, token_id: str, now: datetime) -> Token:
    """Revoke a token; revoking again changes nothing. Raises UsageError for an unknown id."""
    here = TOKEN.c.token_id == token_id
    with writing(engine) as connection:
        connection.execute(update(TOKEN).where(here, TOKEN.c.revoked_at.is_(None)).values(revoked_at=utc_text(now)))
        row = connection.execute(select(TOKEN).where(here)).one_or_none()
    if row is None:
        raise UsageError(f"token {token_id[:40]!r}: not known; `harness tokens list` lists them")
    return _token(dict(row._mapping))


def hash_token(text: str) -> str:
    """SHA-256 in hex of a token's text: a secret of 256 random bits needs no slower one."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _token(row: dict[str, str]) -> Token:
    return Token(**row | {"scopes": tuple(row["scopes"].split())})  # type: ignore[arg-type]
