"""What acts by hand refuse, in the words that the command prints."""

from collections.abc import Callable
from typing import Any

import pytest

from harness.errors import UsageError
from harness.sla.acts import draft_dispute, draft_rejected, draft_upheld, draft_void
from harness.sla.model import EventDraft, Settlement, Status
from tests.sla.acting import after, dispute, opened, uphold, voided
from tests.sla.factories import SUBJECT, breach, extend, folded, kinds, said, settlement, standing, terms, tick


def in_state(state: str) -> Settlement:
    events = {"open": opened(), "disputed": dispute(opened(), 1), "final": tick(opened(), after(30))}
    return folded(events[state])


DECISIONS: dict[str, Callable[[Settlement], EventDraft]] = {
    "be disputed": lambda stands: draft_dispute(stands, after(2)),
    "have its dispute decided": draft_rejected,
    "be voided": lambda stands: draft_void(stands, "voided_duplicate", after(2)),
}


@pytest.mark.parametrize(
    ("state", "what", "needed"),
    [
        ("disputed", "be disputed", "open"),
        ("final", "be disputed", "open"),
        ("open", "have its dispute decided", "disputed"),
        ("final", "have its dispute decided", "disputed"),
        ("disputed", "be voided", "open"),
        ("final", "be voided", "open"),
    ],
)
def test_error_the_settlement_is_in_another_state(state: str, what: str, needed: str) -> None:
    with pytest.raises(UsageError) as caught:
        DECISIONS[what](in_state(state))
    assert str(caught.value) == (
        f"{SUBJECT}: is {state}; only a settlement that is {needed} can {what}. Nothing was written."
    )


@pytest.mark.parametrize("state", ["open", "final"])
def test_error_nothing_to_uphold(state: str) -> None:
    with pytest.raises(UsageError) as caught:
        draft_upheld(in_state(state), "not even a percent", after(2))
    assert str(caught.value) == (
        f"{SUBJECT}: is {state}; only a settlement that is disputed can have its dispute decided. Nothing was written."
    )


@pytest.mark.parametrize(
    "text",
    [
        *("", "ten", "-1", "+1", "100.5", "101", "1000", "1e1", "12.50", "10.0", ".5", "5.", "05", "00", " 5", "5\n"),
        *("1/2", "٥", "12,5", "nan", "1_0", "5%"),
    ],
)
def test_error_a_target_that_is_no_percent(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        draft_upheld(in_state("disputed"), text, after(2))
    assert str(caught.value) == (
        f"target: found {text!r}; expected a percent from 0 to 100 in its shortest form, such as 12.5"
    )


def test_error_a_long_text_is_cut() -> None:
    with pytest.raises(UsageError) as caught:
        draft_upheld(in_state("disputed"), "x" * 1000, after(2))
    assert str(caught.value) == (
        f"target: found {'x' * 40!r}; expected a percent from 0 to 100 in its shortest form, such as 12.5"
    )


def test_error_less_than_what_is_billable() -> None:
    events = dispute(extend(tick(opened("25"), after(30)), breach("100"), after(31)), 32)
    with pytest.raises(UsageError) as caught:
        draft_upheld(folded(events), "24.9", after(33))
    assert str(caught.value) == (
        "target: found 24.9; expected at least 25, which has been final: a final target never falls"
    )
    assert standing(uphold(events, 33, "25")) == ("open", "breached", "25", "25")


@pytest.mark.parametrize("reason", ["gold_corrected", "scorer_corrected", "night_resumed", "dispute_upheld", "", "x"])
def test_error_no_reason_for_a_void(reason: Any) -> None:
    with pytest.raises(UsageError) as caught:
        draft_void(in_state("open"), reason, after(2))
    assert str(caught.value) == f"reason: found {reason!r}; expected one of voided_duplicate, harness_fault"


@pytest.mark.parametrize(
    "settled",
    [
        settlement(said(Status.MET, under=terms(dispute_days=30))),
        settlement(said(Status.NOT_RUN, under=terms(dispute_days=30))),
        settlement(breach("0.0")),
        folded(voided()),
    ],
)
def test_error_nothing_to_void(settled: Settlement) -> None:
    with pytest.raises(UsageError) as caught:
        draft_void(settled, "voided_duplicate", after(2))
    assert str(caught.value) == f"{SUBJECT}: has no credit that could be voided; nothing was written"


def test_error_it_was_final_by_the_time_that_it_was_disputed() -> None:
    before = opened()
    with pytest.raises(UsageError) as caught:
        dispute(before, 30)
    assert str(caught.value).startswith(f"{SUBJECT}: is final; only a settlement that is open can be disputed.")
    assert kinds(before) == ["evaluated"]
