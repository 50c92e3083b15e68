"""What a test set holds on a night, in counts (testsets.md, Commands)."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from harness.citation.model import Citation
from harness.citation.parse import parse_section
from harness.testset.model import Item, Society


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCount:
    """A group's name with its items and expectations; an item of two groups counts as an item in both."""

    name: str
    items: int
    expectations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SocietyStats:
    """Counts of a society's active items on a night.

    `by_*` are in descending order of expectations, then by name. `by_cluster` holds tagged clusters only: an item
    without the tag is a cluster of its own, and `clusters` counts both kinds. `by_weight` has weights as written.
    `kish_n` is the effective number of expectations under the weights, (Σw)² / Σw², exactly; None without any.
    """

    society: str
    night: date
    testset_version: str
    testset_sha256: str
    all_items: int
    items: int
    expectations: int
    cross_edition_items: int
    by_standard: tuple[GroupCount, ...]
    by_kind: tuple[GroupCount, ...]
    by_cluster: tuple[GroupCount, ...]
    by_weight: tuple[GroupCount, ...]
    clusters: int
    kish_n: Fraction | None


def stats(society: Society, night: date) -> SocietyStats:
    """What the society's test set holds on that night."""
    items = [item for item in society.items if item.counts_on(night)]
    clusters = _grouped(items, lambda item, _: item.cluster)
    return SocietyStats(
        society=society.id,
        night=night,
        testset_version=society.testset_version,
        testset_sha256=society.testset_sha256,
        all_items=len(society.items),
        items=len(items),
        expectations=sum(len(item.expectations) for item in items),
        cross_edition_items=sum(item.editions is not None for item in items),
        by_standard=_grouped(items, lambda _, gold: gold.standard),
        by_kind=_grouped(
            items, lambda item, gold: item.tags.get("kind") or parse_section(gold.section, society.style).kind
        ),
        by_cluster=clusters,
        by_weight=_grouped(items, lambda item, _: item.weight),
        clusters=len(clusters) + sum(item.cluster is None for item in items),
        kish_n=_kish(items),
    )


def _grouped(items: Iterable[Item], name_of: Callable[[Item, Citation], str | None]) -> tuple[GroupCount, ...]:
    """Items and expectations by the group of each expectation's first gold; a group of None is left out."""
    item_counts: Counter[str] = Counter()
    expectation_counts: Counter[str] = Counter()
    for item in items:
        names = [name for gold, *_ in item.expectations if (name := name_of(item, gold)) is not None]
        expectation_counts.update(names)
        item_counts.update(set(names))
    groups = [GroupCount(name=name, items=item_counts[name], expectations=n) for name, n in expectation_counts.items()]
    return tuple(sorted(groups, key=lambda group: (-group.expectations, group.name)))


def _kish(items: Iterable[Item]) -> Fraction | None:
    total = squares = Fraction(0)
    for item in items:
        weight, count = Fraction(item.weight), len(item.expectations)
        total += weight * count
        squares += weight * weight * count
    return total * total / squares if squares else None
