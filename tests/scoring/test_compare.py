"""Two nights on the same expectations (scoring.md, Between two nights)."""

from collections.abc import Iterable
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scoring.compare import ComparisonError, Night, Row, compare_nights, mcnemar_p

SHA = "a" * 64


def night(*rows: Row, label: str = "2026-11-29", sha: str = SHA, version: int = 1) -> Night:
    return Night(label=label, testset_sha256=sha, scorer_version=version, rows=rows)


def test_flips_both_ways_and_items_of_one_night_are_told_apart() -> None:
    before = night(("a", 1, True), ("a", 2, False), ("b", 1, True), ("c", 1, False), ("d", 1, True), ("f", 1, None))
    after = night(("a", 1, True), ("a", 2, True), ("b", 1, False), ("c", 1, False), ("e", 1, True), ("f", 1, True))
    found = compare_nights(before, after)
    assert (found.compared, found.both_correct, found.both_incorrect) == (4, 1, 1)
    assert (found.better, found.worse) == ((("a", 2),), (("b", 1),))
    assert (found.only_before, found.only_after, found.unmeasured) == ((("d", 1),), (("e", 1),), 1)
    assert (found.p, found.warnings) == (Fraction(1), ())


def test_nights_without_rows_say_nothing() -> None:
    found = compare_nights(night(), night())
    assert (found.compared, found.p) == (0, Fraction(1))


def test_error_another_test_set_and_scorer_are_refused() -> None:
    before, after = night(label="2026-11-28"), night(sha="b" * 64, version=2)
    with pytest.raises(ComparisonError) as refused:
        compare_nights(before, after)
    assert refused.value.exit_code == 2
    assert str(refused.value) == (
        "2026-11-28 and 2026-11-29 cannot be compared: test sets differ (sha256 aaaaaaaaaaaa and bbbbbbbbbbbb); "
        "scorer versions differ (1 and 2). A change may come from that and not from the gateway. "
        "Use --force to compare all the same."
    )


def test_a_forced_comparison_says_in_what_the_nights_differ() -> None:
    found = compare_nights(night(("a", 1, False)), night(("a", 1, True), version=2), force=True)
    assert found.better == (("a", 1),)
    assert found.warnings == ("scorer versions differ (1 and 2)",)


@pytest.mark.parametrize(
    "rows", [[("b", 1, True), ("a", 1, True)], [("a", 2, True), ("a", 1, True)], [("a", 1, True), ("a", 1, True)]]
)
def test_error_rows_out_of_order(rows: list[Row]) -> None:
    with pytest.raises(ValueError, match=r"^rows of 2026-11-29 do not ascend by item and expectation$"):
        compare_nights(night(), night(*rows))


Verdicts = dict[tuple[str, int], bool | None]


def rows_of(verdicts: Verdicts) -> Iterable[Row]:
    return ((item, number, correct) for (item, number), correct in sorted(verdicts.items()))


verdicts = st.dictionaries(
    st.tuples(st.text("ab§", max_size=2), st.integers(1, 2)), st.sampled_from([True, False, None]), max_size=12
)


@settings(deadline=None)
@given(verdicts, verdicts)
def test_every_expectation_is_in_exactly_one_place(before: Verdicts, after: Verdicts) -> None:
    found = compare_nights(night(*rows_of(before)), night(*rows_of(after)))
    assert set(found.only_before) == before.keys() - after.keys()
    assert set(found.only_after) == after.keys() - before.keys()
    assert found.compared + found.unmeasured == len(before.keys() & after.keys())
    assert set(found.better) == {key for key in before if before[key] is False and after.get(key) is True}
    assert set(found.worse) == {key for key in before if before[key] is True and after.get(key) is False}
    assert found.both_incorrect >= 0


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(0, 60))
def test_p_is_the_sum_of_all_outcomes_at_least_as_uneven(better: int, worse: int) -> None:
    discordant = better + worse
    uneven = abs(better - worse)
    ways = sum(comb(discordant, k) for k in range(discordant + 1) if abs(discordant - 2 * k) >= uneven)
    assert mcnemar_p(better, worse) == Fraction(ways, 2**discordant)
