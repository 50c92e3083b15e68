"""stats: counts of the items that count on a night."""

from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.testset.society import load_society
from harness.testset.stats import GroupCount, SocietyStats, stats
from tests.testset.folder import gold, item, write_society

TABLE = gold("Table 1.2", ["table", "1", "2"])
OTHER = gold("§1.3", ["1", "3"])
UNDATED = gold("§5", ["5"], standard="Q7", edition_year=None)
ROWS: list[dict[str, Any]] = [
    item(1, citations=[gold(), TABLE], cluster="a", weight="3"),
    item(2, citations=[gold(), OTHER], match="any", cluster="a"),
    item(3, citations=[UNDATED], tags={"kind": "article"}),
    item(4, citations=[OTHER], editions=[2022], cluster="b"),
    item(5, added="2026-06-02"),
    item(6, retired="2026-06-01"),
]


def group(name: str, items: int, expectations: int) -> GroupCount:
    return GroupCount(name=name, items=items, expectations=expectations)


def counted(root: Path, night: date) -> SocietyStats:
    return stats(load_society(write_society(root, items=ROWS)), night)


def test_counts_of_a_night(tmp_path: Path) -> None:
    found = counted(tmp_path, date(2026, 6, 1))
    assert (found.all_items, found.items, found.expectations, found.cross_edition_items) == (6, 4, 5, 1)
    assert found.by_standard == (group("P100", 3, 4), group("Q7", 1, 1))
    assert found.by_kind == (group("section", 3, 3), group("article", 1, 1), group("table", 1, 1))
    assert found.by_cluster == (group("a", 2, 3), group("b", 1, 1))
    assert found.clusters == 3
    assert found.by_weight == (group("1", 3, 3), group("3", 1, 2))
    assert found.kish_n == Fraction((3 + 3 + 1 + 1 + 1) ** 2, 9 + 9 + 1 + 1 + 1)


def test_other_nights_have_other_items(tmp_path: Path) -> None:
    society = load_society(write_society(tmp_path, items=ROWS))
    assert [stats(society, date(2026, month, day)).items for month, day in ((5, 31), (6, 1), (6, 2))] == [5, 4, 5]


def test_night_without_items_has_no_effective_number(tmp_path: Path) -> None:
    rows = [item(1, added="2026-06-01"), item(2, added="2026-06-01")]
    found = stats(load_society(write_society(tmp_path, items=rows)), date(2026, 5, 1))
    assert (found.items, found.expectations, found.by_kind, found.kish_n) == (0, 0, (), None)


@given(weights=st.lists(st.integers(1, 999), min_size=2, max_size=6))
@settings(max_examples=25, deadline=None)
def test_groups_add_up_and_equal_weights_lose_nothing(tmp_path_factory: Any, weights: list[int]) -> None:
    rows = [item(number, weight=str(weight), cluster="c") for number, weight in enumerate(weights, 1)]
    found = stats(load_society(write_society(tmp_path_factory.mktemp("weights"), items=rows)), date(2026, 6, 1))
    for groups in (found.by_standard, found.by_kind, found.by_cluster, found.by_weight):
        assert sum(one.expectations for one in groups) == len(weights)
    assert found.kish_n is not None
    assert found.kish_n <= len(weights)
    assert (found.kish_n == len(weights)) is (len(set(weights)) == 1)
