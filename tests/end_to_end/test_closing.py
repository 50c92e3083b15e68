"""What is over is settled: nights that nobody ran, months, runs that another took the place of, and what was broken
off in between."""

import json
import shutil
from collections.abc import Iterator
from datetime import date, time
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InvalidInput, NothingMeasured, StoreError, UsageError
from harness.gateway.answer import Reason
from harness.nightly.closing import close_through
from harness.nightly.emit import append
from harness.nightly.nightly import NightReport, run_night
from harness.nightly.periods import period
from harness.nightly.rescore import rescore
from harness.sla.model import Status
from harness.store.ledger import Query
from harness.store.runs import find_runs, find_supersessions
from harness.store.scores import latest_revision
from tests.end_to_end.deployment import RIGHT, WRONG, Deployment, Reply, nights, open_deployment, write_acme
from tests.end_to_end.quarter import MONTHLY, NIGHTLY

FIRST = date(2026, 7, 1)


class Gateway:
    """What the gateway answers; a test changes it as it goes."""

    def __init__(self) -> None:
        self.wrong: set[int] = set()
        self.reason: Reason | None = None
        self.failing: dict[str, Reason] = {}

    def __call__(self, slug: str, _night: date, number: int) -> Reply:
        if (reason := self.failing.get(slug, self.reason)) is not None:
            return reason
        return WRONG if number in self.wrong else RIGHT


@pytest.fixture
def gateway() -> Gateway:
    return Gateway()


@pytest.fixture
def deployment(tmp_path: Path, gateway: Gateway) -> Iterator[Deployment]:
    """Gamma on nights with two floors, nobody asked yet."""
    opened = open_deployment(tmp_path, gateway)
    write_acme(tmp_path / "testsets", "gamma", NIGHTLY)
    yield opened
    opened.close()


def _told(deployment: Deployment, measure: str = "citation_correctness") -> list[tuple[str, str, str, str]]:
    """(window, state, status, target) of every event of a measure, in sequence."""
    data: list[dict[str, Any]] = [json.loads(event.body)["data"] for event in deployment.ledger.events()]
    return [
        (each["window"]["label"], each["state"], each["status"], each["target_percent"])
        for each in data
        if each["objective"]["measure"] == measure
    ]


def _done(report: NightReport | NothingMeasured) -> NightReport:
    assert isinstance(report, NightReport)
    return report


def test_nights_that_nobody_ran_are_recorded_by_the_next_nightly(deployment: Deployment) -> None:
    deployment.nightly(FIRST)
    deployment.nightly(date(2026, 7, 4))
    assert _told(deployment) == [
        ("2026-07-01", "open", "met", "0"),
        ("2026-07-02", "open", "not_run", "0"),
        ("2026-07-03", "open", "not_run", "0"),
        ("2026-07-04", "open", "met", "0"),
    ]
    (event, *_) = deployment.ledger.events(subject="slf_gamma_citation_correctness_2026-07-02")
    data = json.loads(event.body)["data"]
    assert data["coverage"] == {"nights_expected": 1, "nights_measured": 0, "nights_missed": ["2026-07-02"]}
    assert (data["measured"], data["claim"], data["evidence"]["scores_url"]) == ({"good": 0, "valid": 0}, None, None)
    assert data["warnings"] == ["no call was sent"]


def test_a_folder_that_was_broken_or_removed_is_not_silent(deployment: Deployment, tmp_path: Path) -> None:
    write_acme(tmp_path / "testsets", "other", NIGHTLY)
    deployment.nightly(FIRST)
    (tmp_path / "testsets" / "gamma" / "items.jsonl").write_text("{}\n")
    assert _done(deployment.nightly(date(2026, 7, 2))).exit_code() == 4
    shutil.rmtree(tmp_path / "testsets" / "gamma")
    deployment.nightly(date(2026, 7, 3))
    deployment.nightly(date(2026, 7, 4))
    gamma = deployment.ledger.settlements(Query(slug="gamma"))
    told = [(stand.settlement.data["window"]["label"], stand.settlement.status) for stand in gamma]
    expected = {"2026-07-01": Status.MET, "2026-07-02": Status.NOT_RUN, "2026-07-03": Status.NOT_RUN}
    assert dict(told) == expected


