"""The given cases (citations.jsonl): both parsers, kind by kind."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.citation.error import CitationError
from harness.citation.format import format_citation
from harness.citation.lenient import find_citation
from harness.citation.model import Citation
from harness.citation.parse import parse_citation, parse_section
from tests.citation.styles import STYLES

CASES = [json.loads(line) for line in (Path(__file__).parent / "citations.jsonl").read_text("utf-8").splitlines()]


def fields_of(citation: Citation | None) -> dict[str, Any] | None:
    """The fields that the case file names."""
    if citation is None:
        return None
    named = ("society", "standard", "edition_year", "section_path", "citation")
    return {name: getattr(citation, name) for name in named} | {"section_path": list(citation.section_path)}


def test_the_case_file_has_sixty_distinct_cases() -> None:
    assert len(CASES) == 60
    assert len({(case["style"], case["input"]) for case in CASES}) == 60
    assert sum(case["strict"] for case in CASES) == 35


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case["input"]))
def test_strict(case: dict[str, Any]) -> None:
    style = STYLES[case["style"].lower()]
    if not case["strict"]:
        with pytest.raises(CitationError):
            parse_citation(case["input"], style)
        return
    citation = parse_citation(case["input"], style)
    assert fields_of(citation) == case["fields"]
    assert parse_section(citation.section, style).kind == case["kind"]
    year = citation.edition_year
    assert case["input"] == format_citation(
        style, standard=citation.standard, section=citation.section, edition_year=year
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case["input"]))
def test_lenient(case: dict[str, Any]) -> None:
    found = find_citation(case["input"], STYLES[case["style"].lower()])
    assert (found.kind, fields_of(found.citation)) == (case["kind"], case["fields"])
    assert (found.steps == ()) == (case["strict"] or case["kind"] in ("none", "range", "list"))
