"""Figures as pages print them: digits of eval.json, at most with the point moved."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scoring.decimals import format_percent, format_ratio
from harness.site.eval_json import IntervalEntry, MeasureEntry, PreviousEntry
from harness.site.views import change_sentence, gauge_of, percent_of
from harness.site.words import day_text, lost_text, status_words


@pytest.mark.parametrize(
    ("ratio", "percent"),
    [("0.95", "95"), ("1", "100"), ("0.9", "90"), ("0.9725", "97.25"), ("0.99990", "99.990"), ("0.005", "0.5")],
)
def test_a_contracts_decimal_keeps_its_digits(ratio: str, percent: str) -> None:
    assert percent_of(ratio) == percent


@given(st.integers(1, 10**7), st.integers(1, 10**7), st.integers(1, 999))
def test_no_printed_share_crosses_its_floor(good: int, valid: int, thousandths: int) -> None:
    share, floor = Fraction(min(good, valid), valid), f"0.{thousandths:03d}"
    printed = Fraction(format_percent(format_ratio(share)))
    assert (printed < Fraction(percent_of(floor))) is (share < Fraction(floor))


@pytest.mark.parametrize(
    ("p", "better", "worse", "compared", "sentence"),
    [
        ("0.500000", 2, 0, 416, "2 better, 0 worse of 416: within chance (p = 0.50)"),
        ("1.000000", 0, 0, 60, "0 better, 0 worse of 60: within chance (p = 1.00)"),
        ("0.050000", 1, 7, 60, "1 better, 7 worse of 60: within chance (p = 0.050000)"),
        ("0.049999", 0, 6, 60, "0 better, 6 worse of 60: more than chance (p = 0.049999)"),
        ("0.031250", 0, 6, 60, "0 better, 6 worse of 60: more than chance (p = 0.031250)"),
        ("1.000000", 0, 0, 0, "No expectation could be compared: the nights share none."),
    ],
)
def test_change_sentence(p: str, better: int, worse: int, compared: int, sentence: str) -> None:
    previous = PreviousEntry(
        night="2026-11-28", value="0.9", change=None, mcnemar_p=p, better=better, worse=worse, compared=compared
    )
    assert change_sentence(previous) == sentence


@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(0, 1000), st.integers(1, 1000))
def test_a_gauge_stays_on_its_scale(low: int, value: int, high: int, floor: int) -> None:
    low, value, high = sorted((low, value, high))

    def text(thousandths: int) -> str:
        return format_ratio(Fraction(thousandths, 1000))

    interval = IntervalEntry(method="wilson", confidence="0.95", low=text(low), high=text(high))
    entry = MeasureEntry(
        name="m", stratum=None, good=0, valid=1, value=text(value), interval=interval, claim={"value": text(value)}
    )
    gauge = gauge_of(entry, text(floor))
    assert gauge is not None and gauge.floor is not None
    assert 0 <= gauge.low <= gauge.point <= gauge.low + gauge.width <= 1001
    assert 0 <= gauge.floor <= 1000
    assert (gauge.point < gauge.floor) <= (value < floor)


def test_without_a_value_there_is_no_gauge() -> None:
    entry = MeasureEntry(name="m", stratum=None, good=0, valid=0, value=None, interval=None, claim=None)
    assert gauge_of(entry, "0.95") is None


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ((0, 0, 0, 0), ""),
        ((10, 4, 0, 0), "Not correct: 10 with a wrong citation, 4 without a passage."),
        ((0, 0, 9, 0), "Not correct: 9 without a usable answer (an outage counts as not correct)."),
        ((0, 0, 0, 3), "3 not measured by our own failure, outside the base."),
        ((1, 0, 0, 3), "Not correct: 1 with a wrong citation. 3 not measured by our own failure, outside the base."),
    ],
)
def test_what_was_lost_is_said(counts: tuple[int, int, int, int], sentence: str) -> None:
    assert lost_text(*counts) == sentence


def test_dates_are_written_alike_on_every_machine() -> None:
    assert day_text("2026-03-01") == "1 March 2026"


def test_every_status_has_a_word_and_a_shape_of_its_own() -> None:
    statuses = [status_words(name) for name in ("met", "breached", "insufficient_data", "not_run", "no_floor")]
    assert len({words.word for words in statuses}) == len({words.shape for words in statuses}) == 5
