"""Whose failure it was: every reason, as the table of sla.md has it."""

import pytest

from harness.gateway.answer import Reason
from harness.nightly.outcome import response_status

OURS = {Reason.UNAUTHORIZED, Reason.FORBIDDEN, Reason.DNS}
OURS_WHERE_NOTHING_GOT_THROUGH = {Reason.CONNECT, Reason.TLS}


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_is_somebodys(reason: Reason) -> None:
    reached = response_status(reason, run_reached_gateway=True)
    alone = response_status(reason, run_reached_gateway=False)
    assert reached == ("harness_error" if reason in OURS else "gateway_error")
    ours = OURS | OURS_WHERE_NOTHING_GOT_THROUGH
    assert alone == ("harness_error" if reason in ours else "gateway_error")


@pytest.mark.parametrize("reached", [True, False])
def test_a_usable_answer_is_ok(reached: bool) -> None:
    assert response_status(None, run_reached_gateway=reached) == "ok"
