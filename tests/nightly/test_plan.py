"""What a night asks and in which order: the seed decides, and societies are mixed."""

from datetime import date

from harness.nightly.plan import asking_order, plan_society
from harness.testset.society import load_societies
from tests.shared import TESTSETS

SOCIETIES, _ = load_societies(TESTSETS)
PLANS = [plan_society(society, date(2026, 11, 29)) for society in SOCIETIES]


def _order(seed: str) -> list[str]:
    return [f"{plan.society.slug}/{item.id}" for plan, item in asking_order(PLANS, seed)]


def test_one_seed_is_one_order_and_another_seed_another() -> None:
    assert _order("2026-11-29/1") == _order("2026-11-29/1")
    assert _order("2026-11-29/1") != _order("2026-11-30/1")
    assert sorted(_order("2026-11-29/1")) == sorted(_order("2026-11-30/1"))


def test_societies_are_mixed() -> None:
    slugs = [ref.split("/")[0] for ref in _order("2026-11-29/1")]
    assert len(slugs) == 458
    assert set(slugs[:100]) == {society.slug for society in SOCIETIES}


def test_an_item_counts_from_added_to_the_night_before_retired() -> None:
    assert len(plan_society(SOCIETIES[0], date(2026, 8, 31)).items) == 0
    assert len(plan_society(SOCIETIES[0], date(2026, 9, 1)).items) == len(SOCIETIES[0].items)
