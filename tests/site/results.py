"""A factory of results: one line says what a society's night came to, scores and measures follow from it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from typing import Any, Final

from harness.citation.model import FIELDS, Citation
from harness.claims.part import ClaimPart, Source
from harness.scoring.decimals import format_ratio
from harness.scoring.measures import Tally
from harness.scoring.model import ExpectationScore, ItemScore, Measure, Outcome, PassageScore
from harness.site.eval_json import EvalDocument, document_of, places_of
from harness.site.model import Calls, EvalResult, ItemRow, Latency, Previous
from harness.sla.model import Assessment, Counted, Status
from harness.testset.model import Floor, Tier

LETTERS: Final = {
    "c": Outcome.CORRECT,
    "i": Outcome.INCORRECT,
    "m": Outcome.MISSING,
    "g": Outcome.GATEWAY_ERROR,
    "h": Outcome.HARNESS_ERROR,
}

NAMES: Final = {
    "asme": ("ASME", "American Society of Mechanical Engineers", "B31.3", 2022, "[ASME B31.3 §304.1.2]", "§304.1.2"),
    "sae": ("SAE", "SAE International", "J1939-21", 2024, "[SAE J1939-21:2024 §5.2]", "§5.2"),
    "nfpa": ("NFPA", "National Fire Protection Association", "70", 2023, "[NFPA 70 art. 250]", "art. 250"),
    "aci": ("ACI", "American Concrete Institute", "318", 2019, "[ACI 318-19 §22.5]", "§22.5"),
    "awwa": ("AWWA", "American Water Works Association", "C900", 2022, "[AWWA C900-22 §4.3]", "§4.3"),
    "icc": ("ICC", "International Code Council", "IBC", 2024, "[ICC IBC 2024 §1604.5]", "§1604.5"),
    "asce": ("ASCE", "American Society of Civil Engineers", "7-22", 2022, "[ASCE 7-22 §26.10]", "§26.10"),
}

KINDS: Final = ("section", "section", "section", "table", "figure")


@dataclass(frozen=True, kw_only=True)
class Night:
    """One society's night in short. `outcomes`: a letter per item, each with one expectation; `floor` None: no terms.

    `clusters`: items are dealt round to so many; 0 gives each its own. `weights` are dealt round too.
    """

    outcomes: str = "c" * 57 + "iim"
    slug: str = "asme"
    night: str = "2026-11-29"
    revision: int = 1
    floor: str | None = "0.95"
    rule: str = "point"
    clusters: int = 0
    weights: tuple[str, ...] = ("1",)
    min_sample: int = 20
    previous: Previous | None = None
    checks: tuple[str, ...] = FIELDS


def result(night: Night | None = None, **changes: Any) -> EvalResult:
    """The result of that night; `changes` replace fields of the result afterwards."""
    told = night or Night()
    society, name, standard, year, citation, section = NAMES[told.slug]
    rows = tuple(sorted(_rows(told, standard), key=lambda row: row.item_hash))
    tally = Tally(told.checks)
    for row in rows:
        tally.add(row.score)
    outcomes = tally.outcomes
    sent = sum(letter != "h" for letter in told.outcomes)
    assessments = _assessments(told, tally, sent)
    example = Citation(
        society=society,
        standard=standard,
        section=section,
        edition_year=year,
        section_path=tuple(section.strip("§").split(".")),
        citation=citation,
    )

    def stream() -> Iterator[ItemRow]:
        return iter(rows)

    made = EvalResult(
        society=society,
        slug=told.slug,
        name=name,
        style_format="[{society} {standard} {section}]",
        examples=(example,),
        night=told.night,
        revision=told.revision,
        reason=None if told.revision == 1 else "gold_corrected",
        scored_at=f"{told.night}T02:19:45.000000Z",
        official=True,
        status=assessments[0].status if assessments else Status.NO_FLOOR,
        assessments=assessments,
        window="night",
        measures=tally.measures(),
        outcomes=outcomes,
        checks=told.checks,
        top_k=5,
        gateway_faults={"http_5xx": outcomes.gateway_error} if outcomes.gateway_error else {},
        citation_faults={"section:sibling": outcomes.incorrect} if outcomes.incorrect else {},
        latency=Latency(p50=41, p95=163, max=902) if sent else Latency(p50=None, p95=None, max=None),
        calls=Calls(asked=sent, retried=2 * outcomes.gateway_error, billed=sent, tokens_returned=sent * 640),
        testset_version="2026.11",
        testset_sha256=sha256(told.slug.encode()).hexdigest(),
        terms_version=3,
        items=len(rows),
        clusters=len({row.cluster_hash or row.item_hash for row in rows}),
        editions={standard: (year,)},
        scorer_version=1,
        harness_version="0.1.0",
        transport="rest",
        gateway_version="reference 0.1.0",
        run_id=f"{told.night}-{told.slug}-1",
        started_at=f"{told.night}T02:17:00.000000Z",
        finished_at=f"{told.night}T02:19:30.000000Z",
        first_answer_at=f"{told.night}T02:17:01.250000Z" if sent else None,
        last_answer_at=f"{told.night}T02:19:29.750000Z" if sent else None,
        previous=told.previous,
        warnings=(),
        contact="evaluation@citehouse.example",
        demo=False,
        rows=stream,
    )
    return replace(made, **changes)


def _rows(told: Night, standard: str) -> Iterator[ItemRow]:
    for number, letter in enumerate(told.outcomes):
        outcome = LETTERS[letter]
        usable = outcome not in (Outcome.GATEWAY_ERROR, Outcome.HARNESS_ERROR)
        cluster = f"c{number % told.clusters}" if told.clusters else None
        kind = KINDS[number % len(KINDS)]
        aligned = outcome in (Outcome.CORRECT, Outcome.INCORRECT)
        checks = tuple(aligned and (outcome is Outcome.CORRECT or name != "citation") for name in told.checks)
        rank = number % 3 + 1 if aligned else None
        if outcome is Outcome.HARNESS_ERROR:
            recall = reciprocal = None
        else:
            recall = Fraction(int(aligned))
            reciprocal = Fraction(1, rank) if rank else Fraction(0)
        score = ItemScore(
            item=f"item-{number}",
            status="ok" if usable else "gateway_error" if outcome is Outcome.GATEWAY_ERROR else "harness_error",
            cluster=cluster,
            weight=told.weights[number % len(told.weights)],
            standard=standard,
            kind=kind,
            recall=recall,
            reciprocal_rank=reciprocal,
            expectations=(
                ExpectationScore(
                    expectation=1,
                    outcome=outcome,
                    checks=checks,
                    rank=rank,
                    retrieved=aligned,
                    standard=standard,
                    kind=kind,
                ),
            ),
            passages=tuple(
                PassageScore(rank=rank, edition_compliant=number % 7 != 0, consistent=True, in_catalogue=None)
                for rank in range(1, 4)
            )
            if usable
            else (),
        )
        yield ItemRow(
            item_hash=sha256(f"{told.slug}{number}".encode()).hexdigest()[:16],
            cluster_hash=None if cluster is None else sha256(f"{told.slug}{cluster}".encode()).hexdigest()[:16],
            score=score,
            latency_ms=30 + number if outcome is not Outcome.HARNESS_ERROR else None,
            attempts=0 if outcome is Outcome.HARNESS_ERROR else 3 if outcome is Outcome.GATEWAY_ERROR else 1,
            tokens_returned=640 if usable else None,
        )


def _assessments(told: Night, tally: Tally, sent: int) -> tuple[Assessment, ...]:
    if told.floor is None:
        return ()
    outcomes = tally.outcomes
    tier = Tier(below=told.floor, at_least="0", credit_percent="10")
    if not sent:
        status = Status.NOT_RUN
    elif outcomes.valid < told.min_sample:
        status = Status.INSUFFICIENT_DATA
    else:
        met = Fraction(outcomes.correct, outcomes.valid) >= Fraction(told.floor)
        status = Status.MET if met else Status.BREACHED
    breached = status is Status.BREACHED
    return (
        Assessment(
            floor=Floor(
                measure="citation_correctness",
                floor=told.floor,
                rule="exact_binomial_95" if told.rule != "point" else "point",
                tiers=(tier,),
            ),
            status=status,
            counted=Counted(good=outcomes.correct, valid=outcomes.valid, outcomes=outcomes, calls_sent=sent),
            tier=tier if breached else None,
            target_percent="10" if breached else "0",
        ),
    )


def plain_claim(told: EvalResult, warnings: tuple[str, ...] = ()) -> Callable[[Measure], ClaimPart]:
    """Claim parts with every required field and the printed value, made here and of no table."""

    def make(measure: Measure) -> ClaimPart:
        return ClaimPart(
            study=f"Citehouse nightly citation eval: {told.society}",
            period=f"night {told.night}, revision {told.revision}",
            base_name=f"held-out {measure.unit}s, {told.society}",
            base_n=measure.valid,
            source=Source(table="scores", column="correct", function="share"),
            warnings=(*warnings, *measure.warnings),
            domain={"value": format_ratio(measure.value or Fraction(0), places_of(told, measure.name))},
        )

    return make


def document(told: EvalResult, warnings: tuple[str, ...] = ()) -> EvalDocument:
    """The document of a result with plain claims, each with these warnings before its own."""
    return document_of(told, plain_claim(told, warnings))
