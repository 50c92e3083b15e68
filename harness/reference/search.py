"""Ranking by BM25 over one corpus, in memory, the same for the same corpus and question on every machine."""

import re
import sqlite3
from collections.abc import Callable, Iterable
from typing import Final

from harness.reference.corpus import Passage

TOP: Final = 10
"""Passages in an answer at most."""

_WORD: Final = re.compile(r"[^\W_]+")
_MOST_WORDS: Final = 64
_STOP_WORDS: Final = frozenset(
    _WORD.findall(
        """a about an and any are as at be been being between but by can could did do does doing done
        for from had has have having he her here his how i if in into is it its itself may me might
        more most must my no nor not of off on once only or other our ought out over own per same
        shall she should so some such than that the their them then there these they this those
        through to too under until up upon very was we were what when where which while who whom
        whose why will with within without would you your"""
    )
)


class Index:
    """A full-text index of passages: the text alone, English stems, ties in the order of the corpus."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        self._passages = tuple(passages)
        self._database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._database.execute("CREATE VIRTUAL TABLE passage USING fts5(text, tokenize='porter unicode61', content='')")
        self._database.execute("BEGIN")
        self._database.executemany(
            "INSERT INTO passage (rowid, text) VALUES (?, ?)",
            ((number, passage.text) for number, passage in enumerate(self._passages)),
        )
        self._database.execute("COMMIT")

    def search(self, question: str, accept: Callable[[Passage], bool], top: int = TOP) -> list[Passage]:
        """The best accepted passages that share a word with the question, best first."""
        expression = match_expression(question)
        if not expression:
            return []
        found: list[Passage] = []
        rows = self._database.execute(
            "SELECT rowid FROM passage WHERE passage MATCH ? ORDER BY bm25(passage), rowid", (expression,)
        )
        for (number,) in rows:
            passage = self._passages[number]
            if accept(passage):
                found.append(passage)
                if len(found) == top:
                    break
        rows.close()
        return found

    def close(self) -> None:
        self._database.close()


def match_expression(question: str) -> str:
    """The question as an FTS5 expression: its words, each quoted, any of which may match; empty where it has none.

    Stop words are dropped unless there is nothing else; the first 64 different words count.
    """
    words = list(dict.fromkeys(word.lower() for word in _WORD.findall(question)))
    telling = [word for word in words if word not in _STOP_WORDS] or words
    return " OR ".join(f'"{word}"' for word in telling[:_MOST_WORDS])
