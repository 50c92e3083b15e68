"""Every fault, over real HTTP, gives what its name says and nothing else."""

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from harness.citation.model import FIELDS
from harness.reference.app import OVERSIZED_BYTES
from harness.reference.faults import Fault
from harness.reference.http import pause
from tests.reference.library import KEY, Caller, Response, gateway, write_library

Wire = dict[str, Any]
OVALITY, WALL, CASTINGS = "Ovality after forming", "How thick is the wall of straight pipe?", "castings"

SOUND: Mapping[str, Wire] = {
    OVALITY: {
        "society": "ACME",
        "standard": "P-100",
        "section": "§1.3.1",
        "text": "Ovality of bends after forming.",
        "citation": "[ACME P-100:2018 §1.3.1]",
        "edition_year": 2018,
        "section_path": ["1", "3", "1"],
    },
    CASTINGS: {
        "society": "ACME",
        "standard": "P-100",
        "section": "Table 1-1",
        "text": "Quality factors of castings and forgings.",
        "citation": "[ACME P-100:2018 Table 1-1]",
        "edition_year": 2018,
        "section_path": ["table", "1-1"],
    },
}


@pytest.fixture(scope="module")
def testsets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_library(tmp_path_factory.mktemp("testsets"))


def first(root: Path, fault: Fault, question: str) -> Wire:
    """The first passage under that fault."""
    with gateway(root, faults=fault.value) as caller:
        got = caller.query(question)
    assert got.status == 200
    passage: Wire = got.json["passages"][0]
    return passage


@pytest.mark.parametrize(
    ("fault", "question", "changed"),
    [
        (Fault.WRONG_EDITION, OVALITY, {"edition_year": 2022, "citation": "[ACME P-100:2022 §1.3.1]"}),
        (
            Fault.SIBLING_SECTION,  # no other section below §1.3: the one that follows it
            OVALITY,
            {"section": "Table 1-1", "section_path": ["table", "1-1"], "citation": "[ACME P-100:2018 Table 1-1]"},
        ),
        (
            Fault.PARENT_SECTION,
            OVALITY,
            {"section": "§1.3", "section_path": ["1", "3"], "citation": "[ACME P-100:2018 §1.3]"},
        ),
        (Fault.PARENT_SECTION, CASTINGS, {}),  # nothing is around it
        (Fault.DOUBLE_SPACE, OVALITY, {"citation": "[ACME  P-100:2018 §1.3.1]"}),
        (Fault.NO_BREAK_SPACE, OVALITY, {"citation": "[ACME\u00a0P-100:2018 §1.3.1]"}),
        (Fault.MISSING_BRACKETS, OVALITY, {"citation": "ACME P-100:2018 §1.3.1"}),
        (Fault.DEFAULT_FORMAT, OVALITY, {"citation": "[ACME P-100 §1.3.1]"}),
        (Fault.EN_DASH, OVALITY, {"citation": "[ACME P\u2013100:2018 §1.3.1]"}),
        (Fault.EN_DASH, CASTINGS, {"citation": "[ACME P\u2013100:2018 Table 1\u20131]", "section": "Table 1\u20131"}),
        (Fault.YEAR_STRING, OVALITY, {"edition_year": "2018"}),
        (Fault.PATH_NUMBERS, OVALITY, {"section_path": [1, 3, 1]}),
        (Fault.PATH_NUMBERS, CASTINGS, {}),  # no element of it is a number
        (
            Fault.MARKUP,
            OVALITY,
            {
                "citation": "<b>[ACME P-100:2018 §1.3.1]</b>",
                "section": '<a href="javascript:alert(1)">§1.3.1</a>',
                "text": "<script>alert(1)</script>Ovality of bends after forming.",
            },
        ),
    ],
)
def test_passage_faults(testsets: Path, fault: Fault, question: str, changed: Wire) -> None:
    assert first(testsets, fault, question) == SOUND[question] | changed


def test_a_sibling_has_the_same_parent(testsets: Path) -> None:
    assert first(testsets, Fault.SIBLING_SECTION, "curved elbows")["section"] == "§1.2"


