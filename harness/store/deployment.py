"""Facts of this deployment that must not change: its name and the key that published ids are hashed with."""

import secrets

from sqlalchemy import Engine, insert, select

from harness.store.engine import reading, writing
from harness.store.schema import DEPLOYMENT


def hash_key(engine: Engine) -> bytes:
    """The key of the published item ids, made at first use and the same for ever after."""
    return bytes.fromhex(_fact(engine, "hash_key", secrets.token_hex(32)))


def _fact(engine: Engine, name: str, first_value: str) -> str:
    query = select(DEPLOYMENT.c.value).where(DEPLOYMENT.c.name == name)
    with reading(engine) as connection:
        value: str | None = connection.execute(query).scalar_one_or_none()
    if value is not None:
        return value
    with writing(engine, exclusive=True) as connection:
        value = connection.execute(query).scalar_one_or_none()
        if value is None:
            connection.execute(insert(DEPLOYMENT).values(name=name, value=first_value))
            value = first_value
    return value
