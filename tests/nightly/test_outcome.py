"""Whose failure it was: every reason, as the table of sla.md has it."""

import pytest

from harness.gateway.answer import Reason
from harness.nightly.outcome import asks_again, response_status

OURS = {Reason.UNAUTHORIZED, Reason.FORBIDDEN, Reason.DNS}
OURS_WHERE_NOTHING_GOT_THROUGH = {Reason.CONNECT, Reason.TLS}


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_is_somebodys(reason: Reason) -> None:
    reached = response_status(reason, sitting_reached=True)
    alone = response_status(reason, sitting_reached=False)
    assert reached == ("harness_error" if reason in OURS else "gateway_error")
    ours = OURS | OURS_WHERE_NOTHING_GOT_THROUGH
    assert alone == ("harness_error" if reason in ours else "gateway_error")


@pytest.mark.parametrize("reached", [True, False])
def test_a_usable_answer_is_ok(reached: bool) -> None:
    assert response_status(None, sitting_reached=reached) == "ok"


@pytest.mark.parametrize("reason", list(Reason))
def test_a_resumed_run_asks_again_what_said_nothing_of_the_gateways_answers(reason: Reason) -> None:
    wrong_address = OURS_WHERE_NOTHING_GOT_THROUGH | {Reason.HTTP_4XX}
    assert asks_again(reason, sitting_reached=True) is (reason in OURS)
    assert asks_again(reason, sitting_reached=False) is (reason in OURS | wrong_address)


def test_a_usable_answer_is_never_asked_again() -> None:
    assert not asks_again(None, sitting_reached=True)
