"""items.jsonl: every defect with its whole text, and nothing held out in any of them."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from harness.testset.society import load_society
from tests.testset.folder import CANARY, SOCIETY, item, json_lines, refusals, sha256_of, write_society
from tests.testset.folder import gold as gold_of

KEYS = "id, query, citations, match, weight, cluster, tags, editions, added, retired, source, canary"
KINDS = "section, article, chapter, commentary, table, figure, equation, appendix, annex, paragraph, control, exception"
AGREE = "expected the fields that the string parses to. Make the two agree."
REFUSED = "citations[0].citation: found a string that the strict parser refuses at character"
STYLE = "[{society} {standard} {section}]"
LISTED = "an edition that the style lists, 2018, 2022. Correct the year or add it to society.toml."
DATE = 'expected a date in quotes. Write it as "2026-01-31".'


def gold(section: str = "§1.2", path: tuple[Any, ...] = ("1", "2"), **changes: Any) -> dict[str, Any]:
    return {"citations": [gold_of(section, path, **changes)]}


DEFECTS: dict[str, tuple[dict[str, Any], str]] = {
    "no query": ({"query": None}, "query: found null; expected a question, not empty. Write the question."),
    "blank query": (
        {"query": " \n"},
        "query: found a string of 2 characters; expected a question, not empty. Write the question.",
    ),
    "unknown key": ({"weigth": "1"}, f"weigth: found an unknown key; expected one of {KEYS}. Did you mean 'weight'?"),
    "key that is held-out text": (
        {"Wall thickness of secret pipe?": 1},
        f"found an unknown key of 30 characters; expected one of {KEYS}. Remove it.",
    ),
    "id with a space": (
        {"id": "a b"},
        "id: found a string of 3 characters; expected 1 to 128 characters A-Z, a-z, 0-9, '.', '_', '-'. "
        "Write it like asme-b313-0001.",
    ),
    "id of 129 characters": (
        {"id": "a" * 129},
        "id: found a string of 129 characters; expected 1 to 128 characters A-Z, a-z, 0-9, '.', '_', '-'. "
        "Write it like asme-b313-0001.",
    ),
    "two spaces in the gold": (
        gold(citation="[ACME P100  §1.2]"),
        f"{REFUSED} 12; expected a section as the style writes it. "
        "Write it as the style prints it; it can be read by these steps: spaces.",
    ),
    "gold in words": (
        gold(citation="ACME P100, Section 1.2"),
        f"{REFUSED} 1; expected a standard and edition that the style lists, as {STYLE}. "
        "Write it as the style prints it; it can be read by these steps: brackets, comma, section_word.",
    ),
    "range": (
        gold(citation="[ACME P100 §1.2-§1.5]"),
        f"{REFUSED} 16; expected ']'. It reads as a range; write one gold citation for each section.",
    ),
    "no citation at all": (
        gold(citation="secret"),
        f"{REFUSED} 1; expected a standard and edition that the style lists, as {STYLE}. "
        f"Write it as the style prints it: {STYLE}.",
    ),
    "section against string": (
        gold("§1.3", citation="[ACME P100 §1.2]"),
        f"citations[0].section: found another section than the string has; {AGREE}",
    ),
    "standard against string": (
        gold(standard="Q7", citation="[ACME P100 §1.2]", edition_year=None),
        f"citations[0].standard: found another standard than the string has; {AGREE}",
    ),
    "path against string": (
        gold(path=("1", "3")),
        f"citations[0].section_path: found another section_path than the string has; {AGREE}",
    ),
    "path of numbers": (
        gold(path=(1, 2)),
        "citations[0].section_path: found an array; expected a list of strings, none empty. Write it as "
        '["304", "1", "2"].',
    ),
    "society": (
        gold(society="SECRET"),
        "citations[0].society: found another society; expected ACME. Write the id of society.toml.",
    ),
    "year in quotes": (
        gold(edition_year="2022"),
        "citations[0].edition_year: found a string of 4 characters; expected a year, or null for an undated standard. "
        "Write it without quotes, like 2022.",
    ),
    "edition that is not contracted": (
        gold(edition_year=2018),
        "citations[0].edition_year: found 2018; expected an edition contracted while the item counts, 2022. "
        "Correct the gold, contract the edition in terms.toml, or ask for it by editions.",
    ),
    "edition that is not asked for": (
        gold() | {"editions": [2018]},
        "citations[0].edition_year: found 2022; expected one of the item's editions, 2018. "
        "Correct the gold or the editions.",
    ),
    "asked edition the style lacks": (
        gold() | {"editions": [2019, 2022]},
        "editions: found 2019; expected editions that the style lists, 2018, 2022. "
        "Correct the year or add it to society.toml.",
    ),
    "editions in quotes": (
        {"editions": ["2022"]},
        "editions: found an array; expected a list of years, none twice, one at least. Write it as [2018, "
        "2022], or null.",
    ),
    "edition the style lacks": (
        gold(edition_year=2020),
        f"citations[0].edition_year: found 2020; expected {LISTED}",
    ),
    "dated standard without edition": (
        gold(edition_year=None),
        f"citations[0].edition_year: found null; expected {LISTED}",
    ),
    "undated standard with edition": (
        gold("§5", ("5",), standard="Q7", edition_year=2022),
        "citations[0].edition_year: found 2022; expected an edition that the style lists, null. "
        "Correct the year or add it to society.toml.",
    ),
    "not in the catalogue": (
        gold("§9.9", ("9", "9")),
        "citations[0].section: found a section that catalogue.jsonl does not list for this edition; expected "
        "a section of "
        "the catalogue, which is complete. Correct the gold or the catalogue.",
    ),
    "gold in two corpora": (
        {"citations": [gold_of(), gold_of("§5", ["5"], standard="Q7", edition_year=None)]},
        "citations: found gold that no single gateway corpus holds; expected standards of one of the corpora "
        "acme-p100, "
        "acme-q7. Split the item, or complete [corpora] in society.toml.",
    ),
    "the same gold twice": (
        {"citations": [gold_of(), gold_of()]},
        "citations[1]: found the same gold again; expected each gold citation once. Take one of them out.",
    ),
    "no gold": (
        {"citations": []},
        "citations: found an empty list; expected one gold citation at least. Add the gold citation.",
    ),
    "gold that is no object": (
        {"citations": ["[ACME P100 §1.2]"]},
        "citations: found an array; expected a list of tables (in JSON: of objects). Write each one as a "
        "table of its own.",
    ),
    "unknown key of the gold": (
        gold(year=2022),
        "citations[0].year: found an unknown key; expected one of society, standard, section, edition_year, "
        "section_path, "
        "citation. Remove it.",
    ),
    "weight as a number": (
        {"weight": 2},
        'weight: found an integer; expected a decimal in quotes, above 0. Write it in quotes, like "0.95".',
    ),
    "weight of nothing": (
        {"weight": "0.0"},
        "weight: found a string of 3 characters; expected a decimal in quotes, above 0. "
        'Write it in quotes, like "0.95".',
    ),
    "match": ({"match": "some"}, "match: found a string of 4 characters; expected one of all, any. Write one of them."),
    "kind": (
        {"tags": {"kind": "secret"}},
        f"tags.kind: found a string of 6 characters; expected one of {KINDS}. Write one of them.",
    ),
    "standard tag": (
        {"tags": {"standard": "secret"}},
        "tags.standard: found a string of 6 characters; expected one of P100, Q7. Write one of them.",
    ),
    "tag of a number": (
        {"tags": {"level": 3}},
        "tags: found an object; expected an object of strings. Quote each value.",
    ),
    "no such day": ({"added": "2026-02-30"}, f"added: found a string of 10 characters; {DATE}"),
    "date without dashes": ({"added": "20260201"}, f"added: found a string of 8 characters; {DATE}"),
    "retired on the day it came": (
        {"added": "2026-05-01", "retired": "2026-05-01"},
        "retired: found 2026-05-01; expected a date after added, 2026-05-01. "
        "An item counts from added to the night before retired; correct one of the two.",
    ),
    "another canary": (
        {"canary": "HELD-OUT-TEST-CANARY-0002"},
        "canary: found another canary than before; expected the same one everywhere. "
        "Put the folder's canary there: the one string that every file of it carries.",
    ),
    "short canary": (
        {"canary": "x"},
        "canary: found a string of 1 characters; expected a canary of 16 to 256 characters on one line. "
        "Write the folder's canary.",
    ),
}


@pytest.mark.parametrize(("changes", "expected"), DEFECTS.values(), ids=DEFECTS)
def test_error_of_one_item(tmp_path: Path, changes: dict[str, Any], expected: str) -> None:
    folder = write_society(tmp_path, items=[item(1, **changes), item(2), item(3)])
    assert refusals(folder) == [f"acme/items.jsonl:1: {expected}"]


@pytest.mark.parametrize(("changes", "_expected"), DEFECTS.values(), ids=DEFECTS)
def test_no_problem_shows_what_is_held_out(tmp_path: Path, changes: dict[str, Any], _expected: str) -> None:
    """Law 7: query text and gold never reach an exception text."""
    folder = write_society(tmp_path, items=[item(1, **changes), item(2), item(3)])
    text = "\n".join(refusals(folder))
    assert not [held for held in ("secret", "SECRET", "Question", "§", "[ACME", CANARY) if held in text]


WHOLE_FILE: dict[str, tuple[str | bytes | None, str]] = {
    "no file": (None, ": found no such file; expected a readable file. Add the file or mend its permissions."),
    "empty": ("", ": found no item; expected one item a line. Add items, or remove the society's folder."),
    "blank lines": ("\n \r\n", ": found no item; expected one item a line. Add items, or remove the society's folder."),
    "not UTF-8": (
        b"\xef\xbb\xbf\n\n  \xff",
        ":3: found byte 0xFF at byte offset 7, which is not UTF-8; expected UTF-8 text. Save the file as UTF-8.",
    ),
    "UTF-16": (
        "{}".encode("utf-16-le").join((b"\xff\xfe", b"")),
        ":1: found byte 0xFF at byte offset 0, which is not UTF-8; expected UTF-8 text. Save the file as UTF-8.",
    ),
    "an array": (
        "[]",
        ":1: found an array; expected one JSON object a line. Write the object on one line, in braces.",
    ),
    "half an object": (
        '{"id": ',
        ":1: found text that is not JSON (Expecting value at column 8); expected one JSON object a line. "
        "Mend that line; nothing may follow the object.",
    ),
    "two objects": (
        "{} {}",
        ":1: found text that is not JSON (Extra data at column 4); expected one JSON object a line. "
        "Mend that line; nothing may follow the object.",
    ),
    "a key twice": (
        '{"id": "a", "id": "b"}',
        ":1: id: found a key of 2 characters twice in one object; expected each key once. Mend that line.",
    ),
    "a key twice, deeper": (
        '{"tags": {"secret word": "", "secret word": ""}}',
        ":1: found a key of 11 characters twice in one object; expected each key once. Mend that line.",
    ),
    "not a number": (
        '{"weight": NaN}',
        ":1: found NaN; expected JSON, which has no such number. Mend that line.",
    ),
    "half a character": (
        '{"id": "\\ud800"}',
        ":1: found an escaped lone surrogate, which is no character; expected one JSON object a line. "
        "Mend that line; nothing may follow the object.",
    ),
    "too deep": (
        '{"id": ' + "[" * 100_000,
        ":1: found values nested too deep to read; expected one JSON object a line. "
        "Mend that line; nothing may follow the object.",
    ),
    "a number too long": (
        '{"id": ' + "9" * 5000 + "}",
        ":1: found a number too long to read; expected one JSON object a line. "
        "Mend that line; nothing may follow the object.",
    ),
}


@pytest.mark.parametrize(("content", "expected"), WHOLE_FILE.values(), ids=WHOLE_FILE)
def test_error_of_the_file(tmp_path: Path, content: str | bytes | None, expected: str) -> None:
    society = SOCIETY.replace("SHA256", "0" * 64)
    assert refusals(write_society(tmp_path, items=content, society=society)) == [f"acme/items.jsonl{expected}"]


def test_error_duplicate_id(tmp_path: Path) -> None:
    assert refusals(write_society(tmp_path, items=[item(1), item(2), item(1)])) == [
        "acme/items.jsonl:3: id: found 'acme-0001' again, first on line 1; expected each id once in the society. "
        "Give one of the two another id."
    ]


def test_error_every_line_is_judged(tmp_path: Path) -> None:
    rows = [item(number, query="") for number in range(1, 4)]
    places = [message.split(" ")[0] for message in refusals(write_society(tmp_path, items=rows))]
    assert places == ["acme/items.jsonl:1:", "acme/items.jsonl:2:", "acme/items.jsonl:3:"]


def test_error_no_canary_in_any_line(tmp_path: Path) -> None:
    rows = [{key: value for key, value in item(number).items() if key != "canary"} for number in (1, 2)]
    assert refusals(write_society(tmp_path, items=rows)) == [
        "acme/items.jsonl: canary: found no line that carries it; expected the canary in every line. "
        "Put the folder's canary there: the one string that every file of it carries."
    ]


def test_contract_counts_only_while_the_item_does(tmp_path: Path) -> None:
    """An item that is added after the terms have ended is held to no contract."""
    late = item(3, **gold(edition_year=2018), added="2027-01-01")
    early = item(4, **gold(edition_year=2018), retired="2026-01-01")
    assert refusals(write_society(tmp_path, items=[item(1), item(2), late, early])) == []


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["plain", "BOM"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_bom_and_crlf_are_fine_and_text_is_kept(tmp_path: Path, bom: bytes, ending: str) -> None:
    rows = [item(1, query="  Decomposed é, no-break , ﬁ\r\n"), item(2)]
    plain = write_society(tmp_path / "plain", items=rows)
    other = tmp_path / "other" / "acme"
    other.mkdir(parents=True)
    for path in plain.iterdir():
        (other / path.name).write_bytes(bom + path.read_text().replace("\n", ending).encode())
    assert load_society(other) == load_society(plain)
    assert load_society(other).items[0].query == rows[0]["query"]


def test_item_as_read(tmp_path: Path) -> None:
    full = item(
        1,
        **{"match": "any", "weight": "1.50", "cluster": "c1", "tags": {"kind": "section", "level": "hard"}},
        **{"editions": [2022, 2018], "added": "2026-03-01", "retired": "2026-04-01", "source": "S1"},
    )
    society = load_society(write_society(tmp_path, items=[item(2), full, item(3)]))
    read = society.items[1]
    assert (read.id, read.line, read.match, read.weight, read.cluster) == ("acme-0001", 2, "any", "1.50", "c1")
    assert (read.editions, read.added, read.retired) == ((2022, 2018), date(2026, 3, 1), date(2026, 4, 1))
    assert read.tags == {"kind": "section", "level": "hard"}
    assert read.citations[0].section_path == ("1", "2")
    assert "Question" not in repr(read)
    assert "§" not in repr(read)


def test_equal_values_are_shared(tmp_path: Path) -> None:
    rows = [item(number, cluster="c1", tags={"kind": "section"}) for number in (1, 2)]
    first, second = load_society(write_society(tmp_path, items=rows)).items
    assert first.citations[0] is second.citations[0]
    assert first.tags is second.tags
    assert first.cluster is second.cluster


def test_error_digest_changed_without_a_version(tmp_path: Path) -> None:
    folder = write_society(tmp_path)
    rows = [item(1), item(2, query="Another?")]
    (folder / "items.jsonl").write_text(json_lines(rows))
    old = sha256_of([item(1), item(2, **gold("§1.3", ("1", "3")))])
    assert refusals(folder) == [
        f"acme/society.toml:6: testset.sha256: found {old[:12]}…, but items.jsonl has changed since; "
        f"expected the digest of its items, {sha256_of(rows)}. "
        "Raise testset.version, add an entry to CHANGES.md, and set sha256 to that digest."
    ]
