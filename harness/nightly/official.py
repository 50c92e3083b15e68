"""Which run of a night counts: the first complete one that has the society, unless another supersedes it (sla.md)."""

from typing import cast

from sqlalchemy import Engine

from harness.sla.evaluation import ReasonCode
from harness.store.runs import Run, RunSociety, find_runs, find_supersessions, run_societies
from harness.store.scores import Revision


def official_part(engine: Engine, night: str, slug: str) -> tuple[Run, RunSociety] | None:
    """The society's part of the official run of a night; None where no complete run has it."""
    superseded = superseded_parts(engine, night)
    for run in find_runs(engine, night):
        if run.state == "complete" and (run.run_id, slug) not in superseded:
            for part in run_societies(engine, run.run_id):
                if part.slug == slug:
                    return run, part
    return None


def superseded_parts(engine: Engine, night: str) -> set[tuple[str, str]]:
    """(run id, society slug) of what complete runs of the night have taken the place of."""
    complete = {run.run_id for run in find_runs(engine, night) if run.state == "complete"}
    return {(each.run_id, each.slug) for each in find_supersessions(engine, night) if each.by_run_id in complete}


def reason_of(engine: Engine, run: Run, revision: Revision) -> ReasonCode | None:
    """Why these numbers stand where others stood: the reason of the rescore, or of the run that superseded another."""
    if revision.reason is not None:
        return cast(ReasonCode, revision.reason)
    for each in find_supersessions(engine, run.night):
        if (each.by_run_id, each.slug) == (run.run_id, revision.slug):
            return cast(ReasonCode, each.reason)
    return None
