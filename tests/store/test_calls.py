"""The call journal counts every request that left, whatever ends the process."""

import asyncio
import os
import resource
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import StoreError
from harness.gateway.answer import Answer, Question
from harness.store.calls import CallJournal, JournaledClient

_DIE = """
import os, sys
from pathlib import Path
from harness.store.calls import CallJournal
with CallJournal(Path(sys.argv[1])) as journal:
    for ref in ("asme/i1", "asme/i2", "asme/i1"):
        journal.note(ref)
    os._exit(9)
"""


def test_notes_survive_the_death_of_the_process(tmp_path: Path) -> None:
    path = tmp_path / "calls" / "r1.calls"
    assert subprocess.run([sys.executable, "-c", _DIE, str(path)], check=False).returncode == 9
    assert CallJournal(path).counts() == Counter({"asme/i1": 2, "asme/i2": 1})
    with CallJournal(path) as journal:
        assert journal.sent == 3


def test_sittings_add_up(tmp_path: Path) -> None:
    path = tmp_path / "r1.calls"
    for sitting, ref in enumerate(("asme/i1", "asme/ü2", "asme/i1")):
        with CallJournal(path) as journal:
            assert journal.sent == sitting
            journal.note(ref)
            assert journal.sent == sitting + 1
            assert journal.counts().total() == sitting + 1
    assert CallJournal(path).counts() == Counter({"asme/i1": 2, "asme/ü2": 1})


_SITTINGS = st.lists(st.lists(st.sampled_from(["asme/i1", "asme/i2", "aci/i1"]), max_size=5), max_size=4)


@settings(max_examples=40)
@given(sittings=_SITTINGS)
def test_a_question_is_asked_again_once_in_each_later_sitting(
    tmp_path_factory: pytest.TempPathFactory, sittings: list[list[str]]
) -> None:
    path = tmp_path_factory.mktemp("calls") / "r1.calls"
    again = 0
    for number, refs in enumerate(sittings):
        earlier = {ref for before in sittings[:number] for ref in before}
        with CallJournal(path) as journal:
            assert journal.asked_again == again
            for ref in refs:
                journal.note(ref)
            again += len(set(refs) & earlier)
            assert (journal.sent, journal.asked_again) == (sum(map(len, sittings[: number + 1])), again)


def test_a_journal_that_was_never_opened_counts_nothing(tmp_path: Path) -> None:
    assert CallJournal(tmp_path / "r1.calls").counts() == Counter()


@settings(max_examples=40)
@given(
    refs=st.lists(st.sampled_from(["asme/i1", "asme/ü2", "aci/\r3"]), min_size=1, max_size=4), torn=st.integers(1, 40)
)
def test_a_torn_line_is_not_counted_and_not_glued_to_the_next(
    tmp_path_factory: pytest.TempPathFactory, refs: list[str], torn: int
) -> None:
    path = tmp_path_factory.mktemp("calls") / "r1.calls"
    whole = "".join(f"{ref}\n" for ref in refs).encode()
    path.write_bytes(whole[: max(len(whole) - torn, 0)])
    left = Counter(refs[: path.read_bytes().count(b"\n")])
    assert CallJournal(path).counts() == left
    with CallJournal(path) as journal:
        assert journal.sent == left.total()
        journal.note("asme/i9")
    assert CallJournal(path).counts() == left + Counter(["asme/i9"])


def test_error_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught, CallJournal(tmp_path):
        pytest.fail("it was opened")
    assert str(caught.value) == f"{tmp_path}: cannot open the call journal: Is a directory"


_FILL = """
import sys
from pathlib import Path
from harness.errors import StoreError
from harness.store.calls import CallJournal
with CallJournal(Path(sys.argv[1])) as journal:
    try:
        while True:
            journal.note("asme/i1")
    except StoreError as error:
        print(journal.sent, error)
"""


def test_error_a_full_disk_counts_only_what_left(tmp_path: Path) -> None:
    path = tmp_path / "r1.calls"
    done = subprocess.run(
        [sys.executable, "-c", _FILL, str(path)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20)),  # a sitting, two lines and a part
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"2 {path}: cannot write the call journal: No space left on device\n"
    assert path.read_bytes() == b"\nasme/i1\nasme/i1\n"


class _Client:
    """Answers anything, remembering what the journal and the set said while the call was under way."""

    def __init__(self, path: Path, in_flight: set[str]) -> None:
        self.path, self.in_flight = path, in_flight
        self.seen: list[tuple[int, set[str]]] = []
        self.closed = False

    async def ask_once(self, question: Question) -> Answer:
        self.seen.append((CallJournal(self.path).counts()[question.ref], set(self.in_flight)))
        if question.query == "bug":
            raise RuntimeError(question.query)
        return Answer(raw=b"{}")

    async def aclose(self) -> None:
        self.closed = True


def test_a_journaled_client_notes_before_it_asks(tmp_path: Path) -> None:
    path, in_flight = tmp_path / "r1.calls", set[str]()
    inner = _Client(path, in_flight)
    good, bad = (
        Question(corpus="asme", society="ASME", query=query, max_tokens=9, ref="asme/i1") for query in ("q", "bug")
    )

    async def ask(client: JournaledClient) -> None:
        assert await client.ask_once(good) == Answer(raw=b"{}")
        with pytest.raises(RuntimeError, match="bug"):
            await client.ask_once(bad)
        await client.aclose()

    with CallJournal(path) as journal:
        asyncio.run(ask(JournaledClient(inner, journal, in_flight)))
    assert inner.seen == [(1, {"asme/i1"}), (2, {"asme/i1"})]
    assert in_flight == set()
    assert inner.closed


def test_error_what_cannot_be_noted_is_not_sent(tmp_path: Path) -> None:
    path, in_flight = tmp_path / "r1.calls", set[str]()
    inner = _Client(path, in_flight)
    question = Question(corpus="asme", society="ASME", query="q", max_tokens=9, ref="asme/i1")
    with CallJournal(path) as journal:
        assert journal._file is not None
        full = os.open("/dev/full", os.O_WRONLY)
        os.dup2(full, journal._file)
        os.close(full)
        with pytest.raises(StoreError, match="cannot write the call journal: No space left on device"):
            asyncio.run(JournaledClient(inner, journal, in_flight).ask_once(question))
        assert journal.sent == 0
    assert inner.seen == []
