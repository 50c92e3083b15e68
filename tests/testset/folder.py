"""A valid minimal folder of a made-up society, and its parts to change: one line a case."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from harness.errors import InvalidInput, Problem
from harness.testset.lint import lint
from harness.testset.society import load_society

CANARY: Final = "HELD-OUT-TEST-CANARY-0001"

SOCIETY: Final = f"""# {CANARY}
id = "ACME"
slug = "acme"
name = "Association of Careful Mechanical Engineers"
catalogue_complete = true
testset = {{ version = "1", sha256 = "SHA256" }}

[corpora]
"acme-p100" = ["P100"]
"acme-q7" = ["Q7"]

[style]
format = "[{{society}} {{standard}} {{section}}]"

[style.words]
section = "§"
table = "Table "

[style.standards."P100"]
editions = [2018, 2022]

[style.standards."Q7"]
editions = []

[[examples]]
citation = "[ACME P100 §1.2]"
standard = "P100"
section = "§1.2"
section_path = ["1", "2"]

[[refused]]
citation = "[ACME P100 § 1.2]"
"""

TERMS: Final = f"""# {CANARY}
[[terms]]
version = 1
effective_from = 2026-01-01
effective_to = 2026-12-31
editions = {{ P100 = [2022], Q7 = [] }}
checks = ["society", "standard", "section", "edition_year", "section_path", "citation"]
top_k = 5
max_tokens = 1200
max_error_rate = "0.02"
min_sample = 2
window = "night"
max_missed_nights = 3
dispute_days = 30

[[terms.floors]]
measure = "citation_correctness"
floor = "0.95"
rule = "point"
tiers = [
  {{ below = "0.95", at_least = "0.90", credit_percent = "10" }},
  {{ below = "0.90", at_least = "0", credit_percent = "25" }},
]
"""

CHANGES: Final = f"<!-- {CANARY} -->\n# Changes\n\n## 1 - 2026-01-01\n\nFirst.\n"
SOURCES: Final = f"<!-- {CANARY} -->\nMade up.\n"
SECTIONS: Final = (
    ("P100", 2018, "§1.2", ["1", "2"]),
    ("P100", 2022, "§1.2", ["1", "2"]),
    ("P100", 2022, "§1.3", ["1", "3"]),
    ("P100", 2022, "Table 1.2", ["table", "1", "2"]),
    ("Q7", None, "§5", ["5"]),
)

Content = str | bytes | None
"""A file's content; None leaves the file out."""


def gold(section: str = "§1.2", path: Iterable[str] = ("1", "2"), **changes: Any) -> dict[str, Any]:
    """A gold object of P100, 2022; `standard` and the other fields by keyword."""
    standard = changes.get("standard", "P100")
    return {
        "society": "ACME",
        "standard": standard,
        "section": section,
        "edition_year": 2022,
        "section_path": list(path),
        "citation": f"[ACME {standard} {section}]",
    } | changes


def item(number: int = 1, **changes: Any) -> dict[str, Any]:
    """The raw object of an item with one gold."""
    return {
        "id": f"acme-{number:04d}",
        "query": f"Question {number}?",
        "citations": [gold()],
        "canary": CANARY,
    } | changes


ITEMS: Final = (item(1), item(2, citations=[gold("§1.3", ["1", "3"])]))


def json_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """The rows as JSONL."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def section_rows(**changes: Any) -> list[dict[str, Any]]:
    """Catalogue rows of every section of the folder; `text=` makes corpus rows."""
    return [
        {"standard": standard, "edition_year": year, "section": section, "section_path": path, "canary": CANARY}
        | changes
        for standard, year, section, path in SECTIONS
    ]


def sha256_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """The test set's digest, computed the plain way."""
    text = json.dumps(list(rows), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def write_society(
    root: Path,
    slug: str = "acme",
    /,
    *,
    items: Iterable[Mapping[str, Any]] | str | bytes | None = ITEMS,
    society: Content = SOCIETY,
    terms: Content = TERMS,
    **others: Content,
) -> Path:
    """Write a folder below the root and return it; valid unless a part is changed.

    `SHA256` in society.toml becomes the items' digest where they are given as rows. `catalogue`, `corpus`, `changes`
    and `sources` are the other files.
    """
    folder = root / slug
    folder.mkdir(parents=True)
    if isinstance(items, str | bytes | None):
        lines: Content = items
    else:
        rows = list(items)
        lines = json_lines(rows)
        if isinstance(society, str):
            society = society.replace("SHA256", sha256_of(rows))
    if isinstance(society, str):
        society = society.replace('slug = "acme"', f'slug = "{slug}"')
    defaults: dict[str, Content] = {
        "catalogue": json_lines(section_rows()),
        "corpus": json_lines(section_rows(text="In our own words.")),
        "changes": CHANGES,
        "sources": SOURCES,
    }
    files = defaults | {"society": society, "terms": terms, "items": lines} | others
    for name, content in files.items():
        if content is not None:
            path = folder / FILE_NAMES[name]
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


FILE_NAMES: Final = {
    "society": "society.toml",
    "terms": "terms.toml",
    "items": "items.jsonl",
    "catalogue": "catalogue.jsonl",
    "corpus": "corpus.jsonl",
    "changes": "CHANGES.md",
    "sources": "SOURCES.md",
}


def said(folder: Path, problems: Iterable[Problem]) -> list[str]:
    """The problems as they are printed, less the place of the folder."""
    return [str(problem).replace(f"{folder.parent.as_posix()}/", "") for problem in problems]


def refusals(folder: Path) -> list[str]:
    """Why the folder does not load, message by message; empty where it loads."""
    try:
        load_society(folder)
    except InvalidInput as error:
        return said(folder, error.problems)
    return []


def lint_refusals(folder: Path) -> list[str]:
    """The problems that lint finds in the folder."""
    return said(folder, lint(folder).problems)