def test_what_is_settled_is_never_taken_for_not_run(deployment: Deployment) -> None:
    """As after restoring a database from before a night whose events came back from the journal."""
    deployment.nightly(FIRST)
    deployment.nightly(date(2026, 7, 3))
    before = deployment.ledger.count()
    assert close_through(deployment.stages, before=date(2026, 7, 3)) == []
    assert deployment.ledger.count() == before


def test_a_month_is_pooled_when_it_is_over_and_not_before(tmp_path: Path, gateway: Gateway) -> None:
    deployment = open_deployment(tmp_path, gateway)
    write_acme(tmp_path / "testsets", "alpha", MONTHLY)
    gateway.wrong = {1, 2}
    for night in nights(FIRST, date(2026, 7, 31)):
        deployment.nightly(night)
    assert _told(deployment) == []
    deployment.nightly(date(2026, 8, 1))
    assert _told(deployment) == [("2026-07", "open", "breached", "10")]
    (event,) = deployment.ledger.events()
    data = json.loads(event.body)["data"]
    assert data["measured"]["good"] == 18 * 31
    assert data["measured"]["valid"] == 20 * 31
    assert data["measured"]["ratio"] == "0.900000"
    assert data["outcomes"]["planned"] == 20 * 31
    assert data["coverage"] == {"nights_expected": 31, "nights_measured": 31, "nights_missed": []}
    assert data["claim"]["value"] == "0.900000"
    assert data["claim"]["period"] == "month 2026-07, revision 1"
    # The same 20 questions every night: an interval as of 20 clusters, not of 620 expectations.
    assert float(data["measured"]["interval"]["low"]) < 0.75
    page = tmp_path / "site" / "standards" / "alpha" / "eval"
    assert "nights of <time datetime" in (page / "2026-07" / "r1" / "index.html").read_text("utf-8")
    assert json.loads((page / "eval.json").read_text("utf-8"))["night"] == "2026-08-01"
    deployment.close()


def test_a_rescore_does_not_close_a_month_before_all_its_nights_are_finished(tmp_path: Path, gateway: Gateway) -> None:
    deployment = open_deployment(tmp_path, gateway)
    write_acme(tmp_path / "testsets", "alpha", MONTHLY)
    deployment.nightly(date(2026, 7, 30))
    deployment.at(date(2026, 8, 1))
    rescore(deployment.stages, date(2026, 7, 30), "scorer_corrected")
    assert _told(deployment) == []
    assert close_through(deployment.stages, before=date(2026, 8, 1)) == []
    assert _told(deployment) == [("2026-07", "open", "insufficient_data", "0")]
    deployment.close()


def test_a_month_with_nights_missing_is_told_by_its_coverage(tmp_path: Path, gateway: Gateway) -> None:
    deployment = open_deployment(tmp_path, gateway)
    write_acme(tmp_path / "testsets", "alpha", MONTHLY)
    deployment.nightly(date(2026, 7, 30))
    gateway.wrong = {1, 2}
    deployment.nightly(date(2026, 7, 31))
    deployment.nightly(date(2026, 8, 1))
    assert _told(deployment) == [("2026-07", "open", "insufficient_data", "0")]  # 38/40 is met; 29 nights are missing
    (event,) = deployment.ledger.events()
    coverage = json.loads(event.body)["data"]["coverage"]
    assert (coverage["nights_expected"], coverage["nights_measured"]) == (31, 2)
    deployment.close()


def test_a_month_that_nobody_ran_is_not_run(tmp_path: Path, gateway: Gateway) -> None:
    deployment = open_deployment(tmp_path, gateway)
    write_acme(tmp_path / "testsets", "alpha", MONTHLY)
    deployment.nightly(date(2026, 7, 31))
    deployment.at(date(2026, 9, 2))
    assert close_through(deployment.stages, before=date(2026, 9, 2)) == []
    assert _told(deployment)[1:] == [("2026-08", "open", "not_run", "0")]
    deployment.close()


