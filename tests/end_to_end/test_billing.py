"""The quarter over real HTTP: the feed from nothing, the example consumer and its credits, the guide's commands."""

import importlib.util
import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest

from harness.store.ledger import Query
from tests.api.server import Caller, HeldCall, serving, token_for
from tests.end_to_end.deployment import Deployment
from tests.end_to_end.quarter import CREDITS
from tests.tools import require_tool

ROOT: Final = Path(__file__).parents[2]
CONSUMER: Final = ROOT / "examples" / "billing_consumer.py"
GUIDE: Final = ROOT / "docs" / "billing.md"


pytestmark = [pytest.mark.xdist_group("quarter"), pytest.mark.timeout(900)]


class Billing:
    """What billing has: the quarter's server, a token, and the example consumer."""

    def __init__(self, deployment: Deployment, url: str, token: str) -> None:
        self.deployment = deployment
        self.url = url
        self.token = token
        self.caller = Caller(url=url, token=token)

    def start(self, database: Path, invoice: str = "I") -> subprocess.Popen[str]:
        """The example consumer as a process of its own."""
        environment = {"CITEHOUSE_TOKEN": self.token, "PATH": os.environ["PATH"]}
        command = [sys.executable, str(CONSUMER), self.url, str(database), invoice]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def consume(self, database: Path, invoice: str = "I") -> str:
        """Run the consumer to its end; what it printed."""
        with self.start(database, invoice) as consumer:
            out, err = consumer.communicate(timeout=60)
        assert consumer.returncode == 0, err
        return out


@pytest.fixture(scope="module")
def billing(quarter: Deployment) -> Iterator[Billing]:
    token = token_for(quarter.stages.place.engine, quarter.clock)
    with serving(quarter.ledger, quarter.clock) as url:
        yield Billing(quarter, url, token)


def _by_hand() -> dict[tuple[str, str], Decimal]:
    """What is credited in the end for each society and window, by the table worked out by hand."""
    return {key: sum((Decimal(percent) for percent, _ in credits), Decimal(0)) for key, credits in CREDITS.items()}


def _credited(database: Path) -> dict[tuple[str, str], Decimal]:
    with closing(sqlite3.connect(database)) as connection:
        credits: dict[tuple[str, str], Decimal] = {}
        for society, window, percent in connection.execute("SELECT society, window_label, percent FROM credit"):
            credits[society, window] = credits.get((society, window), Decimal(0)) + Decimal(percent)
    return credits


def _fold(events: list[dict[str, Any]]) -> dict[str, Any]:
    """What a consumer that keeps each settlement's latest revision comes to."""
    latest: dict[str, Any] = {}
    for event in events:
        data = event["data"]
        if data["revision"] > latest.get(data["subject"], {"revision": 0})["revision"]:
            latest[data["subject"]] = data
    return latest


def _settlements(billing: Billing) -> dict[str, Any]:
    found: dict[str, Any] = {}
    after = ""
    while True:
        page = billing.caller.get(f"/v1/sla/settlements?limit=77{after}").json
        found |= {each["subject"]: each for each in page["settlements"]}
        if page["next"] is None:
            return found
        after = f"&after={page['next']}"


@pytest.mark.parametrize("limit", [1, 13, 1000])
def test_the_feed_from_nothing_comes_to_what_the_api_says(billing: Billing, limit: int) -> None:
    events: list[dict[str, Any]] = []
    after = ""
    while batch := billing.caller.get(f"/v1/sla/events?limit={limit}{after}").json:
        events += batch
        after = f"&after={events[-1]['sequence']}"
    assert len(events) == billing.deployment.ledger.count()
    assert _fold(events) == _settlements(billing)
    assert _fold(events[::-1] + events) == _settlements(billing)  # in any order, and twice


def test_the_consumers_credits_are_those_worked_out_by_hand(billing: Billing, tmp_path: Path) -> None:
    printed = billing.consume(tmp_path / "billing.db", "hand-1")
    assert _credited(tmp_path / "billing.db") == _by_hand()
    rows = [f"{society},{window},{percent}" for (society, window), percent in sorted(_by_hand().items())]
    assert printed.splitlines() == ["society,window,percent", *rows]
    billing.consume(tmp_path / "billing.db", "hand-2")
    assert _credited(tmp_path / "billing.db") == _by_hand()
    subject = "slf_alpha_citation_correctness_2026-08"
    said = billing.caller.get(f"/v1/sla/settlements/{subject}").json["acknowledgements"]
    own = [each for each in said if each["invoice_ref"].startswith("hand-")]  # the quarter's ledger is shared
    assert [(each["revision"], each["invoice_ref"]) for each in own] == [(2, "hand-1")]


