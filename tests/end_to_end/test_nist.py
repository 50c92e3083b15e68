"""Two editions of a real standard and queries that nobody here wrote: retrieval against trec_eval, edition pinning."""

import csv
import gzip
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from harness.citation.model import FIELDS, Citation
from harness.scoring.measures import Tally
from harness.scoring.model import Response, ScoringTerms
from harness.scoring.verdicts import score_item
from harness.testset.model import Item
from tests.citation.styles import STYLES
from tests.end_to_end.command import Place, gateway_place
from tests.nist import LABELLED, REV4, REV5, UNLABELLED, Edition, corpus, gold_of, queries, write_folder
from tests.shared import shared

STORED = [(REV5, "r5.bm25s-pinned"), (REV5, "r5.bm25s-all"), (REV4, "r4.bm25s-pinned"), (REV4, "r4.bm25s-all")]


@pytest.mark.parametrize(("edition", "run"), STORED, ids=[run for _, run in STORED])
def test_recall_and_mrr_agree_with_trec_eval(edition: Edition, run: str) -> None:
    """Per query and in the mean, on the stored runs; trec_eval prints six decimals."""
    ranked = _stored_run(run)
    expected = _trec_eval(run)
    terms = ScoringTerms(
        society="NIST", style=STYLES[LABELLED], editions={"SP 800-53": (edition.year,)}, top_k=10, checks=FIELDS
    )
    passages = {row["id"]: {name: row[name] for name in FIELDS} for row in corpus()}
    tally, compared = Tally(FIELDS), 0
    for query in queries(edition):
        answer = tuple(passages[name] for name in ranked.get(query["id"], []))
        score = score_item(_item(query), Response(status="ok", passages=answer), terms)
        tally.add(score)
        assert score.recall is not None and score.reciprocal_rank is not None
        theirs = expected[query["id"]]
        assert f"{float(score.recall):.6f}" == theirs["recall_10"], query["id"]
        assert f"{float(score.reciprocal_rank):.6f}" == theirs["recip_rank"], query["id"]
        compared += 1
    assert compared == len(expected) == {"nist-r5": 1727, "nist-r4": 2846}[edition.slug]
    measures = {measure.name: measure.value for measure in tally.measures() if measure.stratum is None}
    for name, column in (("recall_at_k", "recall_10"), ("mrr", "recip_rank")):
        mean = sum(float(row[column]) for row in expected.values()) / len(expected)
        value = measures[name]
        assert value is not None
        assert abs(float(value) - mean) < 1e-6


@pytest.mark.parametrize("edition", [REV5, REV4], ids=["r5", "r4"])
def test_without_pinning_editions_and_correctness_fall(tmp_path: Path, edition: Edition) -> None:
    testsets = tmp_path / "testsets"
    write_folder(testsets, edition)
    numbers = {}
    for faults in ("none", "unpinned"):
        with gateway_place(tmp_path / faults, faults, testsets=testsets) as place:
            ended = place.nightly()
        assert ended.returncode == 0, ended.stderr
        numbers[faults] = _numbers(place, edition)
    pinned, unpinned = numbers["none"], numbers["unpinned"]
    assert pinned["edition_compliance"] == 1
    assert pinned["citation_correctness"] > Fraction(98, 100)
    assert unpinned["edition_compliance"] < Fraction(80, 100)
    assert unpinned["citation_correctness"] < pinned["citation_correctness"]
    assert unpinned["recall_at_k"] <= pinned["recall_at_k"]
    assert unpinned["mrr"] < pinned["mrr"]


def test_a_style_without_the_edition_lets_the_string_check_pass_wrong_editions(
    tmp_path: Path, record_property: Any
) -> None:
    """As ASME's, AWWA's and NFPA's styles: how many wrong editions the string check alone would have passed."""
    testsets = tmp_path / "testsets"
    write_folder(testsets, REV5, UNLABELLED)
    with gateway_place(tmp_path / "unlabelled", "unpinned", testsets=testsets) as place:
        (place.folder / "harness.toml").write_text("[asking]\nconcurrency = 16\n", encoding="utf-8")
        assert place.nightly().returncode == 0
        verdicts = place.verdicts()[REV5.slug]
    year, string = FIELDS.index("edition_year"), FIELDS.index("citation")
    rows = [ended for score in verdicts for ended in score.expectations]
    passed = sum(row.checks[string] and not row.checks[year] for row in rows)
    caught = sum(row.checks[string] and row.outcome == "incorrect" for row in rows)
    record_property("wrong editions that the string check alone passed", passed)
    record_property("expectations", len(rows))
    print(f"string check alone would have passed {passed} wrong editions of {len(rows)}")  # noqa: T201
    assert passed > 0
    assert caught >= passed  # the edition_year field exposes each of them


def _numbers(place: Place, edition: Edition) -> dict[str, Fraction]:
    (society,) = place.report()["societies"]
    assert society["slug"] == edition.slug
    return {
        measure["name"]: Fraction(measure["value"])
        for measure in society["measures"]
        if measure["stratum"] is None and measure["value"] is not None
    }


def _item(query: Mapping[str, Any]) -> Item:
    golds = gold_of(query, STYLES[LABELLED])
    return Item(
        id=query["id"],
        query=query["query"],
        citations=tuple(Citation(**{**gold, "section_path": tuple(gold["section_path"])}) for gold in golds),
        tags={"kind": "control"},
    )


def _stored_run(run: str) -> dict[str, list[str]]:
    """Document ids by query, as trec_eval ranks them: by score, ties by document id descending."""
    rows: dict[str, list[tuple[float, str]]] = {}
    with gzip.open(shared(f"corpora/nist/runs/{run}.trec.gz"), "rt", encoding="utf-8") as lines:
        for line in lines:
            query, _, document, _, score, _ = line.split()
            rows.setdefault(query, []).append((float(score), document))
    return {query: [document for _, document in sorted(found, reverse=True)] for query, found in rows.items()}


def _trec_eval(run: str) -> dict[str, dict[str, str]]:
    with gzip.open(shared(f"corpora/nist/trec_eval/{run}.tsv.gz"), "rt", encoding="utf-8") as lines:
        return {row["qid"]: row for row in csv.DictReader(lines, delimiter="\t") if row["qid"] != "all"}