def test_a_missing_field_is_one_of_the_six(testsets: Path) -> None:
    with gateway(testsets, faults="missing_field") as caller:
        answers = [caller.query(f"wall {number}").json["passages"] for number in range(40)]
    dropped = {frozenset(SOUND[OVALITY]) - frozenset(each) for passages in answers for each in passages}
    assert dropped == {frozenset({name}) for name in FIELDS}
    assert all(len({frozenset(each) for each in passages}) == 1 for passages in answers)


def test_passages_of_another_society(testsets: Path) -> None:
    with gateway(testsets, faults="other_society") as caller:
        assert caller.query("thickness of the gasket").citations == ["[BOLT 9 §1]"]
        assert caller.query("no word of it").citations == ["[BOLT 9 §1]", "[BOLT 9 §2.1]", "[BOLT 9 §2.2]"]
        assert caller.query("earth cover", "bolt-9").citations[0].startswith("[ACME P-100:2018 ")


def test_unpinned_searches_every_edition(testsets: Path) -> None:
    with gateway(testsets, faults="unpinned") as caller:
        assert caller.query("creep").citations == ["[ACME P-100:2022 §1.4]", "[ACME P-100:2022 §1.2]"]
        assert caller.query("creep", editions=["2018"]).citations == []


def answer(root: Path, fault: str) -> Response:
    with gateway(root, faults=fault) as caller:
        return caller.query(OVALITY)


def test_empty_passages(testsets: Path) -> None:
    got = answer(testsets, "empty_passages")
    assert (got.status, got.json["passages"], got.json["tokens_returned"]) == (200, [], 0)


def test_dropped_ledger_id(testsets: Path) -> None:
    got = answer(testsets, "dropped_ledger_id")
    assert got.json == {"passages": [SOUND[OVALITY]], "tokens_returned": 5, "latency_ms": got.json["latency_ms"]}


def test_truncated_json(testsets: Path) -> None:
    got = answer(testsets, "truncated_json")
    assert got.status == 200
    assert got.raw.startswith(b'{"passages":[{"society":"ACME"')
    with pytest.raises(json.JSONDecodeError):
        json.loads(got.raw)


