"""One item of a run as lines for the terminal; control characters that came from outside are printed escaped."""

import json
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, Final

from harness.citation.model import FIELDS
from harness.nightly.inspect import Inspected, InspectedCall
from harness.nightly.internal import Seen, failed_checks, gold_of, returned_citation
from harness.scoring.model import Outcome
from harness.site.contrast import Contrasted, Segment, contrast, plain

_LONGEST: Final = 400

_COLUMNS: Final = 60
"""A contrasted text is broken after so many, so that no terminal breaks it and parts it from its marks."""

_LABEL: Final = 22


def item_lines(inspected: Inspected) -> Iterator[str]:
    """Query, gold, each expectation with checks and diagnosis, the passages, the calls."""
    item = inspected.item
    yield f"{inspected.slug}/{item.id} in run {inspected.run.run_id}"
    yield f"query: {escaped(item.query)}"
    for number, alternatives in enumerate(item.expectations, start=1):
        for gold in alternatives:
            year = "undated" if gold.edition_year is None else str(gold.edition_year)
            yield f"expectation {number}: {gold.citation} {year} path {'/'.join(gold.section_path)}"
        if inspected.seen:
            yield from _ended(inspected.seen[number - 1], inspected.checks)
        if number in inspected.diagnoses:
            yield f"  diagnosis: {inspected.diagnoses[number]}"
    for rank, passage in enumerate(inspected.passages, start=1):
        yield f"passage {rank}: {_fields(passage)}"
    if not inspected.calls:
        yield "calls: none was stored"
    for call in inspected.calls:
        yield from _call(call)


def escaped(text: str) -> str:
    """The text with everything that a terminal could obey or hide written as an escape; long ones are cut."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:_LONGEST])
    return shown if len(text) <= _LONGEST else f"{shown}… ({len(text)} characters)"


def contrasted(label: str, segments: Contrasted) -> Iterator[str]:
    """The label and the text behind it, and carets under the characters that differ where some do."""
    rows = [("", "")]
    for character, differs in ((character, segment.differs) for segment in segments for character in segment.text):
        shown, columns = _cell(character)
        text, marks = rows[-1]
        if len(marks) + columns > _COLUMNS:
            rows.append(("", ""))
            text, marks = rows[-1]
        rows[-1] = (text + shown, marks + ("^" if differs else " ") * columns)
    for number, (text, marks) in enumerate(rows):
        yield f"{label if number == 0 else '':{_LABEL}}{text}".rstrip()
        if marks.strip():
            yield f"{'':{_LABEL}}{marks.rstrip()}"


def _cell(character: str) -> tuple[str, int]:
    """The character as it is shown, and how many columns that takes. One that would sit on its neighbour, and could
    have no mark of its own, is escaped."""
    if not character.isprintable() or unicodedata.category(character).startswith("M"):
        shown = character.encode("unicode_escape").decode()
        return shown, len(shown)
    return character, 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _ended(seen: Seen, checks: tuple[str, ...]) -> Iterator[str]:
    """How an expectation ended; where it was not correct, gold and returned under each other, then each false check."""
    ended = seen.ended
    failed = [name for name, true in zip(checks, ended.checks, strict=True) if not true]
    place = "not aligned" if ended.rank is None else f"passage {ended.rank}"
    yield f"  {ended.outcome}, {place}" + (f", failed checks: {', '.join(failed)}" if failed else "")
    if ended.outcome is Outcome.CORRECT:
        return
    gold, returned = gold_of(seen, checks)[0].citation, returned_citation(seen)
    if returned is None:
        yield from contrasted("  gold", plain(gold))
        yield from contrasted("  returned", _words("nothing" if seen.passage is None else "no citation"))
    else:
        yield from _both("  gold", gold, "  returned", returned)
    for check in failed_checks(seen, checks):
        if check.name == "citation":
            continue
        yield f"  {check.name}"
        if check.found is None:
            yield from contrasted("    expected", plain(check.expected))
            yield from contrasted("    found", _words("no such field"))
        else:
            yield from _both("    expected", check.expected, "    found", check.found)


def _both(label: str, one: str, other_label: str, other: str) -> Iterator[str]:
    first, second = contrast(one, other)
    yield from contrasted(label, first)
    yield from contrasted(other_label, second)


def _words(text: str) -> Contrasted:
    return (Segment(f"({text})", False),)


def _call(call: InspectedCall) -> Iterator[str]:
    row, answer = call.row, call.transcript.answer
    ended_as = "usable" if answer.reason is None else f"{answer.reason}"
    tries = f"{row.attempts} attempt{'' if row.attempts == 1 else 's'}"
    yield f"call asked {row.asked_at}, answered {row.answered_at}: {ended_as}, {row.latency_ms} ms, {tries}"
    for attempt in answer.attempts:
        status = "no response" if attempt.http_status is None else f"HTTP {attempt.http_status}"
        ledger = escaped(attempt.ledger_entry_id or "no ledger entry")
        yield f"  attempt: {status}, {attempt.elapsed_ms} ms, {attempt.reason or 'usable'}, {ledger}"
    yield f"  ledger entry: {call.ledger_url or escaped(row.ledger_entry_id or 'none')}"
    yield f"  transcript: {call.segment}, place {row.place}"
    yield f"  body: {len(answer.raw)} bytes: {escaped(answer.raw.decode('utf-8', 'backslashreplace'))}"


def _fields(passage: Mapping[str, Any]) -> str:
    return " ".join(
        f"{name}={escaped(json.dumps(passage[name], ensure_ascii=False, default=str))}"
        for name in FIELDS
        if name in passage
    )
