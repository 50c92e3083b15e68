"""Every problem of every file of one folder or of all (testsets.md, Commands)."""

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from harness.errors import Problem
from harness.testset.canary import Canary
from harness.testset.catalogue import read_corpus
from harness.testset.model import Floor, Society
from harness.testset.society import Reading, findings_of, read_folder, society_folders
from harness.testset.source import Findings, read_text

_HEADING: Final = re.compile(r"^#{1,6} .*$", re.M)


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """Problems end a lint with exit 2, warnings do not. `societies` are those whose folders a night could load."""

    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    societies: tuple[Society, ...]


def lint(path: Path) -> LintReport:
    """What is wrong in a society's folder, or in every folder below a root.

    Raises UsageError where the path is no folder, or a root without one.
    """
    folders = [path] if (path / "society.toml").exists() else list(society_folders(path).values())
    problems: list[Problem] = []
    warnings: list[Problem] = []
    societies: list[Society] = []
    for folder in folders:
        reading = read_folder(folder)
        notes = [_lint_corpus(folder, reading), _lint_changes(folder, reading), _lint_sources(folder, reading.canary)]
        problems += reading.problems
        problems += [problem for found in notes if found is not None for problem in found.in_line_order()]
        warnings += _warnings(folder, reading)
        if reading.society is not None:
            societies.append(reading.society)
    return LintReport(problems=tuple(problems), warnings=tuple(warnings), societies=tuple(societies))


def _lint_corpus(folder: Path, reading: Reading) -> Findings | None:
    path = folder / "corpus.jsonl"
    if not path.exists():
        return None
    findings = findings_of(path)
    for _ in read_corpus(path, findings, reading.identity, reading.canary, reading.catalogue):
        pass
    return findings


def _lint_changes(folder: Path, reading: Reading) -> Findings:
    """CHANGES.md has a heading that names the test set's version."""
    findings = findings_of(folder / "CHANGES.md")
    content = read_text(folder / "CHANGES.md", findings)
    if content is None:
        return findings
    reading.canary.meet_text(content, findings)
    if reading.identity is not None:
        version = reading.identity.testset_version
        named = re.compile(rf"(?<![\w.-]){re.escape(version)}(?![\w-]|\.\w)")
        if not any(named.search(heading) for heading in _HEADING.findall(content)):
            findings.add(
                found=f"no entry for version {version}",
                expected="a heading that names the version in society.toml",
                remedy=f"Add a heading like '## {version} - 2026-01-31' and what changed, why.",
            )
    return findings


def _lint_sources(folder: Path, canary: Canary) -> Findings | None:
    path = folder / "SOURCES.md"
    if not path.exists():
        return None
    findings = findings_of(path)
    content = read_text(path, findings)
    if content is not None:
        canary.meet_text(content, findings)
    return findings


def _warnings(folder: Path, reading: Reading) -> list[Problem]:
    warnings = list(reading.canary.warnings)
    if not (folder / "SOURCES.md").exists():
        warnings.append(
            Problem(
                file=(folder / "SOURCES.md").as_posix(),
                found="no such file",
                expected="where each fact of the folder comes from, and how sure it is",
                remedy="Write it.",
            )
        )
    for terms in reading.society.terms if reading.society is not None else ():
        warnings += [
            Problem(
                file=(folder / "terms.toml").as_posix(),
                field=f"version {terms.version}, {floor.measure}",
                found="a tier that credits less than a tier above it",
                expected="credits that do not fall as the ratio falls",
                remedy="Check the tiers against the contract.",
            )
            for floor in terms.floors
            if _credits_fall(floor)
        ]
    return warnings


def _credits_fall(floor: Floor) -> bool:
    tiers = sorted(floor.tiers, key=lambda tier: Fraction(tier.below), reverse=True)
    credits = [Fraction(tier.credit_percent) for tier in tiers]
    return credits != sorted(credits)
