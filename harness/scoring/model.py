"""Verdicts and numbers as values (scoring.md). Every later stage reads these and nothing of the raw answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any, Final, Literal

from harness.citation.style import Style

SCORER_VERSION: Final = 1
"""Stored on every row; raised whenever any result could change."""


class Outcome(StrEnum):
    """The one end of an expectation (design: Words)."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    MISSING = "missing"
    GATEWAY_ERROR = "gateway_error"
    HARNESS_ERROR = "harness_error"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringTerms:
    """What the scorer needs of a society and its contract. `catalogue` None: the folder has no complete one.

    `editions`: contracted edition years by standard; an empty tuple is an undated standard.
    """

    society: str
    style: Style
    editions: Mapping[str, tuple[int, ...]]
    top_k: int
    checks: tuple[str, ...]
    catalogue: frozenset[tuple[str, int | None, str]] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An answer as the scorer sees it: usable passages in order, or why there are none."""

    status: Literal["ok", "gateway_error", "harness_error"]
    passages: tuple[Any, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectationScore:
    """One row of scores.csv. `checks` follow the contracted checks' order; `rank` is 1-based, None unaligned.

    `retrieved`: some considered passage is relevant; None where a field that relevance needs is not contracted.
    `expectation` is 1-based within the item.
    """

    expectation: int
    outcome: Outcome
    checks: tuple[bool, ...]
    rank: int | None
    retrieved: bool | None
    standard: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageScore:
    """One row of passages.csv: a returned passage, also beyond `top_k`. None: not applicable or not contracted."""

    rank: int
    edition_compliant: bool | None
    consistent: bool | None
    in_catalogue: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemScore:
    """One row of items.csv with its expectations and passages. `recall` and `reciprocal_rank` are exact, None where
    they are not defined (harness error, or a field that relevance needs is not contracted)."""

    item: str
    status: Literal["ok", "gateway_error", "harness_error"]
    cluster: str | None
    weight: str
    standard: str
    kind: str
    recall: Fraction | None
    reciprocal_rank: Fraction | None
    expectations: tuple[ExpectationScore, ...]
    passages: tuple[PassageScore, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """Expectations by outcome; they add up to the plan (law 1)."""

    correct: int = 0
    incorrect: int = 0
    missing: int = 0
    gateway_error: int = 0
    harness_error: int = 0

    @property
    def planned(self) -> int:
        return self.correct + self.incorrect + self.missing + self.gateway_error + self.harness_error

    @property
    def valid(self) -> int:
        return self.planned - self.harness_error


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """95 % bounds for display, shares in [0, 1]; money never looks at them. `n_effective` is the n they are for."""

    method: str
    low: float
    high: float
    n_effective: float
    confidence: str = "0.95"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A named aggregate. `value` = good / valid exactly, None when valid is 0. `stratum` is None for the whole, else
    `kind=table` or `standard=B31.3`. `unit` names the base that `valid` counts. `good` is exact: an integer for shares,
    a sum of exact per-item values for means, a weighted sum for the weighted share (then `valid` is the unweighted
    count and `weight_total` the divisor)."""

    name: str
    stratum: str | None
    unit: Literal["expectation", "passage", "item"]
    good: Fraction
    valid: int
    value: Fraction | None
    interval: Interval | None
    outcomes: Outcomes | None
    clusters: int
    weight_total: Fraction | None = None
    warnings: tuple[str, ...] = ()
