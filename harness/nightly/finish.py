"""The stages after asking, for what is complete of a night: score, assess, publish, emit."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Literal

from harness.clock import utc_text
from harness.errors import PublishRefused, StoreError, UsageError
from harness.nightly.assess import assess_society
from harness.nightly.emit import Cited, close_clocks, emit_society
from harness.nightly.internal import ReportSource, write_internal
from harness.nightly.publish import cite_unpublished, publish_societies
from harness.nightly.sitting import close_passed_run
from harness.nightly.stages import Stages, canaries_of, results_of, score_night
from harness.site.model import EvalResult
from harness.store.runs import find_runs

Stage = Literal["score", "assess", "publish", "emit"]


def finish_night(stages: Stages, night: date, through: Stage = "emit") -> tuple[EvalResult, ...]:
    """Do the stages after asking, up to and including the named one, for what is complete of the night.

    Each stage is done once; doing it again changes nothing. A run that is still open when the night's window is over is
    completed first. The results are empty where only scoring was asked for. Raises UsageError where nothing of the
    night is complete, PublishRefused when publishing was refused: settlements are written all the same. A ledger that
    takes no event (StoreError) is told when the rest is done: the next nightly settles what it then can. The internal
    reports come last, whatever was refused; one that cannot be written is kept in `stages.internal.failures`.
    """
    behind = closed_clocks(stages) if through == "emit" else None  # a clock that ran out waits for no publishing
    _close_passed_runs(stages, night)
    runs = [run for run in find_runs(stages.place.engine, night.isoformat()) if run.state == "complete"]
    if not runs:
        raise UsageError(f"night {night}: no complete run in this database; collect it first")
    scored = score_night(stages, runs)
    if through == "score":
        return ()
    for each in scored:
        assess_society(stages.place.engine, each, utc_text(stages.place.clock.now()))
    results = results_of(stages, scored)
    if through == "assess":
        return tuple(results)
    cited, refused = cite(stages, results, canaries_of(scored))
    if through == "emit" and behind is None:
        for each, result in zip(scored, results, strict=True):
            if (citing := cited.get((result.slug, result.revision))) is not None:
                emit_society(stages.emitter, each, result, citing)
    place = stages.place
    source = ReportSource(engine=place.engine, blobs=place.blobs, decode=stages.decode)
    for each, result in zip(scored, results, strict=True):
        write_internal(source, stages.internal, each, result)
    if behind is not None:
        raise behind
    if refused is not None:
        raise refused
    return tuple(results)


def closed_clocks(stages: Stages) -> StoreError | None:
    """Close what time has closed; why the ledger takes no event, where it takes none: it is behind its journal, or the
    journal is broken or on a volume that is gone."""
    try:
        close_clocks(stages.emitter)
        stages.emitter.ledger.journalled()
    except StoreError as error:
        return error
    return None


def cite(
    stages: Stages, results: Sequence[EvalResult], canaries: Sequence[str]
) -> tuple[Mapping[tuple[str, int], Cited], PublishRefused | None]:
    """Publish, and what events cite of it; where publishing is refused, what they cite of tables made aside."""
    try:
        return publish_societies(stages.site, results, canaries), None
    except PublishRefused as error:
        return cite_unpublished(stages.site, results), error


def _close_passed_runs(stages: Stages, night: date) -> None:
    place = stages.place
    _, closes = place.window.bounds(night)
    if place.clock.now() >= closes:
        for run in find_runs(place.engine, night.isoformat()):
            if run.state == "open":
                close_passed_run(place, run)
