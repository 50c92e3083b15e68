"""The `harness` command as a person or cron runs it: a process of its own, in a folder of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from harness.reference.server import ReferenceSettings, running_gateway
from harness.scoring.model import ItemScore
from harness.sla.model import LedgerEvent
from harness.store.engine import open_engine
from harness.store.journal import Journal
from harness.store.ledger import Ledger
from harness.store.runs import Run, find_runs, run_societies
from harness.store.scores import iter_scores, latest_revision
from tests.shared import TESTSETS

KEY = "test-key"
COMMAND = Path(sys.executable).parent / "harness"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder in which the command works; `url` is the gateway's."""

    folder: Path
    url: str = "http://127.0.0.1:9"
    testsets: Path = TESTSETS
    database: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def reports(self) -> Path:
        return self.folder / "reports"

    @property
    def site(self) -> Path:
        return self.reports / "site"

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run to the end; at most two minutes."""
        return subprocess.run(
            self._line(words),
            cwd=self.folder,
            env=self._environment(environment),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start in the background, with interrupts as a terminal gives them: a shell's own background jobs, such as a
        test run among them, ignore them and hand that down."""
        return subprocess.Popen(
            self._line(words),
            cwd=self.folder,
            env=self._environment({}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )

    def nightly(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.run("nightly", "--gateway", self.url, *words)

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        engine = open_engine(self.database or f"sqlite:///{self.reports / 'harness.db'}")
        try:
            yield engine
        finally:
            engine.dispose()

    def verdicts(self) -> dict[str, list[ItemScore]]:
        """Every stored verdict by society: what two runs of a night must have in common."""
        found = {}
        with self.engine() as engine:
            for run in find_runs(engine):
                for part in run_societies(engine, run.run_id):
                    revision = latest_revision(engine, run.run_id, part.slug)
                    if revision is not None:
                        found[part.slug] = list(iter_scores(engine, revision.key))
        return found

    def runs_exist(self) -> bool:
        return self.database is not None or (self.reports / "harness.db").exists()

    def runs(self) -> list[Run]:
        with self.engine() as engine:
            return find_runs(engine)

    def events(self) -> list[LedgerEvent]:
        with self.engine() as engine:
            return list(Ledger(engine, Journal(self.reports / "store" / "ledger.jsonl")).events())

    def report(self) -> Any:
        """The JSON report of the only run."""
        (run,) = self.runs()
        return json.loads(self.run("report", run.run_id, "--format", "json").stdout)

    def _line(self, words: tuple[str, ...]) -> list[str]:
        database = () if self.database is None else ("--database", self.database)
        return [str(COMMAND), "--testsets", str(self.testsets), *database, *words]

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HARNESS_")}
        return kept | {"HARNESS_GATEWAY_KEY": KEY, "COLUMNS": "200"} | dict(self.environment) | dict(more)


@contextmanager
def gateway_place(folder: Path, faults: str | Path = "none", **settings: Any) -> Iterator[Place]:
    """A place whose gateway runs beside it with that fault profile; its ledger is `calls.db` in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    testsets = settings.pop("testsets", TESTSETS)
    reference = ReferenceSettings(
        testsets=testsets, keys={KEY: None}, faults=faults, ledger=folder / "calls.db", **settings
    )
    with running_gateway(reference) as url:
        yield Place(folder=folder, url=url, testsets=testsets)


def profile(folder: Path, *rules: str) -> Path:
    """A fault profile file of these rules, each a TOML inline table's inside."""
    path = folder / "faults.toml"
    lines = ",\n".join(f"  {{ {rule} }}" for rule in rules)
    path.write_text(f"rules = [\n{lines}\n]\n", encoding="utf-8")
    return path
