"""The key of the published ids is made once, whoever comes first, and never changes."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from sqlalchemy import Engine

from harness.store.deployment import hash_key
from harness.store.engine import open_engine, reading
from harness.store.migrate import require_current
from tests.store.processes import at_once


def _first_use(url: str, _number: int) -> str:
    engine = open_engine(url)
    try:
        require_current(engine)
        return hash_key(engine).hex()
    finally:
        engine.dispose()


def test_the_key_is_32_bytes_and_stays(engine: Engine) -> None:
    key = hash_key(engine)
    assert len(key) == 32
    engine.dispose()
    assert hash_key(engine) == key


def test_processes_that_come_first_at_once_make_one_schema_and_one_key(database_url: str) -> None:
    keys = at_once(4, _first_use, database_url)
    assert len(set(keys)) == 1
    assert _first_use(database_url, 0) == keys[0]
    engine = open_engine(database_url)
    assert hash_key(engine).hex() == keys[0]
    engine.dispose()


def test_threads_that_come_first_at_once_make_one_key(engine: Engine) -> None:
    together = Barrier(4)

    def first_use(_number: int) -> bytes:
        with reading(engine):  # the connection is there before the others start
            together.wait(timeout=60)
        return hash_key(engine)

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(first_use, range(4))) == {hash_key(engine)}


def test_two_deployments_have_two_keys(engine: Engine, tmp_path: Path) -> None:
    other = open_engine(f"sqlite:///{tmp_path / 'other.db'}")
    require_current(other)
    assert hash_key(other) != hash_key(engine)
    other.dispose()
