"""A quarter of three societies: two on months, one on nights with two floors, and all that can happen to a settlement.

The script is written so that every credit can be worked out by hand: 20 items a night, 1 wrong one is 5 %.
"""

from collections.abc import Mapping
from datetime import date, time
from pathlib import Path
from shutil import rmtree
from typing import Final

from harness.gateway.answer import Reason
from harness.nightly.closing import close_through
from harness.nightly.emit import close_clocks
from harness.nightly.rescore import rescore
from harness.nightly.settlements import dispute, reject, uphold, void
from harness.store.ledger import Act
from tests.end_to_end.deployment import OLD, RIGHT, WRONG, Deployment, Reply, nights, open_deployment, write_acme

ITEMS: Final = 20
FIRST: Final = date(2026, 7, 1)
END: Final = date(2026, 10, 31)
BY: Final = Act(actor="Ada", note="after a call with the society")

_TERMS = """
[[terms]]
version = 1
effective_from = 2026-07-01
effective_to = 2026-09-30
editions = {{ P100 = [2022], Q7 = [] }}
checks = ["society", "standard", "section", "edition_year", "section_path", "citation"]
top_k = 5
max_tokens = 1200
max_error_rate = "0.02"
min_sample = 20
window = "{window}"
max_missed_nights = 3
dispute_days = 10

[[terms.floors]]
measure = "citation_correctness"
floor = "0.95"
rule = "point"
tiers = [
  {{ below = "0.95", at_least = "0.90", credit_percent = "10" }},
  {{ below = "0.90", at_least = "0", credit_percent = "25" }},
]
"""
_EDITIONS = """
[[terms.floors]]
measure = "edition_year_correctness"
floor = "0.99"
rule = "point"
tiers = [
  { below = "0.99", at_least = "0.95", credit_percent = "5" },
  { below = "0.95", at_least = "0", credit_percent = "20" },
]
"""
CANARY = "# HELD-OUT-TEST-CANARY-0001"
MONTHLY: Final = CANARY + _TERMS.format(window="calendar_month")
NIGHTLY: Final = CANARY + _TERMS.format(window="night") + _EDITIONS

MISSED: Final = date(2026, 7, 12)
OUTAGE: Final = date(2026, 7, 20)

_WRONG: Final[Mapping[tuple[str, date], tuple[int, ...]]] = {
    ("gamma", date(2026, 7, 5)): (1, 2, 3),
    ("gamma", date(2026, 7, 8)): (1,),
    ("gamma", date(2026, 8, 3)): (4, 5),
    ("gamma", date(2026, 8, 15)): (1, 2, 3, 4),
    ("gamma", date(2026, 8, 18)): (1, 2, 3),
    ("gamma", date(2026, 8, 22)): (1, 2, 3),
    ("gamma", date(2026, 9, 1)): (1, 2),
}
"""Items that the gateway answers with another section, by society and night."""

_OLD: Final = {("gamma", date(2026, 7, 10)): (1, 2)}
"""Items that it answers from another edition."""

CREDITS: Final = {
    ("gamma", "2026-07-05"): [("25", "2026-07-15")],  # 17/20; a rescore that clears it comes after it is final
    ("gamma", "2026-07-10"): [("20", "2026-07-20"), ("5", "2026-08-30")],  # editions 18/20: 20; later 15/20: 25
    ("gamma", "2026-07-20"): [("25", "2026-07-31")],  # an outage is 0/20 on both floors: 25 and 20, the higher counts
    ("gamma", "2026-08-18"): [("10", "2026-09-03")],  # 17/20 is 25; the dispute was upheld with 10
    ("gamma", "2026-08-22"): [("25", "2026-09-01")],  # 17/20; the dispute was rejected
    ("gamma", "2026-09-01"): [("10", "2026-09-15")],  # 18/20; nobody decided the dispute in ten days
    ("alpha", "2026-08"): [("10", "2026-09-11")],  # 558/620 is 0.90, the lower end of its tier
}
"""Worked out by hand: what is credited for each window, in percent points, and the date that it became final on."""


