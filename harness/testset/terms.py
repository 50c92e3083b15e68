"""terms.toml: versions of the contract, each with its floors, checked whole (sla.md, Terms)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal

from harness.citation.model import FIELDS
from harness.citation.style import Style
from harness.testset.digest import digest
from harness.testset.fields import TABLE, TOML_DATE, YEAR, Place, Record, choice, decimal, list_of, whole
from harness.testset.floors import read_floors
from harness.testset.model import Terms
from harness.testset.source import Findings, read_toml

_KEYS: Final = (
    "version",
    "effective_from",
    "effective_to",
    "editions",
    "checks",
    "top_k",
    "max_tokens",
    "max_error_rate",
    "min_sample",
    "window",
    "max_missed_nights",
    "dispute_days",
    "floors",
)
_CHECKS: Final = list_of(
    choice(*FIELDS),
    f"a list of checks, none twice, one at least, of {', '.join(FIELDS)}",
    "Name checks of the list.",
    least=1,
)
_EDITIONS: Final = list_of(
    YEAR, "a list of years, none twice, empty for an undated standard", "Write it as [2022].", least=0
)
_SHARE: Final = decimal("from 0 to 1", lambda value: value <= 1)
_LARGE: Final = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TermsFile:
    """The versions in file order, each with the place of its keys, and the file's text."""

    versions: tuple[tuple[Terms, Place], ...]
    text: str

    @property
    def terms(self) -> tuple[Terms, ...]:
        return tuple(terms for terms, _ in self.versions)


def read_terms(path: Path, findings: Findings, style: Style | None) -> TermsFile | None:
    """terms.toml as values; what is wrong is noted, and a version with a defect is left out. None: no TOML file.

    Without a style the contracted editions are not compared with those it lists.
    """
    file = read_toml(path, findings)
    if file is None:
        return None
    root = Record(file.table, Place(findings=findings, lines=file.lines, line=1), ("terms",))
    read = [
        (terms, place)
        for table, place in root.tables("terms", required=True)
        if (terms := _read_version(table, place, style))
    ]
    _check_versions(read)
    return TermsFile(versions=tuple(read), text=file.text)


def terms_digest(table: Mapping[str, Any]) -> str:
    """SHA-256 over the canonical JSON of a version's table as written, without effective_to.

    So ending a version is no edit of it (sla.md); dates are ISO strings.
    """
    return digest(_json_ready({key: value for key, value in table.items() if key != "effective_to"}))


def _json_ready(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _json_ready(held) for key, held in value.items()}
    if isinstance(value, list):
        return [_json_ready(held) for held in value]
    return value.isoformat() if isinstance(value, date) else value


def _read_version(table: Mapping[str, Any], place: Place, style: Style | None) -> Terms | None:
    known = len(place.findings.problems)
    record = Record(table, place, _KEYS)
    version = record.need("version", whole(1, _LARGE))
    start = record.need("effective_from", TOML_DATE)
    end = record.optional("effective_to", TOML_DATE)
    editions = _read_editions(record, style)
    checks = record.take("checks", _CHECKS, FIELDS)
    top_k = record.take("top_k", whole(1, 1000), 5)
    max_tokens = record.take("max_tokens", whole(1, _LARGE), 1200)
    max_error_rate = record.take("max_error_rate", _SHARE, "0.02")
    min_sample = record.need("min_sample", whole(1, _LARGE))
    window = _read_window(record)
    missed = record.take("max_missed_nights", whole(0, 31), 3)
    dispute_days = record.take("dispute_days", whole(0, 3660), 30)
    floors = read_floors(record, checks=checks, window=window)
    if start is not None:
        _check_range(place, start, end, window)
    if len(place.findings.problems) > known or version is None or start is None or min_sample is None:
        return None
    return Terms(
        version=version,
        effective_from=start,
        effective_to=end,
        editions=editions,
        checks=tuple(name for name in FIELDS if name in checks),
        top_k=top_k,
        max_tokens=max_tokens,
        max_error_rate=max_error_rate,
        min_sample=min_sample,
        window=window,
        max_missed_nights=missed,
        dispute_days=dispute_days,
        floors=floors,
        sha256=terms_digest(table),
    )


def _read_window(record: Record) -> Literal["night", "calendar_month"]:
    window = record.take("window", choice("night", "calendar_month"), "night")
    return "calendar_month" if window == "calendar_month" else "night"


def _read_editions(record: Record, style: Style | None) -> dict[str, tuple[int, ...]]:
    table = record.need("editions", TABLE)
    if table is None:
        return {}
    place = record.place.below("editions")
    if not table:
        place.note(found="no standard", expected="the contracted standards", remedy='Write it as { "B31.3" = [2022] }.')
    inner = Record(table, place, table)
    editions: dict[str, tuple[int, ...]] = {}
    for standard in table:
        years = inner.need(standard, _EDITIONS)
        editions[standard] = years or ()
        known = None if style is None else style.standards.get(standard)
        if style is not None and known is None:
            place.note(
                standard,
                found=f"{standard!r}, which the style does not list",
                expected=f"one of {', '.join(style.standards)}",
                remedy="Add it to society.toml or correct the name.",
            )
        for year in years or () if known is not None else ():
            if known is not None and year not in known.editions:
                place.note(
                    standard,
                    found=f"{year}, which the style does not list",
                    expected=f"one of {', '.join(map(str, known.editions)) or 'no edition'}",
                    remedy="Add it to society.toml or correct the year.",
                )
    return editions


def _check_range(place: Place, start: date, end: date | None, window: str) -> None:
    if end is not None and end < start:
        place.note(
            "effective_to",
            found=str(end),
            expected=f"a date not before effective_from, {start}",
            remedy="Correct one of the two.",
        )
    if window == "calendar_month" and start.day != 1:
        place.note(
            "effective_from",
            found=str(start),
            expected="the 1st of a month, because the window is a month",
            remedy="Start the version on the 1st.",
        )


def _check_versions(read: list[tuple[Terms, Place]]) -> None:
    """No version number twice, no night in two versions, and a version after month windows starts on the 1st."""
    numbers: set[int] = set()
    for terms, place in read:
        if terms.version in numbers:
            place.note(
                "version", found=f"{terms.version} again", expected="each version once", remedy="Number it anew."
            )
        numbers.add(terms.version)
    ordered = sorted(read, key=lambda row: row[0].effective_from)
    for (before, _), (after, place) in pairwise(ordered):
        if before.effective_to is None or after.effective_from <= before.effective_to:
            until = "without an end" if before.effective_to is None else f"until {before.effective_to}"
            place.note(
                "effective_from",
                found=str(after.effective_from),
                expected=f"a night that version {before.version} leaves free, from {before.effective_from} {until}",
                remedy=f"End version {before.version} the night before, or start this one later.",
            )
        elif before.window == "calendar_month" and after.window == "night" and after.effective_from.day != 1:
            place.note(
                "effective_from",
                found=str(after.effective_from),
                expected=f"the 1st of a month, because version {before.version} has month windows",
                remedy="Start the version on the 1st.",
            )
