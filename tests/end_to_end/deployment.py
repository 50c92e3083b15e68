"""A whole deployment whose clock is told the time and whose gateway answers by a script: months in seconds."""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, Final

from harness.errors import NothingMeasured
from harness.gateway.answer import Answer, Attempt, Question, Reason
from harness.gateway.body import read_body
from harness.gateway.mapping import RestMapping
from harness.nightly.collect import AsksQuestions
from harness.nightly.emit import Emitter
from harness.nightly.internal import InternalPlace
from harness.nightly.night import CollectionWindow
from harness.nightly.nightly import NightReport, run_night
from harness.nightly.publish import SitePlace
from harness.nightly.results import Publisher
from harness.nightly.sitting import Spent, Workplace, WrapClient
from harness.nightly.stages import Stages
from harness.sla.evaluation import ReasonCode
from harness.sla.ledger import LedgerSettings
from harness.store.engine import open_engine
from harness.store.files import BlobStore
from harness.store.journal import Journal
from harness.store.ledger import Ledger
from harness.store.migrate import upgrade
from tests.clock import FakeClock
from tests.testset.folder import CHANGES, SOCIETY, gold, item, sha256_of, write_society

MAPPING: Final = RestMapping()
START: Final = time(2, 17)

Reply = Mapping[str, Any] | Reason
"""A passage that the gateway returns, or why it returns none."""

Script = Callable[[str, date, int], Reply]
"""From society slug, night and number of the item to the gateway's reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A deployment in one folder. `script` decides every answer."""

    folder: Path
    clock: FakeClock
    stages: Stages

    @property
    def ledger(self) -> Ledger:
        return self.stages.emitter.ledger

    def at(self, night: date, clock: time = START) -> None:
        """Let it be that moment."""
        self.clock.advance((datetime.combine(night, clock, UTC) - self.clock.now()).total_seconds())

    def nightly(
        self, night: date, supersede: ReasonCode | None = None, clock: time = START, only: tuple[str, ...] | None = None
    ) -> NightReport | NothingMeasured:
        """Start the nightly at its time; NothingMeasured is returned, as cron would go on to the next night."""
        self.at(night, clock)
        try:
            return run_night(self.stages, night, only, supersede)
        except NothingMeasured as error:
            return error

    def with_testsets(self, testsets: Path) -> "Deployment":
        """The same with other folders of societies."""
        place = replace(self.stages.place, testsets=testsets)
        return replace(self, stages=replace(self.stages, place=place))

    def close(self) -> None:
        self.stages.place.engine.dispose()


def open_deployment(folder: Path, script: Script, url: str | None = None) -> Deployment:
    """A deployment with an empty database; its folders of societies are written to `testsets` by the test."""
    folder.mkdir(parents=True, exist_ok=True)
    engine = open_engine(url or f"sqlite:///{folder / 'harness.db'}")
    upgrade(engine)
    clock = FakeClock(datetime(2026, 1, 1, tzinfo=UTC))

    @asynccontextmanager
    async def open_asker(wrap: WrapClient, _spent: Spent) -> AsyncIterator[AsksQuestions]:
        client = wrap(_Scripted(script, clock))

        class Once:
            async def ask(self, question: Question) -> Answer:
                return await client.ask_once(question)

        yield Once()

    place = Workplace(
        engine=engine,
        blobs=BlobStore(folder / "store" / "blobs"),
        calls=folder / "store" / "calls",
        locks=folder / "store" / "locks",
        testsets=folder / "testsets",
        clock=clock,
        window=CollectionWindow(),
        transport="rest",
        gateway="v1",
        concurrency=8,
        deadline=None,
        open_asker=open_asker,
        progress=lambda _pending, _planned: _Quiet(),
    )
    stages = Stages(
        place=place,
        decode=lambda answer: read_body(answer, MAPPING),
        site=SitePlace(root=folder / "site", deployment="test", base_url="https://eval.example"),
        internal=InternalPlace(root=folder / "internal", gateway="https://gateway.example"),
        emitter=Emitter(
            ledger=Ledger(engine, Journal(folder / "store" / "ledger.jsonl")),
            clock=clock,
            settings=LedgerSettings(source="urn:citehouse:test", type_prefix="com.citehouse.eval."),
        ),
        publisher=Publisher(contact="mailto:eval@citehouse.example", demo=False),
    )
    return Deployment(folder=folder, clock=clock, stages=stages)


class _Scripted:
    """A gateway that answers by the script, for the night that the clock says."""

    def __init__(self, script: Script, clock: FakeClock) -> None:
        self._script = script
        self._clock = clock

    async def ask_once(self, question: Question) -> Answer:
        slug, _, item_id = question.ref.partition("/")
        reply = self._script(slug, self._clock.now().date(), int(item_id.rpartition("-")[2]))
        if isinstance(reply, Reason):
            return Answer(reason=reply, attempts=(Attempt(elapsed_ms=5, http_status=503, reason=reply),))
        body = {"passages": [reply], "tokens_returned": 40, "ledger_entry_id": f"call-{item_id}"}
        attempt = Attempt(elapsed_ms=5, http_status=200, ledger_entry_id=f"call-{item_id}")
        return read_body(Answer(raw=json.dumps(body).encode(), attempts=(attempt,)), MAPPING)

    async def aclose(self) -> None: ...


class _Quiet:
    def advance(self, answered: int) -> None: ...

    def close(self) -> None: ...


def nights(first: date, last: date) -> Iterable[date]:
    """Every night from the first to the last."""
    while first <= last:
        yield first
        first += timedelta(days=1)


RIGHT: Final = gold()
"""The gold of an item that nobody corrected, and what a gateway returns that is right."""

WRONG: Final = gold("§1.3", ["1", "3"])
"""Another section: wrong for an item of the usual gold, right for one corrected to it."""

OLD: Final = gold() | {"edition_year": 2018}
"""The right section of another edition: the string is right, the edition is not."""


def write_acme(
    root: Path,
    slug: str,
    terms: str,
    items: int = 20,
    corrected: Sequence[int] = (),
    version: str = "1",
    question: str = "What holds for case {number}?",
) -> Path:
    """A society's folder of that many items, of which the corrected ones have the other gold."""
    rows = [
        item(number, citations=[WRONG if number in corrected else RIGHT], query=question.format(number=number))
        for number in range(1, items + 1)
    ]
    society = SOCIETY.replace('version = "1"', f'version = "{version}"').replace("SHA256", sha256_of(rows))
    changes = CHANGES if version == "1" else CHANGES.replace("## 1 ", f"## {version} - 2026-08-06\n\nGold.\n\n## 1 ")
    return write_society(root, slug, items=rows, society=society, terms=terms, changes=changes)
