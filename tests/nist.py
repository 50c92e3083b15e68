"""The NIST corpus beside the checkout as societies' folders: one per edition contract, over the same passages."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.citation.format import format_citation
from harness.citation.style import Style
from harness.testset.digest import digest
from tests.citation.styles import STYLES
from tests.shared import shared

CANARY = "NIST-CORPUS-CANARY-0001"
LABELLED = "nist"
UNLABELLED = "nist_unlabelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """One revision of SP 800-53 with its queries."""

    slug: str
    year: int
    queries: str


REV5 = Edition(slug="nist-r5", year=2020, queries="queries.jsonl")
REV4 = Edition(slug="nist-r4", year=2013, queries="queries_rev4.jsonl")

TERMS = """# canary: {canary}
[[terms]]
version = 1
effective_from = 2026-01-01
editions = {{ "SP 800-53" = [{year}] }}
top_k = 10
max_tokens = 100000
min_sample = 59

[[terms.floors]]
measure = "citation_correctness"
floor = "0.95"
rule = "point"
tiers = [{{ below = "0.95", at_least = "0", credit_percent = "10" }}]
"""


def corpus() -> list[Mapping[str, Any]]:
    """All 1,930 passages with their corpus ids."""
    return _rows("corpus.jsonl")


def queries(edition: Edition) -> list[Mapping[str, Any]]:
    return _rows(edition.queries)


def write_folder(root: Path, edition: Edition, style_name: str = LABELLED) -> Path:
    """The edition's folder below `root` under that style, as `harness testset lint` wants it."""
    folder = root / edition.slug
    folder.mkdir(parents=True)
    style = STYLES[style_name]
    items = [_item(query, style) for query in queries(edition)]
    text = (Path(__file__).parent / "citation" / f"{style_name}.toml").read_text(encoding="utf-8")
    slug = next(line for line in text.splitlines() if line.startswith("slug = "))
    sha256 = digest(items)
    text = text.replace(slug, f'slug = "{edition.slug}"').replace("0" * 64, sha256)
    text = text.replace('"nist-sp-800"', f'"{edition.slug}"') + f"# canary: {CANARY}\n"
    (folder / "society.toml").write_text(text, encoding="utf-8")
    (folder / "terms.toml").write_text(TERMS.format(canary=CANARY, year=edition.year), encoding="utf-8")
    _write(folder / "items.jsonl", items)
    _write(folder / "corpus.jsonl", (_passage(passage) for passage in corpus()))
    return folder


def gold_of(query: Mapping[str, Any], style: Style) -> list[dict[str, Any]]:
    """The query's golds as wire fields under the style."""
    return [_fields(gold, style) for gold in query["gold"]]


def _item(query: Mapping[str, Any], style: Style) -> dict[str, Any]:
    return {"id": query["id"], "query": query["query"], "citations": gold_of(query, style), "canary": CANARY}


def _fields(row: Mapping[str, Any], style: Style) -> dict[str, Any]:
    fields = {name: row[name] for name in ("society", "standard", "section", "edition_year", "section_path")}
    printed = format_citation(style, standard=row["standard"], section=row["section"], edition_year=row["edition_year"])
    return {**fields, "citation": printed}


def _passage(row: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: row[name] for name in ("society", "standard", "section", "edition_year", "section_path", "text")}
    return {**fields, "canary": CANARY}


def _rows(name: str) -> list[Mapping[str, Any]]:
    path = shared(f"corpora/nist/{name}")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
