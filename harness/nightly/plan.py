"""What a night asks, in which order: every active item of every society, shuffled by a seed that is stored."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from harness.gateway.answer import Question
from harness.testset.model import Item, Society, Terms

DEFAULT_TOP_K = 5
DEFAULT_MAX_TOKENS = 1200
"""For a society without terms in force: it is measured and published all the same (sla.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SocietyPlan:
    """One society's part of a night: its active items and the terms in force (None: measured without a floor)."""

    society: Society
    terms: Terms | None
    items: tuple[Item, ...]

    @property
    def expectations(self) -> int:
        return sum(len(item.expectations) for item in self.items)

    @property
    def max_tokens(self) -> int:
        return DEFAULT_MAX_TOKENS if self.terms is None else self.terms.max_tokens

    def question(self, item: Item) -> Question:
        """The call to make for an item, in the corpus that holds its gold's standard."""
        standard = item.citations[0].standard
        corpus = next(name for name, standards in self.society.corpora.items() if standard in standards)
        return Question(
            corpus=corpus,
            society=self.society.id,
            query=item.query,
            max_tokens=self.max_tokens,
            editions=item.editions,
            ref=f"{self.society.slug}/{item.id}",
        )


def plan_society(society: Society, night: date) -> SocietyPlan:
    """What that night asks of the society."""
    items = tuple(item for item in society.items if item.counts_on(night))
    return SocietyPlan(society=society, terms=society.terms_on(night), items=items)


def with_gold(plan: SocietyPlan, corrected: Society) -> SocietyPlan:
    """The plan with the gold that a corrected folder has for its items; nothing else of the folder counts.

    Items that the folder has no more keep their gold. Raises ValueError naming the items whose question is another
    one there: its gold would answer something that was not asked.
    """
    offered = {item.id: item for item in corrected.items}
    other = [item.id for item in plan.items if item.id in offered and offered[item.id].query != item.query]
    if other:
        raise ValueError(", ".join(other))
    items = tuple(
        replace(item, citations=offered[item.id].citations, match=offered[item.id].match)
        if item.id in offered
        else item
        for item in plan.items
    )
    return replace(plan, items=items)


def asking_order(plans: Iterable[SocietyPlan], seed: str) -> Sequence[tuple[SocietyPlan, Item]]:
    """All items of all societies in the seed's order; the same seed gives the same order on every machine."""
    everything = [(plan, item) for plan in plans for item in plan.items]
    random.Random(seed).shuffle(everything)  # noqa: S311 - an order, not a secret
    return everything
