"""A night has one holder: by the file lock on this host, by the lease row across hosts, until it runs out."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Engine, delete, insert, select, text, update

from harness.errors import NightLocked, StoreError
from harness.store.engine import reading, writing
from harness.store.lease import LEASE_SECONDS, hold_night
from harness.store.schema import LEASE
from tests.clock import FakeClock

NIGHT = "2026-03-01"
SOON = "2026-03-01T02:19:00.000000Z"
"""When a lease taken at the clock's start, 02:17, runs out."""


def _row(engine: Engine, night: str = NIGHT) -> tuple[str, int, str] | None:
    query = select(LEASE.c.host, LEASE.c.pid, LEASE.c.expires_at).where(LEASE.c.night == night)
    with reading(engine) as connection:
        row = connection.execute(query).one_or_none()
    return None if row is None else (row.host, row.pid, row.expires_at)


def _leave(engine: Engine, host: str, pid: int, expires_at: str = SOON) -> None:
    """Another's row, in place of whatever is there."""
    with writing(engine) as connection:
        connection.execute(delete(LEASE).where(LEASE.c.night == NIGHT))
        connection.execute(insert(LEASE).values(night=NIGHT, token="theirs", host=host, pid=pid, expires_at=expires_at))


def _dead_pid() -> int:
    """The id of a process that has just ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    return ended.pid


def test_a_held_night_has_its_row_until_the_end(engine: Engine, tmp_path: Path) -> None:
    with hold_night(engine, tmp_path / "deep" / "locks", NIGHT, FakeClock()):
        assert _row(engine) == (socket.gethostname(), os.getpid(), SOON)
    assert _row(engine) is None


def test_an_exception_gives_the_night_back(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), hold_night(engine, tmp_path, NIGHT, FakeClock()):
        raise KeyboardInterrupt
    assert _row(engine) is None
    with hold_night(engine, tmp_path, NIGHT, FakeClock()):
        assert _row(engine) is not None


def test_error_a_second_run_on_this_host_is_refused(engine: Engine, tmp_path: Path) -> None:
    with hold_night(engine, tmp_path, NIGHT, FakeClock()) as lease:
        with pytest.raises(NightLocked) as caught, hold_night(engine, tmp_path, NIGHT, FakeClock()):
            pytest.fail("it was held twice")
        lease.renew()
        with hold_night(engine, tmp_path, "2026-03-02", FakeClock()):
            assert _row(engine, "2026-03-02") is not None
        assert _row(engine) is not None
    assert str(caught.value) == "night 2026-03-01: another run on this host holds the lock"
    assert caught.value.exit_code == 75


def test_error_a_live_lease_of_another_host_is_respected(engine: Engine, tmp_path: Path) -> None:
    _leave(engine, "elsewhere", 7)
    with pytest.raises(NightLocked) as caught, hold_night(engine, tmp_path, NIGHT, FakeClock()):
        pytest.fail("it was held twice")
    assert str(caught.value) == f"night 2026-03-01: held by elsewhere (pid 7) until {SOON}"
    assert _row(engine) == ("elsewhere", 7, SOON)
    _leave(engine, "elsewhere", 7, "2026-03-01T02:17:00.000000Z")
    with hold_night(engine, tmp_path, NIGHT, FakeClock()):  # the refusal has not kept the file lock
        assert _row(engine) == (socket.gethostname(), os.getpid(), SOON)


@pytest.mark.parametrize(("late", "taken"), [(LEASE_SECONDS - 0.000001, False), (LEASE_SECONDS, True)])
def test_another_hosts_lease_is_taken_over_when_it_has_run_out(
    engine: Engine, tmp_path: Path, late: float, taken: bool
) -> None:
    clock = FakeClock()
    _leave(engine, "elsewhere", os.getpid())
    clock.advance(late)
    if taken:
        with hold_night(engine, tmp_path, NIGHT, clock):
            assert _row(engine) == (socket.gethostname(), os.getpid(), "2026-03-01T02:21:00.000000Z")
    else:
        with pytest.raises(NightLocked), hold_night(engine, tmp_path, NIGHT, clock):
            pytest.fail("it was held twice")


def test_a_lease_of_a_dead_process_of_this_host_is_taken_over_at_once(engine: Engine, tmp_path: Path) -> None:
    for pid in (_dead_pid(), os.getpid()):
        _leave(engine, socket.gethostname(), pid)
        with hold_night(engine, tmp_path, NIGHT, FakeClock()):
            assert _row(engine) == (socket.gethostname(), os.getpid(), SOON)


def test_error_a_lease_of_a_living_process_of_this_host_is_respected(engine: Engine, tmp_path: Path) -> None:
    _leave(engine, socket.gethostname(), os.getppid())
    with pytest.raises(NightLocked, match=rf"\(pid {os.getppid()}\)"), hold_night(engine, tmp_path, NIGHT, FakeClock()):
        pytest.fail("it was held twice")


def test_renewing_moves_the_expiry(engine: Engine, tmp_path: Path) -> None:
    clock = FakeClock()
    with hold_night(engine, tmp_path, NIGHT, clock) as lease:
        clock.advance(LEASE_SECONDS + 60)  # late, but nobody has taken it
        lease.renew()
        assert _row(engine) == (socket.gethostname(), os.getpid(), "2026-03-01T02:22:00.000000Z")


def test_error_a_lease_that_was_taken_over_is_not_renewed_and_not_given_back(engine: Engine, tmp_path: Path) -> None:
    with hold_night(engine, tmp_path, NIGHT, FakeClock()) as lease:
        _leave(engine, "elsewhere", 7)
        with pytest.raises(NightLocked) as caught:
            lease.renew()
    assert str(caught.value) == "night 2026-03-01: the lease was lost to another run; this one stops"
    assert _row(engine) == ("elsewhere", 7, SOON)


def test_error_a_lease_whose_row_is_gone_is_not_renewed(engine: Engine, tmp_path: Path) -> None:
    with hold_night(engine, tmp_path, NIGHT, FakeClock()) as lease:
        with writing(engine) as connection:
            connection.execute(delete(LEASE))
        with pytest.raises(NightLocked):
            lease.renew()


def test_a_database_that_fails_at_the_end_does_not_hide_how_the_night_ended(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="the night's own"), hold_night(engine, tmp_path, NIGHT, FakeClock()):
        with writing(engine) as connection:
            connection.execute(text("ALTER TABLE lease RENAME TO away"))
        raise KeyError("the night's own")
    with writing(engine) as connection:
        connection.execute(text("ALTER TABLE away RENAME TO lease"))
        connection.execute(update(LEASE).values(host="elsewhere"))
    with pytest.raises(NightLocked, match="held by elsewhere"), hold_night(engine, tmp_path, NIGHT, FakeClock()):
        pytest.fail("the row was gone")


def test_error_a_folder_that_cannot_be_made_is_named(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "taken").write_bytes(b"")
    locks = tmp_path / "taken" / "locks"
    with pytest.raises(StoreError) as caught, hold_night(engine, locks, NIGHT, FakeClock()):
        pytest.fail("it was held")
    assert str(caught.value) == f"{locks}/night-2026-03-01.lock: cannot be locked: Not a directory"
