"""Nights that are over and owe the ledger something."""

from datetime import date

from sqlalchemy import Engine

from harness.nightly.results import official_part
from harness.sla.windows import night_window, subject_of
from harness.store.ledger import iter_events
from harness.store.runs import Run, RunSociety, find_runs, run_societies
from harness.store.scores import latest_revision, load_assessments


def unsettled_nights(engine: Engine, before: str) -> list[str]:
    """Nights before that one, oldest first, with an open run, or whose official part of some society under terms is not
    scored, not assessed or without a settlement for one of its floors."""
    settled = {event.subject for event in iter_events(engine)}
    owing: dict[str, None] = {}
    for run in find_runs(engine):
        if run.night < before and (run.state == "open" or _owes(engine, run, settled)):
            owing[run.night] = None
    return list(owing)


def _owes(engine: Engine, run: Run, settled: set[str]) -> bool:
    window = night_window(date.fromisoformat(run.night))
    for part in run_societies(engine, run.run_id):
        if part.window != "night" or official_part(engine, run.night, part.slug) != (run, part):
            continue
        measures = _assessed(engine, run, part)
        if not measures or any(subject_of(part.slug, measure, window) not in settled for measure in measures):
            return True
    return False


def _assessed(engine: Engine, run: Run, part: RunSociety) -> list[str]:
    revision = latest_revision(engine, run.run_id, part.slug)
    return [] if revision is None else [each.floor.measure for each in load_assessments(engine, revision.key)]
