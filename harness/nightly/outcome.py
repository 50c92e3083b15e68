"""Whose failure it was: the table of sla.md, from an answer's reason to gateway_error or harness_error."""

from typing import Final, Literal

from harness.gateway.answer import Reason

_OURS: Final = frozenset({Reason.UNAUTHORIZED, Reason.FORBIDDEN, Reason.DNS})
_UNREACHABLE: Final = frozenset({Reason.CONNECT, Reason.TLS})

NEVER_ASKED: Final = "never_asked"
"""The published reason of a planned item without an answer row."""


def response_status(
    reason: Reason | None, run_reached_gateway: bool
) -> Literal["ok", "gateway_error", "harness_error"]:
    """What a stored answer counts as. `run_reached_gateway`: the run has at least one usable answer.

    A connection that fails while others get through is the gateway's; where nothing ever got through it is ours.
    """
    if reason is None:
        return "ok"
    if reason in _OURS or (reason in _UNREACHABLE and not run_reached_gateway):
        return "harness_error"
    return "gateway_error"
