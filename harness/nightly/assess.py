"""Assess: stored numbers against the floors in force that night."""

from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from pathlib import Path

from sqlalchemy import Engine

from harness.errors import Problem
from harness.nightly.results import HEADLINE, ScoredSociety, whole
from harness.scoring.model import Measure, Outcomes
from harness.sla.assess import assess
from harness.sla.model import Assessment, Counted
from harness.sla.terms import Usage, frozen_faults
from harness.store.published import call_totals
from harness.store.runs import nights_without_terms
from harness.store.scores import load_measures, save_assessments
from harness.store.terms import used_terms
from harness.testset.model import Society


def assess_society(engine: Engine, scored: ScoredSociety, assessed_at: str) -> list[Assessment]:
    """Assess every floor of a revision and store it; a society without terms in force has none."""
    terms = scored.plan.terms
    if terms is None:
        return []
    measures = load_measures(engine, scored.revision.key)
    sent = call_totals(engine, scored.run.run_id, scored.part.slug).attempts
    assessments = [assess(terms, floor, counted_of(measures, floor.measure, sent)) for floor in terms.floors]
    save_assessments(engine, scored.revision.key, assessments, assessed_at)
    return assessments


def frozen_terms_problems(engine: Engine, society: Society, file: Path) -> list[Problem]:
    """What the society's terms change of versions that earlier nights have used."""
    used = [
        Usage(version=each.version, sha256=each.sha256, last_night=date.fromisoformat(each.last_night))
        for each in used_terms(engine, society.slug)
    ]
    return [
        Problem(
            file=file.as_posix(),
            field=f"terms[version {fault.version}].{fault.field}",
            found=fault.found,
            expected=fault.expected,
            remedy=fault.remedy,
        )
        for fault in frozen_faults(used, society.terms, nights_without_terms(engine, society.slug))
    ]


def counted_of(measures: Sequence[Measure], name: str, calls_sent: int) -> Counted:
    """The counts that a floor on that measure is decided from: floors name count measures only, whose sum of good is a
    whole number."""
    measure = whole(measures, name)
    outcomes = whole(measures, HEADLINE).outcomes or Outcomes()
    good = Fraction(measure.good)
    if good.denominator != 1:
        raise ValueError(f"{measure.name} is no count measure: {good}")
    return Counted(good=good.numerator, valid=measure.valid, outcomes=outcomes, calls_sent=calls_sent)
