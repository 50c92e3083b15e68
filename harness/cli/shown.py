"""One item of a run as lines for the terminal; control characters that came from outside are printed escaped."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from harness.citation.model import FIELDS
from harness.nightly.inspect import Inspected

_LONGEST: Final = 400


def item_lines(inspected: Inspected) -> Iterator[str]:
    """Query, gold, each expectation with checks and diagnosis, the passages, the calls."""
    item, score = inspected.item, inspected.score
    yield f"{inspected.slug}/{item.id} in run {inspected.run.run_id}"
    yield f"query: {escaped(item.query)}"
    for number, alternatives in enumerate(item.expectations, start=1):
        for gold in alternatives:
            year = "undated" if gold.edition_year is None else str(gold.edition_year)
            yield f"expectation {number}: {gold.citation} {year} path {'/'.join(gold.section_path)}"
        if score is not None:
            ended = score.expectations[number - 1]
            failed = [name for name, true in zip(inspected.checks, ended.checks, strict=False) if not true]
            place = "not aligned" if ended.rank is None else f"passage {ended.rank}"
            yield f"  {ended.outcome}, {place}" + (f", failed checks: {', '.join(failed)}" if failed else "")
        if number in inspected.diagnoses:
            yield f"  diagnosis: {inspected.diagnoses[number]}"
    for rank, passage in enumerate(inspected.passages, start=1):
        yield f"passage {rank}: {_fields(passage)}"
    if not inspected.transcripts:
        yield "calls: none was stored"
    for transcript in inspected.transcripts:
        answer = transcript.answer
        ended_as = "usable" if answer.reason is None else f"{answer.reason}"
        yield f"call asked {transcript.asked_at}, answered {transcript.answered_at}: {ended_as}"
        for attempt in answer.attempts:
            status = "no response" if attempt.http_status is None else f"HTTP {attempt.http_status}"
            ledger = escaped(attempt.ledger_entry_id or "no ledger entry")
            yield f"  attempt: {status}, {attempt.elapsed_ms} ms, {attempt.reason or 'usable'}, {ledger}"
        yield f"  body: {len(answer.raw)} bytes: {escaped(answer.raw.decode('utf-8', 'backslashreplace'))}"


def escaped(text: str) -> str:
    """The text with everything that a terminal could obey or hide written as an escape; long ones are cut."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:_LONGEST])
    return shown if len(text) <= _LONGEST else f"{shown}… ({len(text)} characters)"


def _fields(passage: Mapping[str, Any]) -> str:
    return " ".join(
        f"{name}={escaped(json.dumps(passage[name], ensure_ascii=False, default=str))}"
        for name in FIELDS
        if name in passage
    )
