"""Progress of asking: a bar on a terminal, a line a minute elsewhere."""

from collections.abc import Callable
from typing import Final

import structlog
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from harness.clock import SystemClock

LINE_SECONDS: Final = 60.0


class ProgressBar:
    """A bar on stderr that ends when everything pending is answered."""

    def __init__(self, pending: int, planned: int) -> None:
        columns = (TextColumn("asking"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("asking", total=planned, completed=planned - pending)
        self._bar.start()

    def advance(self, answered: int) -> None:
        self._bar.advance(self._task, answered)

    def close(self) -> None:
        self._bar.stop()


class ProgressLines:
    """One log line at the start, one a minute, one at the end."""

    def __init__(self, pending: int, planned: int, monotonic: Callable[[], float]) -> None:
        self._answered, self._planned = planned - pending, planned
        self._log = structlog.get_logger()
        self._monotonic = monotonic
        self._next = monotonic() + LINE_SECONDS
        self._log.info("asking", answered=self._answered, planned=planned)

    def advance(self, answered: int) -> None:
        self._answered += answered
        if self._monotonic() >= self._next:
            self._next += LINE_SECONDS
            self._log.info("asking", answered=self._answered, planned=self._planned)

    def close(self) -> None:
        self._log.info("asked", answered=self._answered, planned=self._planned)


def open_progress(pending: int, planned: int) -> ProgressBar | ProgressLines:
    """The kind that fits where stderr goes."""
    if Console(stderr=True).is_terminal:
        return ProgressBar(pending, planned)
    return ProgressLines(pending, planned, SystemClock().monotonic)