def script(slug: str, night: date, number: int) -> Reply:
    """The gateway of the quarter."""
    if night == OUTAGE:
        return Reason.HTTP_5XX
    if slug == "alpha" and night.month == 8 and number in (1, 2):
        return WRONG
    if slug == "alpha" and night.month == 9 and number in (9, 10):
        return WRONG  # which is what their gold is corrected to in October
    if number in _OLD.get((slug, night), ()):
        return OLD
    return WRONG if number in _WRONG.get((slug, night), ()) else RIGHT


def run_quarter(folder: Path, url: str | None = None) -> Deployment:
    """Live through the quarter, and on until everything is final."""
    deployment = open_deployment(folder, script, url)
    testsets = folder / "testsets"
    for slug, terms in (("alpha", MONTHLY), ("beta", MONTHLY), ("gamma", NIGHTLY)):
        write_acme(testsets, slug, terms, ITEMS)
    for night in nights(FIRST, END):
        if night <= date(2026, 9, 30) and night != MISSED:
            _break_beta(testsets, night)
            deployment.nightly(night)
        elif night > date(2026, 9, 30):
            settle(deployment, night)
        deployment.at(night, time(12))
        close_clocks(deployment.stages.emitter)
        _by_hand(deployment, night)
    return deployment


def settle(deployment: Deployment, night: date) -> None:
    """Nothing is in force any more: what a nightly does first is all there is to do."""
    deployment.at(night)
    close_clocks(deployment.stages.emitter)
    if failures := close_through(deployment.stages, before=night):
        raise failures[0]


def _break_beta(testsets: Path, night: date) -> None:
    """For four nights beta's folder is not valid: it is left out of them."""
    file = testsets / "beta" / "items.jsonl"
    if night == date(2026, 8, 10):
        file.rename(file.with_suffix(".kept"))
    elif night == date(2026, 8, 14):
        file.with_suffix(".kept").rename(file)


def _by_hand(deployment: Deployment, night: date) -> None:
    emitter = deployment.stages.emitter
    if night == date(2026, 8, 6):  # the gold of 4 and 5 was wrong: the breach of the 3rd goes before it is final
        _rescore(deployment, "gamma", date(2026, 8, 3), (4, 5), NIGHTLY)
        _rescore(deployment, "gamma", date(2026, 7, 5), (1, 2, 3), NIGHTLY)  # final since the 15th: it stays
    elif night == date(2026, 8, 17):
        void(emitter, "slf_gamma_citation_correctness_2026-08-15", BY, "harness_fault")
    elif night == date(2026, 8, 20):
        dispute(emitter, "slf_gamma_citation_correctness_2026-08-18", BY)
        _rescore(deployment, "gamma", date(2026, 7, 10), (6, 7, 8), NIGHTLY)  # three more wrong: 15/20
    elif night == date(2026, 8, 24):
        uphold(emitter, "slf_gamma_citation_correctness_2026-08-18", BY, "10")
    elif night == date(2026, 8, 25):
        dispute(emitter, "slf_gamma_citation_correctness_2026-08-22", BY)
    elif night == date(2026, 8, 27):
        reject(emitter, "slf_gamma_citation_correctness_2026-08-22", BY)
    elif night == date(2026, 9, 5):
        dispute(emitter, "slf_gamma_citation_correctness_2026-09-01", BY)
    elif night == date(2026, 10, 5):  # the whole of September turns
        _rescore(deployment, "alpha", date(2026, 9, 14), (9, 10), MONTHLY)


def _rescore(deployment: Deployment, slug: str, night: date, corrected: tuple[int, ...], terms: str) -> None:
    testsets = deployment.folder / f"corrected-{slug}-{night}"
    rmtree(testsets, ignore_errors=True)
    write_acme(testsets, slug, terms, ITEMS, corrected, version="2")
    rescore(deployment.with_testsets(testsets).stages, night, "gold_corrected", [slug])
