"""From a REST body to passages: used once when it arrives and again whenever a stored transcript is scored."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from harness.gateway.answer import Answer, Reason
from harness.gateway.mapping import RestMapping
from harness.gateway.strict_json import NotStrict, decode_strict

MOST_TOKENS: Final = 2**31
"""A count that no answer of at most 8 MiB can hold is nonsense, and a database's integer could not keep the sum."""


def read_body(answer: Answer, mapping: RestMapping) -> Answer:
    """The answer with what its raw body says: passages, tokens, ledger entry; or the reason why it is not usable.

    A pure function of the bytes, so that scoring a stored transcript sees what the night saw.
    """
    try:
        body = decode_strict(answer.raw)
    except NotStrict:
        return replace(answer, reason=Reason.NOT_JSON)
    if not isinstance(body, dict):
        return replace(answer, reason=Reason.BAD_SHAPE)
    passages = mapping.find("passages", body)
    if not isinstance(passages, list) or not all(isinstance(passage, dict) for passage in passages):
        return replace(answer, reason=Reason.BAD_SHAPE, ledger_entry_id=ledger_entry(body, mapping))
    tokens = mapping.find("tokens_returned", body)
    return replace(
        answer,
        passages=tuple(mapping.passage(passage) for passage in passages),
        tokens_returned=tokens if type(tokens) is int and 0 <= tokens < MOST_TOKENS else None,
        ledger_entry_id=ledger_entry(body, mapping),
    )


def error_ledger_entry(raw: bytes, mapping: RestMapping) -> str | None:
    """The ledger entry that an error body names, if it is JSON and does."""
    try:
        body = decode_strict(raw)
    except NotStrict:
        return None
    return ledger_entry(body, mapping) if isinstance(body, dict) else None


def ledger_entry(body: Mapping[str, Any], mapping: RestMapping) -> str | None:
    """The id of the gateway's own record of the call; anything but a short text is taken for none."""
    entry = mapping.find("ledger_entry_id", body)
    return entry if isinstance(entry, str) and 0 < len(entry) <= 200 and "\0" not in entry else None
