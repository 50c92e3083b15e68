"""Which official runs of a night another run may take the place of (sla.md, Assessment)."""

from collections.abc import Sequence
from datetime import date
from typing import Final

from sqlalchemy import Engine

from harness.errors import UsageError
from harness.nightly.official import official_part
from harness.nightly.sitting import Superseding
from harness.sla.assess import worst
from harness.sla.evaluation import ReasonCode
from harness.sla.model import Status
from harness.store.scores import latest_revision, load_assessments

SUPERSEDE_REASONS: Final[tuple[ReasonCode, ...]] = ("harness_fault", "night_resumed")


def supersedable(engine: Engine, night: date, slugs: Sequence[str], reason: ReasonCode) -> Superseding:
    """The official runs of these societies whose status is insufficient_data.

    Raises UsageError where there is none: what was measured is never measured again.
    """
    label = night.isoformat()
    runs = {}
    for slug in slugs:
        official = official_part(engine, label, slug)
        if official is None:
            continue
        run, _ = official
        revision = latest_revision(engine, run.run_id, slug)
        statuses = [] if revision is None else [each.status for each in load_assessments(engine, revision.key)]
        if worst(statuses) is Status.INSUFFICIENT_DATA:
            runs[slug] = run.run_id
    if not runs:
        raise UsageError(
            f"night {night}: no society's official run is insufficient_data ({', '.join(slugs)}); "
            "only such a run may be superseded. Leave out --supersede."
        )
    return Superseding(reason=reason, runs=runs)
