"""Two nights of one society, compared on the same expectations (scoring.md, Between two nights)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from harness.errors import HarnessError

Key: TypeAlias = tuple[str, int]
"""Item id and 1-based expectation."""

Row: TypeAlias = tuple[str, int, bool | None]
"""Item id, expectation, and whether it was correct: None for a harness error, which is no verdict."""

_Entry: TypeAlias = tuple[Key, bool | None]


class ComparisonError(HarnessError):
    """The two nights were not measured alike: test set or scorer differ, and the comparison was not forced."""

    exit_code = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """One night's side of a comparison. `rows` ascend strictly by item (by code point) and expectation."""

    label: str
    testset_sha256: str
    scorer_version: int
    rows: Iterable[Row] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What changed between two nights.

    `compared` counts the expectations with a verdict in both; `better` and `worse` are the flips, `only_before` and
    `only_after` the expectations planned in one night only, each in ascending order. `unmeasured` counts those planned
    in both and ended by a harness error in one. `p` is exact, two-sided. `warnings` say in what the nights differ.
    """

    compared: int
    both_correct: int
    better: tuple[Key, ...]
    worse: tuple[Key, ...]
    only_before: tuple[Key, ...]
    only_after: tuple[Key, ...]
    unmeasured: int
    p: Fraction
    warnings: tuple[str, ...] = ()

    @property
    def both_incorrect(self) -> int:
        return self.compared - self.both_correct - len(self.better) - len(self.worse)


def compare_nights(before: Night, after: Night, *, force: bool = False) -> Comparison:
    """The paired comparison; memory grows with the flips and the unpaired, not with the pairs.

    Raises ComparisonError where test-set digest or scorer version differ, unless forced; ValueError where a side's
    rows do not ascend.
    """
    differences = _differences(before, after)
    if differences and not force:
        raise ComparisonError(
            f"{before.label} and {after.label} cannot be compared: {'; '.join(differences)}. "
            "A change may come from that and not from the gateway. Use --force to compare all the same."
        )
    compared = both_correct = unmeasured = 0
    better: list[Key] = []
    worse: list[Key] = []
    only_before: list[Key] = []
    only_after: list[Key] = []
    for was, now in _paired(_ascending(before), _ascending(after)):
        if was is None or now is None:
            if was is not None:
                only_before.append(was[0])
            if now is not None:
                only_after.append(now[0])
            continue
        key, correct_before = was
        correct_after = now[1]
        if correct_before is None or correct_after is None:
            unmeasured += 1
            continue
        compared += 1
        if correct_before and correct_after:
            both_correct += 1
        elif correct_before:
            worse.append(key)
        elif correct_after:
            better.append(key)
    return Comparison(
        compared=compared,
        both_correct=both_correct,
        better=tuple(better),
        worse=tuple(worse),
        only_before=tuple(only_before),
        only_after=tuple(only_after),
        unmeasured=unmeasured,
        p=mcnemar_p(len(better), len(worse)),
        warnings=differences,
    )


def mcnemar_p(better: int, worse: int) -> Fraction:
    """The exact two-sided p of McNemar's test: twice the lower tail of the discordant pairs at one half, 1 at most.

    No discordant pair says nothing: 1 (McNemar 1947, exact form).
    """
    discordant = better + worse
    fewer = min(better, worse)
    term = tail = 1
    for taken in range(fewer):
        term = term * (discordant - taken) // (taken + 1)
        tail += term
    return min(Fraction(1), Fraction(2 * tail, 2**discordant))


def _differences(before: Night, after: Night) -> tuple[str, ...]:
    found = []
    if before.testset_sha256 != after.testset_sha256:
        found.append(f"test sets differ (sha256 {before.testset_sha256[:12]} and {after.testset_sha256[:12]})")
    if before.scorer_version != after.scorer_version:
        found.append(f"scorer versions differ ({before.scorer_version} and {after.scorer_version})")
    return tuple(found)


def _ascending(night: Night) -> Iterator[_Entry]:
    last: Key | None = None
    for item, expectation, correct in night.rows:
        key = (item, expectation)
        if last is not None and key <= last:
            raise ValueError(f"rows of {night.label} do not ascend by item and expectation")
        last = key
        yield key, correct


def _paired(before: Iterator[_Entry], after: Iterator[_Entry]) -> Iterator[tuple[_Entry | None, _Entry | None]]:
    """Both sides merged by key, with None for the side that lacks it."""
    was, now = next(before, None), next(after, None)
    while was is not None or now is not None:
        if now is None or (was is not None and was[0] < now[0]):
            yield was, None
            was = next(before, None)
        elif was is None or now[0] < was[0]:
            yield None, now
            now = next(after, None)
        else:
            yield was, now
            was, now = next(before, None), next(after, None)
