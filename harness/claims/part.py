"""The Citations v1 data Part (claims.md). Never called a citation in code."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

EXTENSION_URI: Final = "https://standards.upperhandai.com/ext/citations/v1"
MEDIA_TYPE: Final = "application/vnd.upperhand.citations+json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The named extractor over a named table and column that reproduces the number."""

    table: str
    column: str
    function: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimPart:
    """One quantitative claim's audit trail. `base_n` is the unweighted count, a positive integer.

    `domain` holds the fields beyond the specified ones, our own (society, slug, night, revision, measure, stratum,
    value, data, data_sha256) or a stranger's; on the wire they stand beside the specified ones. `base_extra` and
    `source_extra` hold what a stranger's base and source carry beyond theirs.
    """

    study: str
    period: str
    base_name: str
    base_n: int
    source: Source
    fielded: str | None = None
    weight: str = "unweighted"
    warnings: tuple[str, ...] = ()
    domain: Mapping[str, Any] = field(default_factory=dict)
    base_extra: Mapping[str, Any] = field(default_factory=dict)
    source_extra: Mapping[str, Any] = field(default_factory=dict)

    def to_wire(self) -> dict[str, Any]:
        """The JSON object, specified fields first."""
        wire: dict[str, Any] = {"study": self.study, "period": self.period}
        if self.fielded is not None:
            wire["fielded"] = self.fielded
        wire["base"] = {"name": self.base_name, "n": self.base_n} | dict(self.base_extra)
        wire["weight"] = self.weight
        wire["source"] = {
            "table": self.source.table,
            "column": self.source.column,
            "function": self.source.function,
        } | dict(self.source_extra)
        wire["warnings"] = list(self.warnings)
        return wire | dict(self.domain)
