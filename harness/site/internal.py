"""The internal report of a society's night: held-out text for the platform engineer, never part of the site."""

import json
import os
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TextIO
from urllib.parse import quote

from markupsafe import Markup

from harness.site.contrast import Contrasted, Segment, contrast, plain
from harness.site.eval_json import HEADLINE
from harness.site.model import EvalResult
from harness.site.render import generate, static_file
from harness.site.text import Chip, visible
from harness.site.words import CITATION_FAULTS, GATEWAY_FAULTS, OUTCOMES, day_text, status_words

MOST_CALLS: Final = 500
"""Calls, and flips of one direction, listed at most: beyond that the count says how many there are."""

LONGEST_QUERY: Final = 1_000

_ESCAPES: Final = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
"""Inside a string of JSON each is the same character, and no parser of HTML can take it for the end of the block."""

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

_PLAIN, _BRACKET, _IDENTIFIER, _SECTION = range(4)
"""The parts of a citation, as internal.js names them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """A citation's string, with its chip where the style parses it; or, where the field held something else, that
    value as JSON."""

    text: str = field(repr=False)
    chip: Chip | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCheck:
    """A contracted check that is false: both values as JSON; `found` None where the passage lacks the field."""

    name: str
    expected: str = field(repr=False)
    found: str | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """An item's last call. `endings` is how each attempt known of ended, in order; the transcript is number `place`
    (from 0) of the segment `file`. Latency is the last attempt's, in whole milliseconds."""

    item: str
    endings: tuple[str, ...]
    latency_ms: int
    attempts: int
    ledger_entry_id: str | None
    file: Path
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedExpectation:
    """An expectation that was not correct. `gold` is what it was compared with, then its other alternatives;
    `returned` None: no passage was aligned (`rank` None), or that passage has no citation. `shapes` are its diagnosis,
    or why there was no answer. `call` None: never asked."""

    item: str
    expectation: int
    query: str = field(repr=False)
    gold: tuple[Quoted, ...] = field(repr=False)
    returned: Quoted | None = field(repr=False)
    checks: tuple[FailedCheck, ...]
    outcome: str
    shapes: tuple[str, ...]
    standard: str
    kind: str
    rank: int | None
    call: Call | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips:
    """What changed since the previous official night (None: there is none). `refusal` says why the two cannot be
    compared; else `better` and `worse` are (item, expectation) and `p` is McNemar's, a decimal string."""

    night: str | None = None
    refusal: str = ""
    compared: int = 0
    unmeasured: int = 0
    better: tuple[tuple[str, int], ...] = ()
    worse: tuple[tuple[str, int], ...] = ()
    p: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalReport:
    """What a report says besides its rows. `gateway` is the gateway's address, None where it is not known; `retried`
    are at most `MOST_CALLS` of `retried_count`."""

    result: EvalResult
    flips: Flips
    slowest: Sequence[Call]
    retried: Sequence[Call]
    retried_count: int
    gateway: str | None


def write_report(target: Path, report: InternalReport, rows: Iterable[FailedExpectation]) -> None:
    """Write the report, whole or not at all, readable by its owner only; `rows` are streamed, never held.

    Two writers of one target must exclude each other (the night's lock does). Raises OSError.
    """
    _make_private(target.parent)
    with _replacing(target) as file:
        file.writelines(_pieces(target.parent, report, rows))


def ledger_link(gateway: str | None, entry: str | None) -> str | None:
    """The address of the gateway's own record of a call; None where that is not known, not HTTP, or not to be trusted
    with a path: an id that is shown other than it is would lead elsewhere."""
    if entry is None or visible(entry) != entry or not _is_http(gateway):
        return None
    return f"{gateway}/api/v1/calls/{quote(entry, safe='')}"


def _is_http(address: str | None) -> bool:
    return address is not None and address.startswith(("https://", "http://"))


