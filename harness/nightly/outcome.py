"""Whose failure it was: the table of sla.md, from an answer's reason to gateway_error or harness_error."""

from typing import Final, Literal

from harness.gateway.answer import Reason

_OURS: Final = frozenset({Reason.UNAUTHORIZED, Reason.FORBIDDEN, Reason.DNS})
_UNREACHABLE: Final = frozenset({Reason.CONNECT, Reason.TLS})

STOPS_ASKING: Final = frozenset({Reason.UNAUTHORIZED, Reason.DNS}) | _UNREACHABLE
"""Reasons that end a sitting and leave its run open: the key, the address or the line is wrong, not an answer."""

NEVER_ASKED: Final = "never_asked"
"""The published reason of a planned item without an answer row."""


def response_status(reason: Reason | None, sitting_reached: bool) -> Literal["ok", "gateway_error", "harness_error"]:
    """What a stored answer counts as. `sitting_reached`: the sitting that asked has at least one usable answer.

    A connection that fails while others get through is the gateway's; where nothing got through it is ours.
    """
    if reason is None:
        return "ok"
    if reason in _OURS or (reason in _UNREACHABLE and not sitting_reached):
        return "harness_error"
    return "gateway_error"


def asks_again(reason: Reason | None, sitting_reached: bool) -> bool:
    """Whether a resumed run asks again although there is this answer: it says nothing of the gateway's answers.

    A 4xx on everything that a sitting asked is a wrong address or a wrong corpus, not the end of each item.
    """
    if reason is None:
        return False
    return reason in _OURS or (not sitting_reached and (reason in _UNREACHABLE or reason is Reason.HTTP_4XX))
