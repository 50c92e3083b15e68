"""One run of a night at a time: a file lock on this host, a lease row across hosts (operations.md)."""

import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout
from sqlalchemy import Engine, delete, insert, select, update

from harness.clock import Clock, utc_text
from harness.errors import NightLocked, StoreError
from harness.store.engine import writing
from harness.store.schema import LEASE

LEASE_SECONDS: Final = 120
"""A holder that has not renewed for this long is taken for dead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to run a night; `renew` it well within LEASE_SECONDS."""

    engine: Engine
    clock: Clock
    night: str
    token: str

    def renew(self) -> None:
        """Extend the lease. Raises NightLocked where another host has taken it over."""
        with writing(self.engine, exclusive=True) as connection:  # never between another's look and its taking
            held = connection.execute(
                update(LEASE)
                .where(LEASE.c.night == self.night, LEASE.c.token == self.token)
                .values(expires_at=_expiry(self.clock))
            )
            if held.rowcount != 1:
                raise NightLocked(f"night {self.night}: the lease was lost to another run; this one stops")


@contextmanager
def hold_night(engine: Engine, locks: Path, night: str, clock: Clock) -> Iterator[Lease]:
    """Hold the night against every other run of it.

    A lease left by a dead process of this host is taken over at once, another host's when it has run out.
    Raises NightLocked naming who holds it, StoreError where the lock file cannot be made.
    """
    path = locks / f"night-{night}.lock"
    lock = FileLock(path, timeout=0)
    try:
        locks.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:  # an OSError too
        raise NightLocked(f"night {night}: another run on this host holds the lock") from None
    except OSError as error:
        raise StoreError(f"{path}: cannot be locked: {error.strerror}") from None
    try:
        lease = Lease(engine=engine, clock=clock, night=night, token=secrets.token_hex(16))
        _take(lease)
        try:
            yield lease
        finally:
            # A database that cannot be written now (full disk) leaves a row that runs out by itself; what the night
            # itself ended with must not be hidden behind that.
            with suppress(StoreError), writing(engine) as connection:
                connection.execute(delete(LEASE).where(LEASE.c.night == night, LEASE.c.token == lease.token))
    finally:
        lock.release()


def _take(lease: Lease) -> None:
    host = socket.gethostname()
    with writing(lease.engine, exclusive=True) as connection:
        row = connection.execute(select(LEASE).where(LEASE.c.night == lease.night)).one_or_none()
        left_behind = row is not None and row.host == host and not _is_alive(row.pid)
        if row is not None and not left_behind and row.expires_at > utc_text(lease.clock.now()):
            raise NightLocked(f"night {lease.night}: held by {row.host} (pid {row.pid}) until {row.expires_at}")
        connection.execute(delete(LEASE).where(LEASE.c.night == lease.night))
        connection.execute(
            insert(LEASE).values(
                night=lease.night, token=lease.token, host=host, pid=os.getpid(), expires_at=_expiry(lease.clock)
            )
        )


def _is_alive(pid: int) -> bool:
    """Whether a process of this host has that id; our own does not count, this lease is not taken yet."""
    if pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _expiry(clock: Clock) -> str:
    return utc_text(clock.now() + timedelta(seconds=LEASE_SECONDS))