def test_a_night_without_sufficient_data_is_superseded_before_it_ends(deployment: Deployment, gateway: Gateway) -> None:
    gateway.failing = {"gamma": Reason.FORBIDDEN}
    write_acme(deployment.folder / "testsets", "other", NIGHTLY)
    first = _done(deployment.nightly(FIRST))
    assert [(each.slug, each.status) for each in first.results] == [
        ("gamma", Status.INSUFFICIENT_DATA),
        ("other", Status.MET),
    ]
    gateway.failing, gateway.wrong = {}, {1, 2}
    again = _done(deployment.nightly(FIRST, "harness_fault", time(9)))
    assert [(each.slug, each.status, each.revision) for each in again.results] == [
        ("other", Status.MET, 1),
        ("gamma", Status.BREACHED, 2),
    ]
    assert [entry for entry in _told(deployment) if entry[2] != "met"] == [
        ("2026-07-01", "open", "insufficient_data", "0"),
        ("2026-07-01", "open", "breached", "10"),
    ]
    stand = deployment.ledger.settlement("slf_gamma_citation_correctness_2026-07-01")
    assert stand is not None and stand.settlement.data["reason"] == "harness_fault"
    assert [each.slug for each in find_supersessions(deployment.stages.place.engine, "2026-07-01")] == ["gamma"]
    page = deployment.folder / "site" / "standards" / "gamma" / "eval" / "2026-07-01"
    assert json.loads((page / "r1" / "eval.json").read_text("utf-8"))["status"] == "insufficient_data"
    assert json.loads((page / "eval.json").read_text("utf-8"))["revision"] == 2
    assert _done(deployment.nightly(FIRST, clock=time(10))).exit_code() == 0  # what is superseded counts no more
    with pytest.raises(UsageError, match="only such a run may be superseded"):
        deployment.nightly(FIRST, "harness_fault", time(11))


def test_error_what_was_measured_is_not_superseded(deployment: Deployment) -> None:
    deployment.nightly(FIRST)
    runs = len(find_runs(deployment.stages.place.engine))
    with pytest.raises(UsageError, match=r"no society's official run is insufficient_data \(gamma\)"):
        deployment.nightly(FIRST, "night_resumed", time(9))
    assert len(find_runs(deployment.stages.place.engine)) == runs


def test_error_nothing_is_superseded_when_the_night_is_over(deployment: Deployment, gateway: Gateway) -> None:
    write_acme(deployment.folder / "testsets", "other", NIGHTLY)
    gateway.failing = {"gamma": Reason.FORBIDDEN}
    deployment.nightly(FIRST)
    deployment.at(date(2026, 7, 2))
    with pytest.raises(UsageError, match="its collection window is closed"):
        run_night(deployment.stages, FIRST, None, "harness_fault")
    assert find_supersessions(deployment.stages.place.engine, "2026-07-01") == []


