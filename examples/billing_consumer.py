#!/usr/bin/env python3
"""A billing system's end of the settlement feed, with the standard library alone: copy it and put your own ledger in.

It reads the feed from where it stopped, keeps each settlement as its latest event states it, and credits, for every
society and window, the highest billable percent less what it has credited for that window before. It may be killed at
any point and run any number of times: nothing is credited twice and nothing is missed, because

* the cursor, the settlements and the credits change in one transaction of its own database,
* an event that comes again has a revision that is known already, and is passed over,
* credits are worked out only when the feed has been read to its end, and from what stands, not from what came in,
* a billable percent never falls, so that a credit is never taken back.

    export CITEHOUSE_TOKEN=cht_…            # harness tokens create --scope read:sla --scope write:ack --name billing
    python3 billing_consumer.py http://127.0.0.1:8400 billing.db 2026-12

The last argument is the invoice that new credits go on; they are printed as CSV.
"""

import csv
import json
import os
import sqlite3
import sys
from contextlib import closing
from decimal import Decimal
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

SCHEMA = """
CREATE TABLE IF NOT EXISTS cursor (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), sequence TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS settlement (
    subject TEXT PRIMARY KEY, revision INTEGER NOT NULL, society TEXT NOT NULL, window_label TEXT NOT NULL,
    billable_percent TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS credit (
    society TEXT NOT NULL, window_label TEXT NOT NULL, percent TEXT NOT NULL, invoice TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS acknowledgement (
    subject TEXT NOT NULL, revision INTEGER NOT NULL, invoice TEXT NOT NULL, sent INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (subject, revision));
"""
BATCH = 100


class Stop(Exception):
    """Something that a person must look at; nothing was lost."""


class Api:
    """The calls of the settlement API that billing needs."""

    def __init__(self, base: str, token: str) -> None:
        if not base.startswith(("https://", "http://")):
            raise Stop(f"{base}: expected the API's address, such as https://citehouse.example")
        self._base = base.rstrip("/")
        self._token = token

    def events(self, after: str | None) -> list[dict[str, Any]]:
        """The next batch behind a sequence; an empty one is the end."""
        query = {"limit": str(BATCH)} | ({} if after is None else {"after": after})
        batch: list[dict[str, Any]] = self._call("GET", f"/v1/sla/events?{urlencode(query)}")
        return batch

    def acknowledge(self, subject: str, revision: int, invoice: str) -> None:
        """Tell what was done; the same key again is answered the same and changes nothing."""
        body = {"revision": revision, "invoice_ref": invoice}
        key = f"{subject}/{revision}/{invoice}"
        self._call("POST", f"/v1/sla/settlements/{quote(subject, safe='')}/acknowledgements", body, key)

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None, key: str | None = None) -> Any:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        content = None if body is None else json.dumps(body).encode()
        try:
            request = Request(self._base + path, content, headers, method=method)  # noqa: S310 - http or https, see above
            with urlopen(request, timeout=30) as answer:  # noqa: S310
                return json.load(answer)
        except HTTPError as error:
            problem = error.read(2000).decode(errors="replace")
            if error.code == 410:
                raise Stop(
                    f"the cursor is not one of this ledger: stop and call, never start over. {problem}"
                ) from None
            if error.code == 503:
                raise Stop(f"the ledger is not available now: try again later. {problem}") from None
            raise Stop(f"{method} {path}: {error.code} {problem}") from None
        except (URLError, ConnectionError, TimeoutError) as error:
            raise Stop(f"{self._base} cannot be reached: try again later. {error}") from None


def read_feed(api: Api, database: sqlite3.Connection) -> None:
    """Take in everything up to the end of the feed, a batch and its cursor in one transaction."""
    while True:
        row = database.execute("SELECT sequence FROM cursor").fetchone()
        batch = api.events(None if row is None else row[0])
        if not batch:
            return
        with database:
            for event in batch:
                take_in(database, event["data"])
            database.execute("INSERT OR REPLACE INTO cursor VALUES (1, ?)", (batch[-1]["sequence"],))


def take_in(database: sqlite3.Connection, data: dict[str, Any]) -> None:
    """Keep what an event states, unless a later revision of its settlement is known."""
    database.execute(
        """INSERT INTO settlement VALUES (?, ?, ?, ?, ?) ON CONFLICT (subject) DO UPDATE
           SET revision = excluded.revision, billable_percent = excluded.billable_percent
           WHERE excluded.revision > settlement.revision""",
        (
            data["subject"],
            data["revision"],
            data["society"]["slug"],
            data["window"]["label"],
            data["billable_percent"],
        ),
    )


def credit(database: sqlite3.Connection, invoice: str) -> None:
    """Credit, for each society and window, what is billable above what has been credited for it."""
    with database:
        database.execute("BEGIN IMMEDIATE")  # two runs at once: the second reads what the first has credited
        stands: dict[tuple[str, str], list[tuple[Decimal, str, int]]] = {}
        query = "SELECT society, window_label, billable_percent, subject, revision FROM settlement"
        for society, label, percent, subject, revision in database.execute(query):
            stands.setdefault((society, label), []).append((Decimal(percent), subject, revision))
        for (society, label), settlements in sorted(stands.items()):
            highest, subject, revision = max(settlements)  # of several over one window the highest counts
            credited = database.execute(
                "SELECT percent FROM credit WHERE society = ? AND window_label = ?", (society, label)
            )
            due = highest - sum((Decimal(percent) for (percent,) in credited), Decimal(0))
            if due > 0:
                database.execute("INSERT INTO credit VALUES (?, ?, ?, ?)", (society, label, str(due), invoice))
                database.execute(
                    "INSERT OR IGNORE INTO acknowledgement (subject, revision, invoice) VALUES (?, ?, ?)",
                    (subject, revision, invoice),
                )


def acknowledge(api: Api, database: sqlite3.Connection) -> None:
    """Tell of credits that were not told yet; told twice after a crash, they count once."""
    query = "SELECT subject, revision, invoice FROM acknowledgement WHERE NOT sent"
    for subject, revision, invoice in database.execute(query).fetchall():
        api.acknowledge(subject, revision, invoice)
        with database:
            database.execute(
                "UPDATE acknowledgement SET sent = 1 WHERE subject = ? AND revision = ?", (subject, revision)
            )


def main(base: str, file: str, invoice: str) -> None:
    """Read, credit, acknowledge, print the invoice's credits."""
    api = Api(base, os.environ["CITEHOUSE_TOKEN"])
    with closing(sqlite3.connect(file)) as database:
        database.executescript(SCHEMA)
        read_feed(api, database)
        credit(database, invoice)
        acknowledge(api, database)
        out = csv.writer(sys.stdout)
        out.writerow(("society", "window", "percent"))
        query = "SELECT society, window_label, percent FROM credit WHERE invoice = ? ORDER BY society, window_label"
        out.writerows(database.execute(query, (invoice,)))


if __name__ == "__main__":
    if len(sys.argv) != 4 or "CITEHOUSE_TOKEN" not in os.environ:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except Stop as stop:
        sys.exit(f"billing_consumer: {stop}")
