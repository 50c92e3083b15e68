"""lint: the files beside those a night needs, warnings, and one folder or all."""

from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.testset.lint import lint
from tests.testset.folder import (
    CANARY,
    CHANGES,
    SECTIONS,
    SOURCES,
    TERMS,
    Content,
    item,
    json_lines,
    lint_refusals,
    said,
    section_rows,
    write_society,
)

CARRY = "Put the folder's canary there: the one string that every file of it carries."
PASSAGES = section_rows(text="In our own words.")
ROWS = section_rows()
GONE = "found no such file; expected a readable file. Add the file or mend its permissions."

DEFECTS: dict[str, tuple[dict[str, Content], str]] = {
    "no CHANGES.md": ({"changes": None}, f"CHANGES.md: {GONE}"),
    "CHANGES.md without the version": (
        {"changes": CHANGES.replace("## 1 ", "## 1.1, 11, v1 and x-1 ")},
        "CHANGES.md: found no entry for version 1; expected a heading that names the version in society.toml. "
        "Add a heading like '## 1 - 2026-01-31' and what changed, why.",
    ),
    "CHANGES.md without the canary": (
        {"changes": CHANGES.replace(CANARY, "")},
        f"CHANGES.md: found no canary; expected the folder's canary in a comment. {CARRY}",
    ),
    "SOURCES.md without the canary": (
        {"sources": SOURCES.replace(CANARY, "")},
        f"SOURCES.md: found no canary; expected the folder's canary in a comment. {CARRY}",
    ),
    "SOURCES.md in another encoding": (
        {"sources": f"{CANARY}\n".encode() + b"\xa7"},
        f"SOURCES.md:2: found byte 0xA7 at byte offset {len(CANARY) + 1}, which is not UTF-8; expected UTF-8 text. "
        "Save the file as UTF-8.",
    ),
    "catalogue row twice": (
        {"catalogue": json_lines([*ROWS, ROWS[1]])},
        "catalogue.jsonl:6: section: found a section that line 2 lists for the same edition; expected each "
        "section of an "
        "edition once. Take one of the lines out.",
    ),
    "catalogue path": (
        {"catalogue": json_lines([*ROWS, ROWS[1] | {"section_path": ["2"]}])},
        "catalogue.jsonl:6: section_path: found another path than the section has; expected the path that the section "
        "parses to. Make the two agree.",
    ),
    "catalogue section": (
        {"catalogue": json_lines([*ROWS, ROWS[1] | {"section": "1.2"}])},
        "catalogue.jsonl:6: section: found a section that the style refuses at character 1; expected a section as the "
        "style writes it. Write it as the style prints it.",
    ),
    "catalogue edition": (
        {"catalogue": json_lines([*ROWS, ROWS[1] | {"edition_year": None}])},
        "catalogue.jsonl:6: edition_year: found null; expected an edition that the style lists, 2018, 2022. "
        "Correct the year or add it to society.toml.",
    ),
    "corpus society": (
        {"corpus": json_lines([PASSAGES[0] | {"society": "ASME"}])},
        "corpus.jsonl:1: society: found another society; expected ACME. Write the id of society.toml.",
    ),
    "corpus without a text": (
        {"corpus": json_lines([PASSAGES[0] | {"text": ""}])},
        "corpus.jsonl:1: text: found a string of 0 characters; expected a text, not empty. Write it in quotes.",
    ),
    "corpus standard": (
        {"corpus": json_lines([PASSAGES[0] | {"standard": "Z"}])},
        "corpus.jsonl:1: standard: found a standard that the style does not list; expected one of P100, Q7. "
        "Correct the name or add the standard to society.toml.",
    ),
    "corpus section that the catalogue lacks": (
        {"corpus": json_lines([PASSAGES[0] | {"section": "§7", "section_path": ["7"]}])},
        "corpus.jsonl:1: section: found a section that catalogue.jsonl does not list for this edition; "
        "expected a section "
        "of the catalogue, which is complete. Correct the line or the catalogue.",
    ),
    "corpus of another canary": (
        {"corpus": json_lines([PASSAGES[0] | {"canary": "HELD-OUT-TEST-CANARY-0002"}])},
        f"corpus.jsonl:1: canary: found another canary than before; expected the same one everywhere. {CARRY}",
    ),
}


@pytest.mark.parametrize(("parts", "expected"), DEFECTS.values(), ids=DEFECTS)
def test_error_of_lint(tmp_path: Path, parts: dict[str, Content], expected: str) -> None:
    assert lint_refusals(write_society(tmp_path, **parts)) == [f"acme/{expected}"]


def test_valid_folder_has_neither_problem_nor_warning(tmp_path: Path) -> None:
    report = lint(write_society(tmp_path))
    assert (report.problems, report.warnings) == ((), ())
    assert [society.slug for society in report.societies] == ["acme"]


def without_canary(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "canary"}


WARNINGS: dict[str, tuple[dict[str, Any], str]] = {
    "lines without the canary": (
        {"items": [item(1), without_canary(item(2)), without_canary(item(3))]},
        f"items.jsonl:2: canary: found 2 lines without it, the first of them here; expected the canary in every line. "
        f"{CARRY}",
    ),
    "no SOURCES.md": (
        {"sources": None},
        "SOURCES.md: found no such file; expected where each fact of the folder comes from, and how sure it "
        "is. Write it.",
    ),
    "credits that fall": (
        {"terms": TERMS.replace('"25"', '"5"')},
        "terms.toml: version 1, citation_correctness: found a tier that credits less than a tier above it; expected "
        "credits that do not fall as the ratio falls. Check the tiers against the contract.",
    ),
}


@pytest.mark.parametrize(("parts", "expected"), WARNINGS.values(), ids=WARNINGS)
def test_warning_is_no_problem(tmp_path: Path, parts: dict[str, Any], expected: str) -> None:
    folder = write_society(tmp_path, **parts)
    report = lint(folder)
    assert report.problems == ()
    assert said(folder, report.warnings) == [f"acme/{expected}"]


def test_root_gives_every_folder_in_order(tmp_path: Path) -> None:
    write_society(tmp_path, "two", terms=TERMS.replace("top_k = 5", "top_k = 0"))
    write_society(tmp_path, "one", changes=None)
    write_society(tmp_path, "three")
    report = lint(tmp_path)
    assert [Path(problem.file).relative_to(tmp_path).as_posix() for problem in report.problems] == [
        "one/CHANGES.md",
        "two/terms.toml",
    ]
    assert [society.slug for society in report.societies] == ["one", "three"]


def test_folder_is_known_from_inside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_society(tmp_path))
    assert lint(Path()).problems == ()


def test_error_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        lint(tmp_path / "gone")
    assert str(caught.value) == f"{tmp_path}/gone: no readable folder of societies (No such file or directory)."


def test_sections_of_the_made_up_society_are_distinct() -> None:
    assert len(SECTIONS) == len({row[:3] for row in SECTIONS}) == 5
