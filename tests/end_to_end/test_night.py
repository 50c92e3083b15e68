"""A night from end to end: what is printed, stored, published and settled; what faults of the gateway come to."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from harness.reference.ledger import Ledger
from harness.store.files import BlobStore
from harness.store.runs import find_runs, run_societies
from harness.store.transcripts import load_segment
from tests.databases import empty_database
from tests.end_to_end.command import KEY, Place, gateway_place, profile
from tests.shared import TESTSETS

CANARY = "CITEHOUSE-HELD-OUT-SAMPLE-3f1c9a52-b7de-4f64-9d0e-5a1e8c27d640"
SLUGS = ("aci", "asce", "asme", "awwa", "icc", "nfpa", "sae")


def _documents(place: Place) -> dict[str, Any]:
    found = {}
    for slug in SLUGS:
        path = place.site / "standards" / slug / "eval" / "eval.json"
        if path.exists():
            found[slug] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_a_demo_says_what_it_found_and_a_second_one_asks_nothing(tmp_path: Path) -> None:
    place = Place(folder=tmp_path)
    first = place.run("demo")
    assert first.returncode == 0, first.stderr
    for word in ("ACI", "ASCE", "ASME", "AWWA", "ICC", "NFPA", "SAE", "below floor", "met", "0.95", "flags list"):
        assert word in first.stdout
    assert "Flag in the ledger: slf_sae_citation_correctness_" in first.stdout
    demo = tmp_path / "reports" / "demo"
    assert (demo / "site" / "standards" / "index.html").is_file()
    assert [path.name for path in (tmp_path / "reports").iterdir()] == ["demo"]
    blobs = sorted((demo / "store" / "blobs").rglob("*.zst"))
    second = place.run("demo")
    assert second.returncode == 0, second.stderr
    assert second.stdout == first.stdout
    assert sorted((demo / "store" / "blobs").rglob("*.zst")) == blobs


def test_a_breach_is_a_result_and_fails_only_on_request(tmp_path: Path) -> None:
    with gateway_place(tmp_path, "demo") as place:
        assert place.nightly().returncode == 0
        again = place.nightly("--fail-on-breach")
        assert again.returncode == 3, again.stderr
        verified = place.run("flags", "verify")
        listed = place.run("flags", "list", "--format", "json")
    assert verified.stdout == f"{len(place.events())} events, the chain is whole and the journal has each of them\n"
    flags = json.loads(listed.stdout)
    assert [(flag["society"]["slug"], flag["status"]) for flag in flags] == [("sae", "breached")]
    assert flags[0]["state"] == "final"  # SAE's sample terms have dispute_days = 0
    assert flags[0]["billable_percent"] == flags[0]["target_percent"] != "0"
    assert flags[0]["claim"]["source"] == {"table": "scores", "column": "correct", "function": "share"}


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_the_same_night_on_both_databases(tmp_path: Path, kind: str) -> None:
    with empty_database(kind, tmp_path) as url, gateway_place(tmp_path, "demo") as running:
        place = Place(folder=tmp_path, url=running.url, database=url)
        assert place.nightly().returncode == 0
        verdicts = place.verdicts()
        assert len(place.events()) == 10  # eight floors, of which two are final at once
    assert sorted(verdicts) == list(SLUGS)
    assert sum(len(scores) for scores in verdicts.values()) == 458


def test_every_call_is_made_once_and_kept_byte_for_byte(tmp_path: Path) -> None:
    with gateway_place(tmp_path) as place:
        assert place.nightly().returncode == 0
    ledger = Ledger(tmp_path / "calls.db")
    assert ledger.count() == 458
    assert set(ledger.asked().values()) == {1}
    (run,) = place.runs()
    assert (run.calls_sent, run.asked_again) == (458, 0)
    blobs = BlobStore(place.reports / "store" / "blobs")
    segments = {path.stem for path in blobs.root.rglob("*.zst")} - _snapshots(place)
    transcripts = [each for segment in segments for each in load_segment(blobs, segment)]
    assert len(transcripts) == 458
    for transcript in transcripts:
        assert json.loads(transcript.answer.raw)["ledger_entry_id"] == transcript.answer.ledger_entry_id
        assert KEY.encode() not in transcript.answer.raw


def _snapshots(place: Place) -> set[str]:
    with place.engine() as engine:
        return {part.snapshot_sha256 for run in find_runs(engine) for part in run_societies(engine, run.run_id)}


def test_an_outage_lowers_the_number_and_leaves_no_denominator(tmp_path: Path) -> None:
    with gateway_place(tmp_path / "well") as well:
        assert well.nightly().returncode == 0
    config = "[asking]\nattempts = 2\nitem_deadline = 5\n"
    with gateway_place(tmp_path / "ill", "flaky10") as ill:
        (ill.folder / "harness.toml").write_text(config, encoding="utf-8")
        code = ill.nightly().returncode
    assert code == 0
    before, after = _documents(well), _documents(ill)
    assert sum(doc["outcomes"]["gateway_error"] for doc in after.values()) > 0
    retried = sum(doc["calls"]["retried"] for doc in after.values())
    assert retried == Ledger(ill.folder / "calls.db").count() - 458 > 0
    for slug in SLUGS:
        outcomes = after[slug]["outcomes"]
        parts = ("correct", "incorrect", "missing", "gateway_error", "harness_error")
        assert sum(outcomes[part] for part in parts) == outcomes["planned"] == before[slug]["outcomes"]["planned"]
        headline = _headline(after[slug])
        assert headline["valid"] == outcomes["planned"]
        assert headline["good"] == outcomes["correct"] <= _headline(before[slug])["good"]
        assert headline["good"] >= _headline(before[slug])["good"] - outcomes["gateway_error"]


def test_a_long_outage_breaches_and_the_page_says_why(tmp_path: Path) -> None:
    with gateway_place(tmp_path, "flaky60") as place:
        (tmp_path / "harness.toml").write_text("[asking]\nattempts = 1\n", encoding="utf-8")
        assert place.nightly("--fail-on-breach").returncode == 3
    documents = _documents(place)
    assert {document["status"] for document in documents.values()} == {"breached"}
    for slug, document in documents.items():
        assert document["faults"]["gateway"]["http_5xx"] > 0
        page = (place.site / "standards" / slug / "eval" / "index.html").read_text(encoding="utf-8")
        assert "http_5xx" in page


@pytest.mark.parametrize("trouble", ["key", "gateway"])
def test_error_nothing_measured_is_one_line_and_goes_on_later(tmp_path: Path, trouble: str) -> None:
    with gateway_place(tmp_path) as place:
        if trouble == "key":
            refused = place.run("nightly", "--gateway", place.url, HARNESS_GATEWAY_KEY="wrong-key-8c1f")
            said = "the gateway refused the key (401): check HARNESS_GATEWAY_KEY"
        else:
            (tmp_path / "harness.toml").write_text("[asking]\nattempts = 2\n", encoding="utf-8")
            refused = place.run("nightly", "--gateway", "http://127.0.0.1:9")
            said = "no connection to the gateway: see that it is up and that --gateway is right"
        assert refused.returncode == 5
        last = refused.stderr.strip().splitlines()[-1]
        assert last.startswith("harness: night ") and said in last
        assert "wrong-key-8c1f" not in refused.stderr + refused.stdout
        assert not place.site.exists()
        assert place.events() == []
        later = place.nightly()
        assert later.returncode == 0, later.stderr
    (run,) = place.runs()
    assert (run.state, run.sittings) == ("complete", 2)
    assert len(place.events()) == 10


def test_what_was_never_asked_is_insufficient_data_and_no_flag(tmp_path: Path) -> None:
    with gateway_place(tmp_path, "demo") as place:
        ended = place.nightly("--max-calls", "430")
        assert ended.returncode == 4
        assert "the budget of 430 calls is spent" in ended.stdout
        assert Ledger(tmp_path / "calls.db").count() == 430
        again = place.nightly()
        assert again.returncode == 4
        assert Ledger(tmp_path / "calls.db").count() == 430  # a finished night asks nothing
    statuses = {document["status"] for document in _documents(place).values()}
    assert "insufficient_data" in statuses
    for event in place.events():
        data = json.loads(event.body)["data"]
        if data["status"] == "insufficient_data":
            assert (data["target_percent"], data["tier"]) == ("0", None)
    for document in _documents(place).values():
        outcomes = document["outcomes"]
        if outcomes["harness_error"] > 0.02 * outcomes["planned"]:
            assert document["status"] == "insufficient_data"


def test_a_society_that_the_key_does_not_license_is_left_and_the_others_are_done(tmp_path: Path) -> None:
    rules = profile(tmp_path, 'fault = "unlicensed", share = 1.0, societies = ["NFPA"]')
    with gateway_place(tmp_path, rules) as place:
        ended = place.nightly("--concurrency", "4")
    assert ended.returncode == 4
    documents = _documents(place)
    assert documents["nfpa"]["status"] == "insufficient_data"
    assert documents["nfpa"]["faults"]["gateway"]["forbidden"] >= 1
    assert all(documents[slug]["status"] != "insufficient_data" for slug in SLUGS if slug != "nfpa")


def test_a_night_without_a_gateway_named_is_usage(tmp_path: Path) -> None:
    ended = Place(folder=tmp_path).run("nightly")
    assert ended.returncode == 2
    assert ended.stderr == (
        "harness: no gateway is named: give --gateway URL, HARNESS_GATEWAY, or url under [gateway] in harness.toml\n"
    )
    assert not (tmp_path / "reports").exists()


def test_a_second_run_of_the_same_night_exits_75(tmp_path: Path) -> None:
    with gateway_place(tmp_path) as place:
        with place.start("nightly", "--gateway", place.url, "--rate", "20") as first:
            assert any("asking" in line for line in first.stdout or ())
            second = place.nightly()
            first.terminate()
            first.communicate(timeout=60)
        assert first.returncode == 128 + 15
        assert second.returncode == 75
        assert "another run on this host holds the lock" in second.stderr
        assert place.nightly().returncode == 0
    (run,) = place.runs()
    assert run.state == "complete"


@pytest.mark.parametrize("trouble", ["gateway", "key", "address"])
def test_a_resumption_that_reaches_nothing_decides_nothing(tmp_path: Path, trouble: str) -> None:
    """Half a night is stored; then the line, the key or the address is wrong: no number, no credit, exit 5."""
    (tmp_path / "harness.toml").write_text("[asking]\nattempts = 2\n", encoding="utf-8")
    with gateway_place(tmp_path, "demo") as place:
        _interrupt_half_way(place)
        if trouble == "gateway":
            failed = place.run("nightly", "--gateway", "http://127.0.0.1:9")
        elif trouble == "key":
            failed = place.run("nightly", "--gateway", place.url, HARNESS_GATEWAY_KEY="wrong")
        else:
            failed = place.run("nightly", "--gateway", f"{place.url}/typo")
        assert failed.returncode == 5, failed.stdout + failed.stderr
        assert place.events() == []
        assert not place.site.exists()
        assert place.nightly().returncode == 0
    assert {slug: document["status"] for slug, document in _documents(place).items()} == {
        slug: "breached" if slug == "sae" else "met" for slug in SLUGS
    }
    assert all(document["outcomes"]["harness_error"] == 0 for document in _documents(place).values())


def test_an_interrupted_night_asks_nothing_twice(tmp_path: Path) -> None:
    """What is in flight at a signal is stored: after resuming, every question was asked exactly once."""
    with gateway_place(tmp_path) as place:
        _interrupt_half_way(place)
        assert place.nightly().returncode == 0
    assert set(Ledger(tmp_path / "calls.db").asked().values()) == {1}
    (run,) = place.runs()
    assert (run.calls_sent, run.asked_again, run.sittings) == (458, 0, 2)


def test_a_society_whose_folder_would_leak_its_canary_is_not_published(tmp_path: Path) -> None:
    testsets = tmp_path / "testsets"
    shutil.copytree(TESTSETS / "awwa", testsets / "awwa")
    society = testsets / "awwa" / "society.toml"
    name = 'name = "American Water Works Association'
    content = society.read_text(encoding="utf-8")
    assert name in content
    society.write_text(content.replace(name, f"{name} {CANARY}"), encoding="utf-8")
    with gateway_place(tmp_path / "night") as running:
        place = Place(folder=running.folder, url=running.url, testsets=testsets)
        ended = place.nightly()
    assert ended.returncode == 1
    assert "holds the canary of a held-out file; it was not published" in ended.stderr
    assert CANARY not in ended.stderr
    assert not place.site.exists()


def test_a_token_budget_holds_over_all_sittings(tmp_path: Path) -> None:
    with gateway_place(tmp_path) as place:
        _interrupt_half_way(place, "--max-tokens", "60000")
        assert place.nightly("--max-tokens", "60000", "--concurrency", "1").returncode == 4
        with place.engine() as engine, engine.connect() as connection:
            spent = connection.execute(text("SELECT sum(tokens_returned) FROM answer")).scalar_one()
    assert 60_000 <= spent <= 60_000 + 1_200  # the answer that reaches it is the last


def _interrupt_half_way(place: Place, *words: str) -> None:
    with place.start("nightly", "--gateway", place.url, "--rate", "60", *words) as night:
        while Ledger(place.folder / "calls.db").count() < 100:
            assert night.poll() is None
        night.terminate()
        night.communicate(timeout=60)
    assert night.returncode == 128 + 15


def test_held_out_text_and_secrets_stay_in(tmp_path: Path) -> None:
    with gateway_place(tmp_path, "demo") as place:
        ended = place.run("-v", "nightly", "--gateway", place.url)
    assert ended.returncode == 0
    queries = [
        json.loads(line)["query"]
        for slug in SLUGS
        for line in (TESTSETS / slug / "items.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    public = [path.read_text(encoding="utf-8") for path in place.site.resolve().rglob("*") if path.is_file()]
    public += [ended.stdout, ended.stderr, *(event.body for event in place.events())]
    assert len(public) > 50
    for content in public:
        assert CANARY not in content
        assert KEY not in content
        assert not any(query in content for query in queries)


def _headline(document: Any) -> Any:
    (found,) = [
        measure
        for measure in document["measures"]
        if measure["name"] == "citation_correctness" and measure["stratum"] is None
    ]
    return found
