"""Digests over canonical JSON: of all items of a test set, and of one version of the terms (testsets.md, sla.md)."""

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> str:
    """Keys sorted, no white space, characters unescaped; raises ValueError for NaN and infinities."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def digest(value: Any) -> str:
    """SHA-256 in hex over the UTF-8 of the canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


class ListDigest:
    """The digest of a list, taken element by element so that the list need not be held.

    A test set's digest is that of the raw JSON objects of all its items, active or not, in file order.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256(b"[")
        self._empty = True

    def add(self, element: Any) -> None:
        """Take in the next element."""
        self._hash.update(("" if self._empty else ",").encode() + canonical_json(element).encode())
        self._empty = False

    def hexdigest(self) -> str:
        """The digest of the list of what was added so far; more may follow."""
        closed = self._hash.copy()
        closed.update(b"]")
        return closed.hexdigest()