def test_killed_in_the_middle_of_any_call_the_consumer_credits_the_same(quarter: Deployment, tmp_path: Path) -> None:
    """With kill -9, while the server has the call and has not answered; it then answers nobody."""
    held = HeldCall()
    token = token_for(quarter.stages.place.engine, quarter.clock)
    database = tmp_path / "billing.db"
    with serving(quarter.ledger, quarter.clock, held.around) as url:
        billing = Billing(quarter, url, token)
        for number in range(1, 40):
            held.hold(number)
            with billing.start(database) as consumer:
                while not held.reached.wait(0.1) and consumer.poll() is None:
                    pass
                if not held.reached.is_set():
                    break
                consumer.kill()
            held.go.set()
        assert (consumer.wait(), number > 5) == (0, True)
    assert _credited(database) == _by_hand()


def test_killed_between_any_two_calls_the_consumer_credits_the_same(
    billing: Billing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every place between two calls of the API, by an exception that no handler catches."""
    module = _consumer()
    monkeypatch.setenv("CITEHOUSE_TOKEN", billing.token)
    call = module.Api._call
    database = tmp_path / "billing.db"

    class Killed(BaseException):
        pass

    for allowed in range(1, 60):
        made = 0

        def counted(self: object, *words: object, most: int = allowed) -> object:
            nonlocal made
            made += 1
            answer = call(self, *words)
            if made >= most:
                raise Killed  # the answer came, and nothing was done with it
            return answer

        monkeypatch.setattr(module.Api, "_call", counted)
        try:
            module.main(billing.url, str(database), "K")
        except Killed:
            database.with_suffix(f".{allowed}").write_bytes(database.read_bytes())
            continue
        break
    else:
        pytest.fail("the consumer never came to its end")
    assert _credited(database) == _by_hand()


def test_the_rise_is_credited_as_the_difference(billing: Billing, tmp_path: Path) -> None:
    """Billing pulls every fortnight: what it credits when is what became final when."""
    events = billing.caller.get("/v1/sla/events?limit=1000").json
    finals = [
        (each["data"]["society"]["slug"], each["data"]["window"]["label"], each["data"]["finalized_at"][:10])
        for each in events
        if each["type"].endswith("finalized.v1") and Decimal(each["data"]["billable_percent"]) > 0
    ]
    for key, credits in CREDITS.items():
        for _, day in credits:
            assert (*key, day) in finals


def test_the_periods_say_what_is_billable(billing: Billing) -> None:
    found: dict[tuple[str, str], Decimal] = {}
    for month in ("2026-07", "2026-08", "2026-09"):
        period = billing.caller.get(f"/v1/sla/periods/{month}").json
        assert (period["complete"], period["settled"]) == (True, True), month
        for society in period["societies"]:
            for window in society["windows"]:
                if Decimal(window["billable_percent"]):
                    found[society["slug"], window["label"]] = Decimal(window["billable_percent"])
    assert found == _by_hand()


def test_every_command_of_the_guide_works(billing: Billing, tmp_path: Path) -> None:
    require_tool("curl")
    blocks = re.findall(r"```bash\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    environment = {"API": billing.url, "TOKEN": billing.token, "PATH": os.environ["PATH"]}
    assert len(blocks) >= 6
    for block in blocks:
        ended = subprocess.run(
            ["bash", "-ec", block],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ended.returncode == 0, (block, ended.stderr)
        assert ended.stdout


def test_the_guide_names_every_field_and_reason_that_it_should(billing: Billing) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    stand = next(billing.deployment.ledger.settlements(Query()))
    keys: Mapping[str, Any] = json.loads(stand.event.body)["data"]
    for name in (
        "status",
        "state",
        "target_percent",
        "assessed_percent",
        "billable_percent",
        "finalized_at",
        "evidence",
    ):
        assert f"`{name}`" in text and name in keys
    reasons = {json.loads(event.body)["data"]["reason"] for event in billing.deployment.ledger.events()} - {None}
    assert all(f"`{reason}`" in text for reason in reasons)


def test_two_consumers_at_once_credit_what_one_does(billing: Billing, tmp_path: Path) -> None:
    """Both have read the feed and work out the credits at the same moment."""
    module = _consumer()
    database = tmp_path / "billing.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(module.SCHEMA)
        module.read_feed(module.Api(billing.url, billing.token), connection)
    barrier = threading.Barrier(4)

    def credit(number: int) -> None:
        with closing(sqlite3.connect(database, timeout=30)) as connection:
            barrier.wait()
            module.credit(connection, f"I-{number}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(credit, range(4)))
    assert _credited(database) == _by_hand()


def _consumer() -> Any:
    """The example as a module."""
    spec = importlib.util.spec_from_file_location("billing_consumer", CONSUMER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
