"""What the gateway answers, whichever transport asks: corpora, queries, sections; refusals as values of HTTP status."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from harness.reference.corpus import Corpus, Library, Passage
from harness.reference.faults import Fault, Profile, Rule, draw
from harness.reference.ledger import digest_of
from harness.reference.search import TOP, Index
from harness.reference.spoiling import Spoiling, Wire, spoil

_PASSING: Final = frozenset({Fault.RATE_LIMIT_BURST, Fault.HTTP_503_ONCE})


class Query(Struct, frozen=True, kw_only=True):
    """The body of a query; unknown keys are ignored.

    A token is a whitespace-separated word of a passage's text; without `max_tokens` nothing is cut. Without `editions`,
    or with an empty list, the contracted editions are searched.
    """

    question: Annotated[str, Meta(pattern=r"\S", max_length=20_000)]
    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    society_filter: list[str] | None = None
    editions: list[str] | None = None


class Refusal(Exception):
    """A call that is not answered: the HTTP status, what is said of it, and headers that go with it."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Passages as they are sent, and their tokens."""

    passages: tuple[Wire, ...]
    tokens: int


class Service:
    """Searches a library under a fault profile; made once, asked by any number of transports."""

    def __init__(self, library: Library, profile: Profile, seed: int) -> None:
        self._library = library
        self._profile = profile
        self._seed = seed
        # Nearly every query is for the contracted editions: an index of their own halves its cost.
        self._contracted = {
            name: Index(passage for passage in corpus.passages if corpus.is_pinned(passage))
            for name, corpus in library.corpora.items()
        }
        self._whole = {name: Index(corpus.passages) for name, corpus in library.corpora.items()}
        self._asked: Counter[tuple[str, str]] = Counter()

    def close(self) -> None:
        for index in (*self._contracted.values(), *self._whole.values()):
            index.close()

    def corpora(self, licensed: tuple[str, ...] | None) -> list[dict[str, Any]]:
        """The corpora that a key may query (None: all), by id, with the contracted editions of their standards."""
        return [
            {
                "id": corpus.id,
                "societies": list(corpus.societies),
                "standards": {
                    standard: sorted(year for year in years if year is not None)
                    for standard, years in sorted(corpus.pinned.items())
                },
            }
            for corpus in self._open_to(licensed)
        ]

    def corpus(self, name: str, licensed: tuple[str, ...] | None) -> Corpus:
        """The corpus of that id. Raises Refusal: 404 where there is none, 403 where the key has no licence for it."""
        corpus = self._library.corpora.get(name)
        if corpus is None:
            raise Refusal(404, "There is no such corpus.")
        if licensed is not None and name not in licensed:
            raise Refusal(403, "This key has no licence for the corpus.")
        return corpus

    def rule_for(self, corpus: Corpus, question: str) -> Rule | None:
        """The fault that this call meets. A passing one spoils `times` calls of a question, then lets one through."""
        rule = self._profile.rule_for(self._seed, corpus.id, corpus.societies, question)
        if rule is None or rule.fault not in _PASSING:
            return rule
        place = (corpus.id, digest_of(question))
        self._asked[place] += 1
        return rule if (self._asked[place] - 1) % (rule.times + 1) < rule.times else None

    def query(self, corpus: Corpus, query: Query, rule: Rule | None = None) -> Found:
        """The top passages, cut to `max_tokens` (one passage always stays), spoiled as the rule says."""
        fault = None if rule is None else rule.fault
        if fault is Fault.EMPTY_PASSAGES:
            return Found(passages=(), tokens=0)
        if fault is Fault.OTHER_SOCIETY:
            return self._found(self._of_another_society(corpus, query.question), query.max_tokens, None, corpus)
        passages = self._search(corpus, query, pinned=fault is not Fault.UNPINNED)
        place = draw(self._seed, corpus.id, query.question, "passages")
        return self._found(passages, query.max_tokens, fault, corpus, place)

    def section(self, standard: str, section: str, licensed: tuple[str, ...] | None) -> Found:
        """The section in the contracted editions. Raises Refusal: 404 for none, 403 for none licensed."""
        held = [
            (corpus, passage)
            for corpus in self._open_to(None)
            for passage in corpus.passages
            if (passage.standard, passage.section) == (standard, section) and corpus.is_pinned(passage)
        ]
        if not held:
            raise Refusal(404, "There is no such section in a contracted edition.")
        for corpus, _ in held:
            if licensed is None or corpus.id in licensed:
                return self._found([each for at, each in held if at is corpus], None, None, corpus)
        raise Refusal(403, "This key has no licence for the corpus of the section.")

    def _open_to(self, licensed: tuple[str, ...] | None) -> list[Corpus]:
        return [
            corpus for name, corpus in sorted(self._library.corpora.items()) if licensed is None or name in licensed
        ]

    def _search(self, corpus: Corpus, query: Query, *, pinned: bool) -> list[Passage]:
        societies = None if query.society_filter is None else set(query.society_filter)
        editions = set(query.editions or ())

        def accept(passage: Passage) -> bool:
            if societies is not None and passage.society not in societies:
                return False
            return not editions or str(passage.edition_year) in editions

        indexes = self._contracted if pinned and not editions else self._whole
        return indexes[corpus.id].search(query.question, accept)

    def _of_another_society(self, corpus: Corpus, question: str) -> list[Passage]:
        """Passages of the next corpus by id of which no society is ours; none where there is no such corpus."""
        names = sorted(self._library.corpora)
        place = names.index(corpus.id)
        for name in (*names[place + 1 :], *names[:place]):
            other = self._library.corpora[name]
            if set(other.societies).isdisjoint(corpus.societies):
                found = self._contracted[name].search(question, other.is_pinned)
                return found or [passage for passage in other.passages if other.is_pinned(passage)][:TOP]
        return []

    def _found(
        self,
        passages: Iterable[Passage],
        max_tokens: int | None,
        fault: Fault | None,
        corpus: Corpus,
        place: float = 0.0,
    ) -> Found:
        kept = _within(passages, max_tokens)
        spoiling = Spoiling(library=self._library, corpus=corpus, place=place)
        return Found(
            passages=tuple(each.wire() if fault is None else spoil(fault, each, spoiling) for each in kept),
            tokens=sum(passage.words for passage in kept),
        )


def _within(passages: Iterable[Passage], max_tokens: int | None) -> list[Passage]:
    """The leading passages that fit into the tokens; the first one whether it fits or not."""
    ranked = list(passages)
    if max_tokens is None:
        return ranked
    total = 0

    def fits(passage: Passage) -> bool:
        nonlocal total
        total += passage.words
        return total <= max_tokens

    return list(takewhile(fits, ranked)) or ranked[:1]
