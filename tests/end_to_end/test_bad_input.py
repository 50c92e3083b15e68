"""Bad input: one message with file, line, field and remedy; the society is left out, the others are done."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.reference.ledger import Ledger
from tests.end_to_end.command import Place, gateway_place
from tests.shared import TESTSETS

Change = Callable[[str], str]


def _replaced(pattern: str, by: str) -> Change:
    def change(text: str) -> str:
        changed = re.sub(pattern, by, text, count=1)
        assert changed != text
        return changed

    return change


def _first_line_twice(text: str) -> str:
    first = text.splitlines(keepends=True)[0]
    return first + text


CHANGES = [
    ("float", "terms.toml", _replaced(r'max_error_rate = "0.02"', "max_error_rate = 0.02"), "max_error_rate", "uot"),
    ("unknown key", "terms.toml", _replaced(r"top_k = 5", "topk = 5"), "topk", "top_k"),
    ("duplicate id", "items.jsonl", _first_line_twice, "id", "asme-b313-0001"),
    ("gold", "items.jsonl", _replaced(r"\[ASME B31.3 §", "[ASME B31.3  §"), "citation", "expected"),
    ("edition", "items.jsonl", _replaced(r'"edition_year": ?2022', '"edition_year": 2018'), "edition_year", "2022"),
    ("long slug", "society.toml", _replaced(r'slug = "asme"', f'slug = "{"a" * 200}"'), "slug", "asme"),
    ("path slug", "society.toml", _replaced(r'slug = "asme"', 'slug = "../x"'), "slug", "asme"),
]


@pytest.fixture
def testsets(tmp_path: Path) -> Path:
    """A copy of two societies."""
    for slug in ("asme", "sae"):
        shutil.copytree(TESTSETS / slug, tmp_path / "testsets" / slug)
    return tmp_path / "testsets"


@pytest.mark.parametrize(
    ("file", "change", "field", "says"), [case[1:] for case in CHANGES], ids=[c[0] for c in CHANGES]
)
def test_error_lint_names_it_and_a_night_leaves_the_society_out(
    tmp_path: Path, testsets: Path, file: str, change: Change, field: str, says: str
) -> None:
    path = testsets / "asme" / file
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    linted = Place(folder=tmp_path, testsets=testsets).run("testset", "lint")
    assert linted.returncode == 2
    about = [line for line in linted.stderr.splitlines() if re.search(rf"asme/{file}:\d+: .*{field}", line)]
    assert len(about) == 1, linted.stderr
    assert says in about[0] and "expected" in about[0]
    with gateway_place(tmp_path / "night", testsets=TESTSETS) as place:
        there = Place(folder=place.folder, url=place.url, testsets=testsets)
        night = there.nightly()
        assert night.returncode == 4, night.stderr
        assert "asme was left out, nothing was sent for it" in night.stderr
        assert not list(place.site.glob("standards/asme*"))
        assert (place.site / "standards" / "sae" / "eval" / "eval.json").is_file()
        calls = Ledger(place.folder / "calls.db").count()
        assert calls == len((TESTSETS / "sae" / "items.jsonl").read_text(encoding="utf-8").splitlines())
        alone = there.nightly("--society", "asme")
    assert alone.returncode == 2
    assert Ledger(place.folder / "calls.db").count() == calls


def test_a_byte_order_mark_and_windows_lines_are_fine(tmp_path: Path, testsets: Path) -> None:
    for path in testsets.glob("*/*.toml"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    for path in testsets.glob("*/*.jsonl"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    linted = Place(folder=tmp_path, testsets=testsets).run("testset", "lint")
    assert linted.returncode == 0, linted.stderr


def test_error_an_unknown_society_is_usage(tmp_path: Path, testsets: Path) -> None:
    ended = Place(folder=tmp_path, testsets=testsets).run(
        "nightly", "--gateway", "http://127.0.0.1:9", "--society", "../x"
    )
    assert ended.returncode == 2
    assert "no society '../x'" in ended.stderr


def test_error_edited_terms_are_refused_once_used(tmp_path: Path, testsets: Path) -> None:
    with gateway_place(tmp_path / "night") as running:
        place = Place(folder=running.folder, url=running.url, testsets=testsets)
        assert place.nightly().returncode == 0
        terms = testsets / "asme" / "terms.toml"
        terms.write_text(
            terms.read_text(encoding="utf-8").replace("min_sample = 59", "min_sample = 1"), encoding="utf-8"
        )
        edited = place.nightly()
    assert edited.returncode == 4
    assert "asme/terms.toml: terms[version 1].version: found terms that differ from those already used" in edited.stderr


def test_error_a_configuration_file_names_line_and_remedy(tmp_path: Path) -> None:
    (tmp_path / "harness.toml").write_text('[asking]\nconcurency = 3\nrate = "fast"\n[gatewy]\nurl = "x"\n')
    ended = Place(folder=tmp_path).run("status")
    assert ended.returncode == 2
    assert ended.stderr.splitlines() == [
        "harness: harness.toml:2: asking.concurency: found an unknown key; expected one of attempts, call_timeout, "
        "concurrency, item_deadline, max_calls, max_tokens, rate, run_deadline. Did you mean 'concurrency'?",
        "harness.toml:3: asking.rate: found str; expected int or float. Correct the value.",
        "harness.toml:4: gatewy: found an unknown key; expected one of asking, database, gateway, ledger, log_format, "
        "night, reports, site, store, testsets. Did you mean 'gateway'?",
    ]
