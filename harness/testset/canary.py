"""The canary: one string in every file of a folder, by which held-out text that got out can be known (testsets.md)."""

from dataclasses import dataclass, field
from typing import Final

from harness.errors import Problem
from harness.testset.fields import Record, text
from harness.testset.source import Findings

_CANARY: Final = text(
    "a canary of 16 to 256 characters on one line", "Write the folder's canary.", r"\S[^\r\n]{14,254}\S"
)
_REMEDY: Final = "Put the folder's canary there: the one string that every file of it carries."


@dataclass(slots=True)
class Canary:
    """The canary as it is met through the files; the first one met is the folder's."""

    value: str | None = None
    warnings: list[Problem] = field(default_factory=list)
    _without: dict[str, tuple[int, int]] = field(default_factory=dict)
    _carriers: set[str] = field(default_factory=set)

    def meet(self, record: Record, line: int) -> None:
        """Take in the canary of one JSON line; one that differs from the folder's is noted."""
        name = record.place.findings.file
        if record.raw.get("canary") is None:
            count, first = self._without.get(name, (0, line))
            self._without[name] = (count + 1, first)
            return
        self._carriers.add(name)
        found = record.need("canary", _CANARY)
        if found is None:
            return
        if self.value is None:
            self.value = found
        elif found != self.value:
            record.place.note(
                "canary", found="another canary than before", expected="the same one everywhere", remedy=_REMEDY
            )

    def finish_lines(self, findings: Findings) -> None:
        """Judge a JSONL file that was read to its end: none carries it, or some lines do not."""
        count, first = self._without.get(findings.file, (0, 0))
        if findings.file in self._carriers:
            if count:
                self.warnings.append(
                    Problem(
                        file=findings.file,
                        line=first,
                        field="canary",
                        found=f"{count} lines without it, the first of them here",
                        expected="the canary in every line",
                        remedy=_REMEDY,
                    )
                )
        elif count:
            findings.add(
                field="canary", found="no line that carries it", expected="the canary in every line", remedy=_REMEDY
            )

    def meet_text(self, content: str, findings: Findings) -> None:
        """Judge a file that carries the canary anywhere, as in a comment; silent while the folder has none."""
        if self.value is not None and self.value not in content:
            findings.add(found="no canary", expected="the folder's canary in a comment", remedy=_REMEDY)
