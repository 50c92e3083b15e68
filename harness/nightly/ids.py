"""Item and cluster ids as they may be published: keyed hashes, the same every night, telling nothing to who lacks the
key (claims.md)."""

import hmac
from dataclasses import dataclass, field
from typing import Final

HEX_DIGITS: Final = 24
"""96 bits: no two of a million ids meet by chance."""


@dataclass(frozen=True, slots=True)
class PublishedIds:
    """Hashes ids with this deployment's key."""

    key: bytes = field(repr=False)

    def item(self, slug: str, item_id: str) -> str:
        return self._hash("item", slug, item_id)

    def cluster(self, slug: str, cluster: str) -> str:
        return self._hash("cluster", slug, cluster)

    def _hash(self, *parts: str) -> str:
        return hmac.digest(self.key, "\0".join(parts).encode(), "sha256").hex()[:HEX_DIGITS]
