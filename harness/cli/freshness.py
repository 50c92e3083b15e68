"""`harness check-freshness`: the dead-man switch, which knows nothing of the job that it watches (publishing.md)."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from urllib.error import URLError
from urllib.parse import urljoin, urlsplit
from urllib.request import Request, urlopen

import click
import msgspec

from harness.cli.tables import print_table
from harness.clock import SystemClock
from harness.settings import Settings
from harness.site.eval_json import EvalDocument, decode
from harness.site.index import IndexEntry, read_index

MOST_HOURS: Final = 26.0
DIFFERS: Final = 6
COULD_NOT_CHECK: Final = 7

_SECONDS: Final = 30.0
_LARGEST: Final = 64 * 1024 * 1024
_AHEAD: Final = timedelta(minutes=5)
"""How far another machine's clock may be ahead of ours."""


class _Unreadable(Exception):
    """A file of the site that cannot be had or is none of ours."""


@click.command("check-freshness")
@click.argument("address", required=False)
@click.option("--society", "societies", multiple=True, metavar="SLUG", help="Only this society; may be repeated.")
@click.option(
    "--max-age", type=click.FloatRange(0, min_open=True), default=MOST_HOURS, show_default=True, help="Hours."
)
@click.pass_obj
def check_freshness(
    load: Callable[[], Settings], /, address: str | None, societies: tuple[str, ...], max_age: float
) -> int:
    """Fail when a society's newest measured night finished too long ago.

    ADDRESS is where the public site is, https://… or a folder; without one the site's base_url of harness.toml, else
    REPORTS/site. Only its eval.json files are read, so that this holds wherever the night runs. Start it from another
    machine than the night's.

    \b
    Exit codes: 0 all fresh · 6 some society is stale, or its page is marked so · 7 something could not be read.
    """
    settings = load()
    place = address or settings.site.base_url or str(settings.reports / "site")
    now = SystemClock().now()
    try:
        entries = read_index(_read(place, "standards/index.json"))
        rows = [_judge(place, entry, now, timedelta(hours=max_age)) for entry in _chosen(entries, societies)]
    except (_Unreadable, msgspec.DecodeError) as error:
        click.echo(f"harness: {place}: cannot be checked: {error}", err=True)
        return COULD_NOT_CHECK
    if not rows:
        click.echo(f"harness: {place}: cannot be checked: no society is published there", err=True)
        return COULD_NOT_CHECK
    print_table("Freshness", ("society", "newest measured night", "finished", "hours ago", "state"), rows)
    return 0 if all(row[-1] == "fresh" for row in rows) else DIFFERS


def _chosen(entries: dict[str, IndexEntry], societies: tuple[str, ...]) -> Iterator[IndexEntry]:
    """The entries asked for, all without a wish. Raises _Unreadable for one that is not published."""
    for slug in societies or sorted(entries):
        if slug not in entries:
            raise _Unreadable(f"no society {slug[:80]!r} is published there")
        yield entries[slug]


def _judge(place: str, entry: IndexEntry, now: datetime, most: timedelta) -> tuple[str, str, str, str, str]:
    """A line of the table, `fresh` at its end where nothing is amiss."""
    slug = entry.society.slug
    document = decode(_read(place, f"standards/{slug}/eval/eval.json"))
    if not _measured(document):
        return (slug, document.night, "–", "–", "stale: nothing was measured in it")
    finished = _moment(document.run.finished_at)
    age = now - finished
    if age < -_AHEAD:
        state = "stale: finished in the future"
    elif age > most:
        state = f"stale: more than {most / timedelta(hours=1):g} h ago"
    elif entry.stale is not None:
        state = f"stale: revision {entry.stale.revision} of {entry.stale.night} was refused"
    else:
        state = "fresh"
    hours = f"{age / timedelta(hours=1):.1f}"
    return (slug, document.night, f"{finished:%Y-%m-%d %H:%M:%SZ}", hours, state)


def _measured(document: EvalDocument) -> bool:
    """Whether any expectation of the night was asked: a night that is all our own failure measured nothing."""
    return document.outcomes.harness_error < document.outcomes.planned


def _moment(utc: str) -> datetime:
    try:
        moment = datetime.fromisoformat(utc)
    except ValueError:
        raise _Unreadable(f"finished_at {utc[:40]!r} is no time") from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _read(place: str, name: str) -> bytes:
    """A file of the site, over HTTP or from disk. Raises _Unreadable."""
    scheme = urlsplit(place).scheme
    try:
        if scheme in ("http", "https"):
            asked = Request(urljoin(f"{place.rstrip('/')}/", name), headers={"Accept": "application/json"})  # noqa: S310
            with urlopen(asked, timeout=_SECONDS) as answer:  # noqa: S310 - the scheme is one of these two
                content: bytes = answer.read(_LARGEST + 1)
        else:
            content = (Path(place) / name).read_bytes()
    except (OSError, URLError, ValueError) as error:
        raise _Unreadable(f"{name}: {getattr(error, 'reason', None) or error}") from None
    if len(content) > _LARGEST:
        raise _Unreadable(f"{name}: is larger than any that we publish")
    return content