def test_a_rescore_that_was_broken_off_is_settled_by_the_next_nightly(
    deployment: Deployment, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway.wrong = {4, 5}
    deployment.nightly(FIRST)
    corrected = deployment.folder / "corrected"
    write_acme(corrected, "gamma", NIGHTLY, corrected=(4, 5), version="2")

    def break_off(*_: object, **__: object) -> None:
        raise StoreError("broken off")

    with monkeypatch.context() as patched:
        patched.setattr("harness.nightly.finish.emit_society", break_off)
        with pytest.raises(StoreError):
            rescore(deployment.with_testsets(corrected).stages, FIRST, "gold_corrected")
    assert _told(deployment) == [("2026-07-01", "open", "breached", "10")]
    gateway.wrong = set()
    deployment.nightly(date(2026, 7, 2))
    assert _told(deployment)[1] == ("2026-07-01", "open", "met", "0")


def test_a_rescore_leaves_earlier_revisions_as_they_were(deployment: Deployment, gateway: Gateway) -> None:
    gateway.wrong = {4, 5}
    deployment.nightly(FIRST)
    page = deployment.folder / "site" / "standards" / "gamma" / "eval" / "2026-07-01"
    before = {file.name: file.read_bytes() for file in (page / "r1").iterdir()}
    corrected = deployment.folder / "corrected"
    write_acme(corrected, "gamma", NIGHTLY, corrected=(4, 5), version="2")
    (result,) = rescore(deployment.with_testsets(corrected).stages, FIRST, "gold_corrected")
    assert (result.revision, result.status, result.testset_version) == (2, Status.MET, "2")
    assert {file.name: file.read_bytes() for file in (page / "r1").iterdir()} == before
    assert json.loads((page / "eval.json").read_text("utf-8"))["testset"]["version"] == "2"
    (again,) = rescore(deployment.stages, FIRST, "scorer_corrected")  # keeps the corrected gold
    assert (again.revision, again.status, again.testset_version) == (3, Status.MET, "2")
    run = find_runs(deployment.stages.place.engine)[0]
    revision = latest_revision(deployment.stages.place.engine, run.run_id, "gamma")
    assert revision is not None and revision.reason == "scorer_corrected"
    with pytest.raises(UsageError, match="nothing to rescore"):
        rescore(deployment.with_testsets(corrected).stages, FIRST, "gold_corrected")


def test_error_a_correction_with_another_question_is_refused(deployment: Deployment, gateway: Gateway) -> None:
    gateway.wrong = {4, 5}
    deployment.nightly(FIRST)
    corrected = deployment.folder / "corrected"
    write_acme(corrected, "gamma", NIGHTLY, corrected=(4, 5), version="2", question="What does case {number} need?")
    with pytest.raises(InvalidInput, match="another question than that night's for acme-0001, acme-0002"):
        rescore(deployment.with_testsets(corrected).stages, FIRST, "gold_corrected")
    assert len(_told(deployment)) == 1


def test_a_period_says_what_is_missing_and_what_is_settled(deployment: Deployment) -> None:
    deployment.nightly(FIRST)
    found = period(deployment.ledger, FIRST)
    assert found is not None
    (society,) = found.societies
    assert (found.complete, found.settled, society.slug) == (False, False, "gamma")
    assert len(society.missing) == 2 * 30 and "slf_gamma_citation_correctness_2026-07-02" in society.missing
    deployment.at(date(2026, 8, 1))
    assert close_through(deployment.stages, before=date(2026, 8, 1)) == []
    found = period(deployment.ledger, FIRST)
    assert found is not None and (found.complete, found.settled) == (True, False)
    assert period(deployment.ledger, date(2026, 6, 1)) is None


def test_error_terms_extended_over_measured_nights_are_refused(deployment: Deployment) -> None:
    file = deployment.folder / "testsets" / "gamma" / "terms.toml"
    ended = NIGHTLY.replace("effective_to = 2026-09-30", "effective_to = 2026-07-02")
    deployment.nightly(FIRST)
    file.write_text(ended)
    deployment.nightly(date(2026, 7, 2))
    deployment.nightly(date(2026, 7, 3))  # measured without a floor
    file.write_text(NIGHTLY)
    with pytest.raises(InvalidInput, match="effective_to"):
        deployment.nightly(date(2026, 7, 4))


@pytest.mark.parametrize("broken", ["a line that is no event", "a folder in its place"])
def test_a_journal_that_is_broken_keeps_no_night_from_being_asked(deployment: Deployment, broken: str) -> None:
    deployment.nightly(FIRST)
    journal = deployment.ledger.journal.path
    kept = journal.read_bytes()
    journal.unlink()
    if broken == "a folder in its place":
        journal.mkdir()
    else:
        journal.write_bytes(kept + b"{}\n")
    with pytest.raises(StoreError, match=r"^journal .*ledger\.jsonl: "):
        deployment.nightly(date(2026, 7, 2))
    page = deployment.folder / "site" / "standards" / "gamma" / "eval" / "2026-07-02" / "r1" / "eval.json"
    assert page.is_file()
    assert len(_told(deployment)) == 1
    if journal.is_dir():
        journal.rmdir()
    journal.write_bytes(kept)
    deployment.nightly(date(2026, 7, 3))
    assert [window for window, *_ in _told(deployment)] == ["2026-07-01", "2026-07-02", "2026-07-03"]


def test_a_ledger_behind_its_journal_takes_no_event(deployment: Deployment) -> None:
    deployment.nightly(FIRST)
    events = list(deployment.ledger.events())
    with deployment.stages.place.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM settlement")
        connection.exec_driver_sql("DROP TRIGGER settlement_events_no_DELETE")
        connection.exec_driver_sql("DELETE FROM settlement_events WHERE seq = 2")
    with pytest.raises(StoreError, match="an older database was restored"):
        append(deployment.stages.emitter, "slf_x", lambda _settlement, _now: ())
    with pytest.raises(StoreError, match="an older database was restored"):
        deployment.nightly(date(2026, 7, 2))
    assert deployment.ledger.replay() == 1
    assert list(deployment.ledger.events()) == events
    assert deployment.ledger.find_fault() is None
    assert [run.state for run in find_runs(deployment.stages.place.engine)] == ["complete", "complete"]
    page = deployment.folder / "site" / "standards" / "gamma" / "eval" / "2026-07-02" / "r1" / "eval.json"
    assert page.is_file()  # the night was measured and published all the same
    deployment.nightly(date(2026, 7, 3))
    assert [window for window, *_ in _told(deployment)] == ["2026-07-01", "2026-07-02", "2026-07-03"]