def _pieces(folder: Path, report: InternalReport, rows: Iterable[FailedExpectation]) -> Iterator[str]:
    """The page in pieces, each made when the one before is written."""
    result = report.result
    style = static_file("style.css").decode() + static_file("internal.css").decode()
    script = static_file("internal.js").decode()
    tables = _Tables(folder, report)
    headline = next(each for each in result.measures if each.name == HEADLINE and each.stratum is None)
    return generate(
        "internal.html.j2",
        policy="; ".join(
            (
                "default-src 'none'",
                f"style-src '{_digest(style)}'",
                f"script-src '{_digest(script)}'",
                "base-uri 'none'",
                "form-action 'none'",
            )
        ),
        style=Markup(style),  # noqa: S704 - our own files
        script=Markup(script),  # noqa: S704
        report=report,
        result=result,
        headline=headline,
        day=day_text(result.night),
        words=status_words(result.status),
        outcomes=[(name, word, says, getattr(result.outcomes, name)) for name, word, says in OUTCOMES],
        wrong=result.outcomes.planned - result.outcomes.correct,
        citation_faults=_counted(result.citation_faults, CITATION_FAULTS),
        gateway_faults=_counted(result.gateway_faults, GATEWAY_FAULTS),
        most=MOST_CALLS,
        transcript=tables.transcript,
        ledger_link=lambda entry: ledger_link(report.gateway, entry),
        rows=_lines(rows, tables),
        tables=tables.json,
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _counted(counts: Mapping[str, int], meanings: Mapping[str, str]) -> list[tuple[str, str, int]]:
    """(name, what it means, count), largest first."""
    ordered = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return [(visible(name), meanings.get(name.rpartition(": ")[2], ""), count) for name, count in ordered]


class _Tables:
    """Texts that many rows share, each written once: a row holds their numbers."""

    def __init__(self, folder: Path, report: InternalReport) -> None:
        self._folder = folder
        self._report = report
        self._texts: dict[str, dict[str, int]] = {}
        self._hrefs: dict[Path, str] = {}

    def number(self, table: str, text: str) -> int:
        """The number of a text in a table."""
        texts = self._texts.setdefault(table, {})
        return texts.setdefault(text, len(texts))

    def transcript(self, call: Call) -> str:
        """The address of a call's segment, relative to the report."""
        href = self._hrefs.get(call.file)
        if href is None:
            href = quote(Path(os.path.relpath(call.file, self._folder)).as_posix())
            self._hrefs[call.file] = href
        return href

    def json(self) -> Markup:
        """The tables; complete once every row has been written."""
        names = ("outcomes", "shapes", "standards", "kinds", "segments")
        result = self._report.result
        return _json(
            {name: list(self._texts.get(name, ())) for name in names}
            | {
                "run": result.run_id,
                "society": result.slug,
                "gateway": self._report.gateway if _is_http(self._report.gateway) else None,
            }
        )


def _json(value: Any) -> Markup:
    """Compact JSON that is safe inside a script element."""
    return Markup(_ENCODER.encode(value).translate(_ESCAPES))  # noqa: S704 - nothing that HTML could read is left in it


def _lines(rows: Iterable[FailedExpectation], tables: _Tables) -> Iterator[Markup]:
    """One line of JSON a row, as elements of one array."""
    between = ""
    for row in rows:
        yield Markup(between) + _json(_cells(row, tables))  # noqa: S704
        between = ",\n"


def _cells(row: FailedExpectation, tables: _Tables) -> list[Any]:
    """A row in the order that internal.js reads it in."""
    call = row.call
    gold, *others = row.gold
    wanted, given = contrast(gold.text, "" if row.returned is None else row.returned.text)
    return [
        visible(row.item),
        row.expectation,
        visible(row.query, LONGEST_QUERY),
        [
            _parts(gold, plain(gold.text) if row.returned is None else wanted),
            *(_parts(other, plain(other.text)) for other in others),
        ],
        None if row.returned is None else _parts(row.returned, given),
        [_check(each) for each in row.checks],
        tables.number("outcomes", row.outcome),
        [tables.number("shapes", visible(shape)) for shape in row.shapes],
        tables.number("standards", visible(row.standard)),
        tables.number("kinds", visible(row.kind)),
        row.rank,
        *(
            (None, 0, None, 0, "")
            if call is None
            else (
                call.latency_ms,
                call.attempts,
                tables.number("segments", tables.transcript(call)),
                call.place,
                visible(call.ledger_entry_id or ""),
            )
        ),
    ]


def _check(check: FailedCheck) -> list[Any]:
    """Name and both values; the values of the string stand in the row's own cells."""
    if check.name == "citation":
        return [check.name]
    if check.found is None:
        return [check.name, _alternating(plain(check.expected)), None]
    expected, found = contrast(check.expected, check.found)
    return [check.name, _alternating(expected), _alternating(found)]


def _alternating(segments: Contrasted) -> list[str]:
    """Texts to show, by turns as they are and marked; the first is not marked."""
    texts: list[str] = []
    for text, differs in segments:
        if len(texts) % 2 is not int(differs):
            texts.append("")
        texts.append(visible(text))
    return texts


def _parts(quoted: Quoted, segments: Contrasted) -> list[list[Any]]:
    """The string in parts, each with its role and its alternating texts; without a chip it is one plain part."""
    chip = quoted.chip
    if chip is None:
        return [[_PLAIN, *_alternating(segments)]]
    roles = (
        (_BRACKET, 1), (_IDENTIFIER, len(chip.identifier)), (_PLAIN, 1), (_SECTION, len(chip.section)), (_BRACKET, 1)
    )  # fmt: skip
    pending, parts = list(segments), []
    for role, length in roles:
        taken, pending = _taken(pending, length)
        parts.append([role, *_alternating(taken)])
    return parts


def _taken(segments: Sequence[Segment], length: int) -> tuple[Contrasted, list[Segment]]:
    """The first `length` characters of the segments, and the rest of them."""
    taken, rest = [], []
    for text, differs in segments:
        head, tail = text[:length], text[length:]
        length -= len(head)
        if head:
            taken.append(Segment(head, differs))
        if tail:
            rest.append(Segment(tail, differs))
    return tuple(taken), rest


def _make_private(folder: Path) -> None:
    """Make the night's folder and the one of all nights, for the owner only where they are new. Raises OSError."""
    folder.parent.parent.mkdir(parents=True, exist_ok=True)
    for each in (folder.parent, folder):
        each.mkdir(mode=0o700, exist_ok=True)


@contextmanager
def _replacing(target: Path) -> Iterator[TextIO]:
    """A file that takes the target's place when it is whole and durable; what a kill left of another is written over.

    Lone surrogates, which have no UTF-8, are spelled out.
    """
    draft = target.with_name(f".{target.name}.new")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    opened = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
