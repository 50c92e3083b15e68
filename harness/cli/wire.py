"""From settings to the parts of a night: the one place where they are put together."""

import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import click
from sqlalchemy import Engine

from harness.cli.progress import open_progress
from harness.clock import SystemClock
from harness.errors import HarnessError, InvalidInput, StoreError, UsageError
from harness.gateway.answer import Answer
from harness.gateway.body import read_body
from harness.gateway.mapping import RestMapping, read_mapping
from harness.gateway.pacing import Budget, Pacer
from harness.gateway.rest import PROTOCOL_VERSION, RestClient, RestSettings
from harness.gateway.retry import Asker, RetryPolicy
from harness.nightly.collect import AsksQuestions
from harness.nightly.emit import Emitter
from harness.nightly.internal import InternalPlace
from harness.nightly.night import CollectionWindow
from harness.nightly.publish import SitePlace
from harness.nightly.results import Publisher
from harness.nightly.sitting import OpenAsker, Spent, Workplace, WrapClient
from harness.nightly.stages import Stages
from harness.settings import Settings, checked_gateway_url
from harness.sla.ledger import LedgerSettings
from harness.store.engine import open_engine, sqlite_file
from harness.store.files import BlobStore
from harness.store.journal import Journal
from harness.store.ledger import Ledger
from harness.store.migrate import require_current

NO_GATEWAY = "no gateway is named: give --gateway URL, HARNESS_GATEWAY, or url under [gateway] in harness.toml"


def open_database(settings: Settings, *, new: bool = False) -> Engine:
    """The database with its schema in place. `new` makes one where there is none; without it that is a UsageError: a
    command that reads must not find nothing in a place that it has just made up."""
    if not new and (file := sqlite_file(settings.database_url)) is not None and not file.exists():
        raise UsageError(f"no database at {file}: name it with --database or --reports, or run a night first")
    engine = open_engine(settings.database_url)
    require_current(engine)
    return engine


def open_ledger(settings: Settings) -> Ledger:
    """The ledger of a database that is there already, with its journal."""
    return Ledger(open_database(settings), Journal(settings.journal_file))


def open_emitter(settings: Settings) -> Emitter:
    """What writes to the ledger of a database that is there already."""
    return _emitter(settings, open_database(settings))


def _emitter(settings: Settings, engine: Engine) -> Emitter:
    return Emitter(
        ledger=Ledger(engine, Journal(settings.journal_file)),
        clock=SystemClock(),
        settings=LedgerSettings(source=settings.ledger.source, type_prefix=settings.ledger.type_prefix),
    )


def open_stages(settings: Settings, *, demo: bool = False, must_ask: bool = False) -> Stages:
    """Everything a night needs. Raises UsageError where `must_ask` and no gateway is named."""
    if must_ask:
        if settings.gateway.url is None:
            raise UsageError(NO_GATEWAY)
        checked_gateway_url(settings.gateway.url)
        if (ca_file := settings.gateway.ca_file) is not None and not ca_file.is_file():
            raise UsageError(f"gateway.ca_file: {ca_file} is no file")
    clock = SystemClock()
    engine = open_database(settings, new=must_ask)
    mapping = gateway_mapping(settings)
    return Stages(
        place=Workplace(
            engine=engine,
            blobs=BlobStore(settings.store_folder / "blobs"),
            calls=settings.store_folder / "calls",
            locks=settings.store_folder / "locks",
            testsets=settings.testsets,
            clock=clock,
            window=CollectionWindow(opens=settings.night.opens, closes=settings.night.closes),
            transport="rest",
            gateway=PROTOCOL_VERSION,
            concurrency=settings.asking.concurrency,
            deadline=settings.asking.run_deadline,
            open_asker=_rest_asker(settings, mapping),
            progress=open_progress,
        ),
        decode=decoder(mapping),
        site=SitePlace(
            root=settings.reports / "site",
            deployment=settings.site.deployment,
            base_url=settings.site.base_url,
        ),
        internal=InternalPlace(root=settings.reports / "internal", gateway=_known_gateway(settings.gateway.url)),
        emitter=_emitter(settings, engine),
        publisher=Publisher(contact=settings.site.contact, demo=demo),
    )


def _known_gateway(url: str | None) -> str | None:
    """The gateway's address for links to its ledger; None where none is named, or what is named could not be asked."""
    try:
        return None if url is None else checked_gateway_url(url)
    except UsageError:
        return None


@contextmanager
def telling_unwritten(stages: Stages) -> Iterator[None]:
    """End the command with what could not be written of the internal reports when all else is done (StoreError); where
    another error ends it, what could not be written is told before."""
    try:
        yield
    except HarnessError:
        for failure in stages.internal.failures:
            click.echo(f"harness: {failure}", err=True)
        raise
    if stages.internal.failures:
        raise StoreError("\n".join(map(str, stages.internal.failures)))


def gateway_mapping(settings: Settings) -> RestMapping:
    """The REST mapping of the configuration. Raises InvalidInput."""
    mapping, problems = read_mapping(settings.gateway.rest, settings.source)
    if problems:
        raise InvalidInput(problems)
    return mapping


def decoder(mapping: RestMapping) -> Callable[[Answer], Answer]:
    """How stored bodies are read again."""
    return lambda answer: read_body(answer, mapping)


def _rest_asker(settings: Settings, mapping: RestMapping) -> OpenAsker:
    asking, gateway = settings.asking, settings.gateway

    @asynccontextmanager
    async def open_asker(wrap: WrapClient, spent: Spent) -> AsyncIterator[AsksQuestions]:
        if gateway.url is None:
            raise UsageError(NO_GATEWAY)
        clock = SystemClock()
        client = RestClient(
            RestSettings(
                url=checked_gateway_url(gateway.url),
                key=settings.gateway_key,
                call_timeout=asking.call_timeout,
                connections=asking.concurrency,
                ca_file=gateway.ca_file,
                mapping=mapping,
            ),
            clock,
        )
        try:
            yield Asker(
                wrap(client),
                clock,
                pacer=Pacer(clock, concurrency=asking.concurrency, rate=asking.rate),
                budget=Budget(
                    max_calls=asking.max_calls, max_tokens=asking.max_tokens, calls=spent.calls, tokens=spent.tokens
                ),
                policy=RetryPolicy(attempts=asking.attempts, deadline=asking.item_deadline),
                jitter=random.Random(),  # noqa: S311 - spreads retries, keeps no secret
            )
        finally:
            await client.aclose()

    return open_asker
