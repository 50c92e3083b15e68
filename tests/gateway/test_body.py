"""What the gateway says beside its passages is kept only where it can be kept; nonsense never stops a night."""

import json
from typing import Any

import pytest

from harness.gateway.answer import Answer
from harness.gateway.body import MOST_TOKENS, read_body
from harness.gateway.mapping import RestMapping


def read(**beside: Any) -> Answer:
    return read_body(Answer(raw=json.dumps({"passages": [], **beside}).encode()), RestMapping())


TOKENS = [
    (0, 0),
    (MOST_TOKENS - 1, MOST_TOKENS - 1),
    (MOST_TOKENS, None),
    (2**63, None),
    (2**64, None),
    (-1, None),
    (True, None),
    (3.0, None),
    ("3", None),
    (None, None),
]
ENTRIES = [("le_1", "le_1"), ("", None), ("a\0b", None), ("x" * 200, "x" * 200), ("x" * 201, None), (7, None)]


@pytest.mark.parametrize(("tokens", "kept"), TOKENS)
def test_tokens_are_a_whole_number_that_can_be_stored(tokens: Any, kept: int | None) -> None:
    answer = read(tokens_returned=tokens)
    assert answer.usable
    assert answer.tokens_returned == kept


@pytest.mark.parametrize(("entry", "kept"), ENTRIES)
def test_a_ledger_entry_is_a_short_text_that_can_be_stored(entry: Any, kept: str | None) -> None:
    answer = read(ledger_entry_id=entry)
    assert answer.usable
    assert answer.ledger_entry_id == kept
