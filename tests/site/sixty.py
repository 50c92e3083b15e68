"""Sixty nights of seven societies as one site: missed nights, revisions, a new test set, scorer and contract, a breach
and its recovery, a month, hostile strings of the gateway, and a night that was refused."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Final

from harness.errors import PublishRefused
from harness.site.model import EvalResult, Previous
from harness.site.publish import publish
from harness.sla.model import Status
from tests.site.results import NAMES, Night, result

FIRST: Final = date(2026, 10, 1)
LAST: Final = date(2026, 11, 29)
DEPLOYMENT: Final = "urn:citehouse:test"
BASE: Final = "https://citehouse.example"

MISSED: Final = ("2026-10-13", "2026-10-14")
"""Nights of which nothing was published."""

SAE_MISSED: Final = ("2026-11-03", "2026-11-04", "2026-11-05")
BREACHED: Final = ("2026-10-20", "2026-10-21", "2026-10-22", "2026-10-23", "2026-10-24")
"""Nights on which ASME fell below its floor; a revision clears the third."""

NEW_TESTSET: Final = "2026-11-10"
NEW_SCORER: Final = "2026-11-15"
NEW_TERMS: Final = "2026-11-20"

HOSTILE: Final = (
    "<script>document.title='owned'</script>",
    '"><svg onload=alert(1)>',
    '=HYPERLINK("//evil.example")',
    "a\u202eb\u2066c\ud800]]>",
    "x" * 10_000,
)
CANARY: Final = "canary-91f2c7d04b5e"


def publish_sixty(site: Path) -> None:
    """Publish all of it in one go, then a night of SAE that contradicts itself."""
    publish(site, sixty(), DEPLOYMENT, base_url=BASE, canaries=(CANARY,))
    refused = replace(result(Night(slug="sae", night="2026-11-30")), items=3)
    with suppress(PublishRefused):
        publish(site, [refused], DEPLOYMENT, base_url=BASE, canaries=(CANARY,))


def sixty() -> Iterator[EvalResult]:
    """The results in the order in which they came about."""
    for number in range((LAST - FIRST).days + 1):
        night = (FIRST + timedelta(days=number)).isoformat()
        if night in MISSED:
            continue
        for slug in NAMES:
            if slug == "sae" and night in SAE_MISSED:
                continue
            yield _night(slug, night, number)
        if night == BREACHED[2]:
            yield _revised("asme", night, number)
        if night == "2026-10-31":
            yield _month(night)
    yield _revised("aci", LAST.isoformat(), number)


def _night(slug: str, night: str, number: int) -> EvalResult:
    wrong = (number * 7 + len(slug)) % 4
    if slug == "asme" and night in BREACHED:
        wrong = 9
    outage = 12 if slug == "icc" and number == 30 else 0
    outcomes = "c" * (110 - wrong - outage) + "i" * (wrong // 2) + "m" * (wrong - wrong // 2) + "g" * outage
    before = (FIRST + timedelta(days=number - 1)).isoformat()
    previous = Previous(night=before, value="0.963636", better=2, worse=1, compared=110, mcnemar_p="1.000000")
    told = Night(
        slug=slug,
        night=night,
        outcomes=outcomes,
        floor=None if slug == "nfpa" else "0.95",
        clusters=0 if slug == "sae" else 40,
        previous=previous if number else None,
    )
    return _told(result(told), night)


def _told(made: EvalResult, night: str) -> EvalResult:
    """The result with what the night was measured by."""
    slug = made.slug
    newer = slug == "asme" and night >= NEW_TESTSET
    made = replace(
        made,
        testset_version="2026.11" if newer else "2026.10",
        testset_sha256=sha256(f"{slug}{newer}".encode()).hexdigest(),
        scorer_version=2 if slug == "aci" and night >= NEW_SCORER else 1,
        terms_version=None if slug == "nfpa" else 2 if slug == "awwa" and night >= NEW_TERMS else 1,
    )
    if slug == "asce":
        made = replace(
            made,
            gateway_version=HOSTILE[0],
            warnings=HOSTILE,
            citation_faults=dict.fromkeys(HOSTILE, 3),
            gateway_faults=dict.fromkeys(HOSTILE, 2),
        )
    return made


def _revised(slug: str, night: str, number: int) -> EvalResult:
    first = _night(slug, night, number)
    made = result(
        Night(slug=slug, night=night, revision=2, outcomes="c" * 107 + "iim", clusters=40, previous=first.previous)
    )
    return _told(made, night)


def _month(night: str) -> EvalResult:
    month = night[:7]
    made = result(Night(slug="awwa", night=month, outcomes="c" * 290 + "i" * 10, clusters=40))
    return replace(
        made,
        window="calendar_month",
        status=Status.MET,
        terms_version=1,
        scored_at=f"{night}T02:19:45.000000Z",
        started_at=f"{month}-01T02:17:00.000000Z",
        finished_at=f"{night}T02:19:30.000000Z",
        run_id=f"pooled-{month}-r1",
        warnings=("pools 29 nights: the same questions are asked every night",),
    )
