"""Commands that read what a night stored, on one small night."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from sqlalchemy import create_engine, text

from tests.end_to_end.command import Place, gateway_place


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """AWWA and SAE measured once, SAE below its floor."""
    with gateway_place(tmp_path_factory.mktemp("night"), "demo") as place:
        ended = place.nightly("--society", "awwa", "--society", "sae")
        assert ended.returncode == 0, ended.stderr
        yield place


def _run_id(place: Place) -> str:
    (run,) = place.runs()
    return run.run_id


def test_status_says_what_is_there(night: Place) -> None:
    rows = json.loads(night.run("status", "--format", "json").stdout)
    assert [(row["society"], row["planned"], row["answered"], row["status"]) for row in rows] == [
        ("awwa", 25, 25, "met"),
        ("sae", 59, 59, "breached"),
    ]
    table = night.run("status").stdout
    assert _run_id(night) in table and "complete" in table


def test_reports_print_the_same_figures_in_every_form(night: Place) -> None:
    run = _run_id(night)
    forms = {form: night.run("report", run, "--format", form).stdout for form in ("table", "json", "junit", "markdown")}
    societies = {each["slug"]: each for each in json.loads(forms["json"])["societies"]}
    (headline,) = [
        measure
        for measure in societies["sae"]["measures"]
        if measure["name"] == "citation_correctness" and measure["stratum"] is None
    ]
    percent = f"{headline['value'][2:4]}.{headline['value'][4:]}"
    figure = f"{headline['good']}/{headline['valid']} {percent} %"
    for form in ("table", "markdown", "junit"):
        assert figure in forms[form], form
    suite = ET.fromstring(forms["junit"].encode())
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    assert forms["table"].splitlines()[-1] == f"Internal reports: reports/internal/{run[:10]}"
    assert forms["markdown"].startswith(f"## Run {run}\n\n| society | measure |")


def test_show_prints_one_item_whole(night: Place) -> None:
    shown = night.run("show", _run_id(night), "sae-j193921-0001").stdout
    for part in ("query: ", "expectation 1: [SAE J1939-21:2001 §", "passage 1: ", "HTTP 200", "le_"):
        assert part in shown


def test_show_names_the_diagnosis_of_what_failed(night: Place) -> None:
    engine = create_engine(f"sqlite:///{night.reports / 'harness.db'}")
    with engine.connect() as connection:
        row = connection.execute(text("SELECT item_id, diagnosis FROM fault ORDER BY item_id")).first()
    engine.dispose()
    assert row is not None
    shown = night.run("show", _run_id(night), row.item_id).stdout
    assert f"diagnosis: {row.diagnosis}" in shown
    assert "failed checks: " in shown
    assert "\n  gold  " in shown and "\n  returned  " in shown and "^" in shown


def test_error_show_of_what_is_not_there(night: Place) -> None:
    ended = night.run("show", "no-run", "x")
    assert (ended.returncode, ended.stderr) == (
        2,
        "harness: run 'no-run': not in this database; `harness status` lists them\n",
    )
    ended = night.run("show", _run_id(night), "x")
    assert (ended.returncode, ended.stderr) == (2, f"harness: item 'x': not planned in run {_run_id(night)}\n")


def test_a_night_compared_with_itself_has_no_flip(night: Place) -> None:
    (run,) = night.runs()
    ended = night.run("compare", run.night, run.night)
    assert ended.returncode == 0
    assert re.search(r"sae +│ 63 +│ 0 +│ 0 +│ 1\.000000", ended.stdout), ended.stdout
    missing = night.run("compare", "2020-01-01", run.night)
    assert missing.returncode == 2


def test_flags_list_show_and_verify(night: Place) -> None:
    listed = night.run("flags", "list", "--all", "--format", "json")
    settlements = json.loads(listed.stdout)
    assert [each["society"]["slug"] for each in settlements] == ["awwa", "sae"]
    (night_label,) = {each["window"]["label"] for each in settlements}
    shown = night.run("flags", "show", f"slf_sae_citation_correctness_{night_label}").stdout.splitlines()
    assert [json.loads(line)["type"].rsplit(".", 3)[1:] for line in shown] == [
        ["window", "evaluated", "v1"],
        ["window", "finalized", "v1"],
    ]
    assert shown == [event.body for event in night.events() if "_sae_" in event.subject]
    unknown = night.run("flags", "show", "slf_x")
    assert unknown.returncode == 2
    assert night.run("flags", "verify").stdout == "3 events, the chain is whole and the journal has each of them\n"


def test_error_a_tampered_event_is_named(night: Place, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    copy.write_bytes((night.reports / "harness.db").read_bytes())
    engine = create_engine(f"sqlite:///{copy}")
    with engine.begin() as connection:
        connection.execute(text("DROP TRIGGER settlement_events_no_UPDATE"))
        connection.execute(text("UPDATE settlement_events SET body = replace(body, '\"25\"', '\"10\"') WHERE seq = 2"))
    engine.dispose()
    ended = Place(folder=tmp_path, database=f"sqlite:///{copy}").run("flags", "verify")
    assert ended.returncode == 6
    assert ended.stderr.startswith("harness: ledger: event 2 (slf_sae_citation_correctness_")


def test_the_schema_version_is_told(night: Place, tmp_path: Path) -> None:
    assert night.run("db", "current").stdout == "0002\n"
    empty = Place(folder=tmp_path)
    assert empty.run("db", "current").stdout == "none: the database is empty (this release needs 0002)\n"
    assert empty.run("db", "upgrade").stdout == "schema version 0002\n"


def test_stats_count_the_sample(tmp_path: Path) -> None:
    told = Place(folder=tmp_path).run("testset", "stats", "--society", "awwa", "--night", "2026-11-29")
    assert told.returncode == 0, told.stderr
    assert "awwa: test set 1, night 2026-11-29: 25 active of 25 items, 30 expectations, 2 clusters" in told.stdout
    assert "at the floor 0.95 of citation_correctness a 95 % interval without clusters reaches" in told.stdout


def test_lint_passes_the_shipped_societies_and_tells_the_chance_of_a_flag(tmp_path: Path) -> None:
    told = Place(folder=tmp_path).run("testset", "lint")
    assert told.returncode == 0, told.stderr
    assert "7 societies, no errors" in told.stdout
    assert "flagged at" in told.stdout and "0.98" in told.stdout


def test_error_a_month_that_is_none_is_not_read_as_one_without_settlements(night: Place) -> None:
    ended = night.run("flags", "export", "--window-in", "2026-13")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "harness: month: found '2026-13'; expected a month such as 2026-11\n"


def test_error_a_ledger_behind_its_journal_is_neither_listed_nor_exported(night: Place, tmp_path: Path) -> None:
    place = Place(folder=tmp_path)
    shutil.copytree(night.reports, place.reports, symlinks=True)
    engine = create_engine(f"sqlite:///{place.reports / 'harness.db'}")
    with engine.begin() as connection:
        connection.execute(text("DROP TRIGGER settlement_events_no_DELETE"))
        connection.execute(text("DELETE FROM settlement WHERE seq = 3"))
        connection.execute(text("DELETE FROM settlement_events WHERE seq = 3"))
    engine.dispose()
    for command in (("flags", "list", "--all"), ("flags", "export")):
        ended = place.run(*command)
        assert (ended.returncode, ended.stdout) == (1, ""), command
        assert "the database ends at event 2" in ended.stderr
    assert place.run("flags", "replay").stdout.startswith("1 events restored from ")
    assert place.run("flags", "list", "--all").returncode == 0
