"""Progress of asking: a bar on a terminal, a line a minute elsewhere."""

import time
from typing import Final

import structlog
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

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

    def __init__(self, pending: int, planned: int) -> None:
        self._answered, self._planned = planned - pending, planned
        self._log = structlog.get_logger()
        self._next = time.monotonic() + LINE_SECONDS
        self._log.info("asking", answered=self._answered, planned=planned)

    def advance(self, answered: int) -> None:
        self._answered += answered
        if time.monotonic() >= self._next:
            self._next += LINE_SECONDS
            self._log.info("asking", answered=self._answered, planned=self._planned)

    def close(self) -> None:
        self._log.info("asked", answered=self._answered, planned=self._planned)


def open_progress(pending: int, planned: int) -> ProgressBar | ProgressLines:
    """The kind that fits where stderr goes."""
    return ProgressBar(pending, planned) if Console(stderr=True).is_terminal else ProgressLines(pending, planned)