def test_html_page(testsets: Path) -> None:
    got = answer(testsets, "html_page")
    assert (got.status, got.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert got.raw.startswith(b"<!doctype html>")


def test_oversized(testsets: Path) -> None:
    got = answer(testsets, "oversized")
    assert (got.status, len(got.raw), got.json["passages"]) == (200, OVERSIZED_BYTES, [SOUND[OVALITY]])


@pytest.mark.parametrize(
    ("fault", "statuses"),
    [
        (Fault.UNLICENSED, [403, 403, 403]),
        (Fault.HTTP_500, [500, 500, 500]),
        (Fault.HTTP_503, [503, 503, 503]),
        (Fault.HTTP_503_ONCE, [503, 200, 503]),
        (Fault.RATE_LIMIT_BURST, [429, 200, 429]),
    ],
)
def test_status_faults_question_by_question(testsets: Path, fault: Fault, statuses: list[int]) -> None:
    with gateway(testsets, faults=fault.value) as caller:
        answers: dict[str, list[Response]] = {OVALITY: [], WALL: []}
        for _ in statuses:
            for question, got in answers.items():
                got.append(caller.query(question))
    for got in answers.values():
        assert [each.status for each in got] == statuses
        assert all("ledger_entry_id" in each.json for each in got)
        assert [each.headers.get("retry-after") for each in got] == [
            "1" if each.status == 429 else None for each in got
        ]


def test_a_burst_lasts_as_long_as_the_profile_says(testsets: Path, tmp_path: Path) -> None:
    profile = tmp_path / "burst.toml"
    profile.write_text('rules = [{ fault = "rate_limit_burst", times = 3, seconds = 6.5 }]', encoding="utf-8")
    with gateway(testsets, faults=profile) as caller:
        got = [caller.query(WALL) for _ in range(5)]
    assert [each.status for each in got] == [429, 429, 429, 200, 429]
    assert got[0].headers["retry-after"] == "7"


def test_a_rule_for_one_society_leaves_the_others_alone(testsets: Path, tmp_path: Path) -> None:
    profile = tmp_path / "one.toml"
    profile.write_text('rules = [{ fault = "unlicensed", societies = ["BOLT"] }]', encoding="utf-8")
    with gateway(testsets, faults=profile) as caller:
        assert [caller.query("wall thickness", corpus).status for corpus in ("acme-p100", "bolt-9")] == [200, 403]


def test_two_runs_agree_whatever_the_order(testsets: Path) -> None:
    questions = [f"wall thickness {number}" for number in range(40)]

    def statuses(ordered: list[str], seed: int) -> dict[str, int]:
        with gateway(testsets, faults="flaky60", seed=seed) as caller:
            return {question: caller.query(question).status for question in ordered}

    first_run, second_run = statuses(questions, 3), statuses(questions[::-1], 3)
    assert first_run == second_run
    assert set(first_run.values()) == {200, 503}
    assert statuses(questions, 4) != first_run


@contextmanager
def opened(caller: Caller, question: str) -> Iterator[http.client.HTTPConnection]:
    """A connection on which the question was asked and nothing was read."""
    parts = urlsplit(caller.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 0, timeout=30)
    body = json.dumps({"question": question}).encode()
    connection.request("POST", "/api/v1/corpora/acme-p100/query", body, {"Authorization": f"Bearer {KEY}"})
    try:
        yield connection
    finally:
        connection.close()


def seconds_profile(tmp_path: Path, fault: Fault, seconds: float) -> Path:
    profile = tmp_path / "slow.toml"
    profile.write_text(f'rules = [{{ fault = "{fault}", seconds = {seconds} }}]', encoding="utf-8")
    return profile


def test_a_hang_answers_when_it_is_over(testsets: Path, tmp_path: Path) -> None:
    with gateway(testsets, faults=seconds_profile(tmp_path, Fault.HANG, 0.01)) as caller:
        assert caller.query(OVALITY).json["passages"] == [SOUND[OVALITY]]


def test_a_drip_gives_the_whole_answer_in_pieces(testsets: Path, tmp_path: Path) -> None:
    with gateway(testsets, faults=seconds_profile(tmp_path, Fault.SLOW_DRIP, 0.01)) as caller:
        assert caller.query(OVALITY).json["passages"] == [SOUND[OVALITY]]


def _of_hang(connection: http.client.HTTPConnection) -> None:
    assert connection.getresponse().status == 503


def _of_drip(connection: http.client.HTTPConnection) -> None:
    got = connection.getresponse()
    assert (got.status, json.loads(got.read())["passages"]) == (200, [SOUND[OVALITY]])


@pytest.mark.parametrize(("fault", "ends"), [(Fault.HANG, _of_hang), (Fault.SLOW_DRIP, _of_drip)])
def test_the_server_stops_in_the_middle_of_a_hang(
    testsets: Path, fault: Fault, ends: Callable[[http.client.HTTPConnection], None]
) -> None:
    """Both last an hour; the stop ends them, and nothing is left behind."""
    with gateway(testsets, faults=fault.value) as caller:
        asked = opened(caller, OVALITY)
        connection = asked.__enter__()
        if fault is Fault.SLOW_DRIP:
            assert connection.sock.recv(4, socket.MSG_PEEK) == b"HTTP"  # it has begun
        else:
            assert caller.call("GET", "/api/v1/corpora").status == 200  # the question before it was taken
    ends(connection)
    asked.__exit__(None, None, None)
    assert "reference-gateway" not in {thread.name for thread in threading.enumerate()}


def test_a_pause_ends_when_the_caller_goes_away() -> None:
    async def gone() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def silent() -> dict[str, Any]:
        await asyncio.get_running_loop().create_future()
        return {}

    async def pauses() -> list[bool]:
        stopping = asyncio.Event()
        ended = [await pause(3600, gone, stopping), await pause(0.001, silent, stopping)]
        stopping.set()
        return [*ended, await pause(3600, silent, stopping)]

    assert asyncio.run(pauses()) == [False, True, False]
