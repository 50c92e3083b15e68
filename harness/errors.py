"""The error tree: every failure that is ours carries the exit code it ends a command with (operations.md)."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong with an input file: where, what was found, what was expected, what to do.

    `line` is 1-based; `field` is a dotted key or a JSON key. `found` is already safe to print: it never holds
    held-out text (query, gold string or passage).
    """

    file: str
    found: str
    expected: str
    remedy: str
    line: int | None = None
    field: str | None = None

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        subject = "" if self.field is None else f" {self.field}:"
        return f"{place}:{subject} found {self.found}; expected {self.expected}. {self.remedy}"


class HarnessError(Exception):
    """A failure of ours with one message for a person; `exit_code` is what the command ends with."""

    exit_code = 1


class UsageError(HarnessError):
    """Wrong invocation or configuration: nothing was sent, nothing was written."""

    exit_code = 2


class InvalidInput(HarnessError):
    """Input files with every problem found in them, in file and line order."""

    exit_code = 2

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class NothingMeasured(HarnessError):
    """The gateway refused us or could not be reached: no usable answer, the run can be resumed."""

    exit_code = 5


class NightLocked(HarnessError):
    """Another run of the same night is alive."""

    exit_code = 75


class StoreError(HarnessError):
    """Database or transcript storage failed or holds what this release cannot read."""


class PublishRefused(HarnessError):
    """A pre-publish invariant failed; what visitors see is unchanged."""
