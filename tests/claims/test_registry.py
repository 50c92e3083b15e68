"""Every published number re-run from its table, and every claim that cannot be re-run refused by name."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.citation.model import FIELDS
from harness.claims.check import parse_part
from harness.claims.part import Source
from harness.claims.produce import claim_for
from harness.claims.registry import FUNCTIONS, rerun, rerun_all
from harness.claims.source import Bound, CannotRerun, bound_source_of, parse_subset, source_of
from harness.claims.tables import TABLES
from harness.scoring.decimals import format_bound, format_ratio
from harness.scoring.model import Measure, Outcome
from tests.claims.factories import CHECKS, CONTEXT, Rows, measures, night, score, source, tables
from tests.scoring.test_stats_reference import ROWS


def as_read(name: str, rows: Rows) -> list[dict[str, Any]]:
    """The rows as a stranger reads them: through the bytes of a CSV file."""
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, TABLES[name].columns)
    writer.writeheader()
    writer.writerows(rows)
    return list(csv.DictReader(io.StringIO(file.getvalue(), newline="")))


def by_hand(measure: Measure, found: Mapping[str, Rows]) -> Fraction:
    """The measure's value from the tables' cells in plain Python, without the registry and its maps."""
    stratum, _, wanted = (measure.stratum or "").partition("=")

    def cells(table: str, column: str) -> list[str]:
        return [row[column] for row in found[table] if not measure.stratum or row[stratum] == wanted]

    def share(told: Iterable[str]) -> Fraction:
        values = [Fraction(cell) for cell in told if cell]
        return sum(values, Fraction(0)) / len(values)

    if measure.name == "weighted_citation_correctness":
        weights = [
            (Fraction(weight), outcome == "correct")
            for weight, outcome in zip(cells("scores", "weight"), cells("scores", "outcome"), strict=True)
            if outcome != "harness_error"
        ]
        return sum((w for w, good in weights if good), Fraction(0)) / sum(w for w, _ in weights)
    if measure.name == "citation_correctness":
        ends = [outcome for outcome in cells("scores", "outcome") if outcome != "harness_error"]
        return Fraction(ends.count("correct"), len(ends))
    if measure.name == "correctness_when_retrieved":
        ends = [
            outcome
            for outcome, retrieved in zip(cells("scores", "outcome"), cells("scores", "retrieved"), strict=True)
            if retrieved == "1" or outcome == "gateway_error"
        ]
        return Fraction(ends.count("correct"), len(ends))
    if measure.name == "answered":
        states = [status for status in cells("items", "status") if status != "harness_error"]
        return Fraction(states.count("ok"), len(states))
    columns = {
        "string_correctness": ("scores", "check_citation"),
        "field_correctness": ("scores", "fields_correct"),
        "edition_compliance": ("passages", "edition_compliant"),
        "passage_consistency": ("passages", "consistent"),
        "catalogue_membership": ("passages", "in_catalogue"),
        "recall_at_k": ("items", "recall"),
        "mrr": ("items", "reciprocal_rank"),
    }
    table, column = columns.get(measure.name, ("scores", f"check_{measure.name.removesuffix('_correctness')}"))
    return share(cells(table, column))


@settings(max_examples=60)
@given(data=st.data(), checks=CHECKS)
def test_every_measure_is_what_its_table_says_by_the_registry_and_by_hand(
    data: st.DataObject, checks: tuple[str, ...]
) -> None:
    scores = data.draw(night(checks))
    found = tables(scores, checks)
    read = {name: as_read(name, rows) for name, rows in found.items()}
    for measure in measures(scores, checks):
        if measure.value is None:
            continue
        claimed = claim_for(measure, CONTEXT, places=8)
        table = parse_subset(claimed.source.table).table.name
        assert rerun(claimed.source, read[table], places=8) == claimed.domain["value"]
        assert format_ratio(by_hand(measure, found), 8) == claimed.domain["value"]
        assert claimed.base_n == measure.valid


@settings(max_examples=60)
@given(data=st.data(), checks=CHECKS)
def test_every_value_and_bound_is_what_its_table_says_in_one_pass(data: st.DataObject, checks: tuple[str, ...]) -> None:
    scores = data.draw(night(checks))
    found = tables(scores, checks)
    printed: dict[str, dict[Source, str]] = {name: {} for name in found}
    for measure in measures(scores, checks):
        if measure.value is None or measure.interval is None:
            continue
        table = printed[parse_subset(source_of(measure).table).table.name]
        table[source_of(measure)] = format_ratio(measure.value)
        table[bound_source_of(measure, "low")] = format_bound(measure.interval.low, direction="down")
        table[bound_source_of(measure, "high")] = format_bound(measure.interval.high, direction="up")
    for name, texts in printed.items():
        assert {each: figure.text() for each, figure in rerun_all(texts, found[name]).items()} == texts


@given(data=st.data(), order=st.randoms(use_true_random=False))
def test_a_value_is_the_same_in_whatever_order_its_rows_are_read(data: st.DataObject, order: Any) -> None:
    scores = data.draw(night(FIELDS))
    found = tables(scores)
    for rows in found.values():
        order.shuffle(rows)
    for measure in measures(scores):
        if measure.value is not None:
            rows = found[parse_subset(source_of(measure).table).table.name]
            assert rerun(source_of(measure), rows) == format_ratio(measure.value)


def test_memory_is_bounded_when_no_two_rows_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = tables(
        score(f"item-{number}", "ccimm"[: number % 5 + 1], weight=str(number), cluster="ab"[number % 2] * (number % 3))
        for number in range(40)
    )["scores"]
    sources = [source(function=name) for name in FUNCTIONS if name != "mean"]
    whole = {each: figure.text() for each, figure in rerun_all(sources, rows).items()}
    monkeypatch.setattr("harness.claims.registry._KEPT", 3)
    assert {each: figure.text() for each, figure in rerun_all(sources, rows).items()} == whole


@pytest.mark.parametrize(
    ("items", "says"),
    [
        ("ba", "row 2: item 'a' does not come after 'b'"),
        ("aba", "row 3: item 'a' does not come after 'b'"),
        (["a", ""], "row 2: item '' does not come after 'a'"),
        ([""], "row 1: item '' does not come after ''"),
    ],
)
def test_error_bounds_of_rows_out_of_order(items: Iterable[str], says: str) -> None:
    (row,) = tables([score()])["scores"]
    with pytest.raises(CannotRerun) as caught:
        rerun(source(function="wilson_low"), [row | {"item": item} for item in items])
    assert str(caught.value) == (
        f"scores: {says}; rows are ascending by item, the rows of an item together and of one cluster"
    )


def test_error_an_item_of_two_clusters() -> None:
    (row,) = tables([score()])["scores"]
    with pytest.raises(CannotRerun) as caught:
        rerun(source(function="wilson_high"), [row | {"cluster": "x"}, row | {"cluster": "y"}])
    assert str(caught.value).startswith("scores: row 2: item 'h-item-1' does not come after 'h-item-1'; ")


@given(data=st.data())
def test_a_part_that_went_through_json_is_reproduced_and_one_changed_verdict_is_noticed(data: st.DataObject) -> None:
    scores = data.draw(night(FIELDS))
    claimed = [claim_for(row, CONTEXT) for row in measures(scores) if row.value is not None]
    if not claimed:
        return
    part = parse_part(json.loads(json.dumps(data.draw(st.sampled_from(claimed)).to_wire())))
    rows = tables(scores)[parse_subset(part.source.table).table.name]
    assert rerun(part.source, rows) == part.domain["value"]
    column, filters = part.source.column, parse_subset(part.source.table).filters
    told = [row for row in rows if row[column] and all(row[name] == value for name, value in filters)]
    counted = [row for row in told if part.weight == "unweighted" or row[part.weight] != "0"]
    changed = data.draw(st.sampled_from(counted))
    changed[column] = "0" if changed[column] == "1" else "1"
    assert rerun(part.source, rows) != part.domain["value"]


@given(data=st.data())
def test_the_counts_of_the_outcomes_add_up_to_the_plan(data: st.DataObject) -> None:
    scores = data.draw(night(FIELDS))
    rows = tables(scores)["scores"]
    sources = {outcome: source(f"scores[outcome={outcome}]", "outcome", "count") for outcome in Outcome}
    counts = {outcome: int(rerun(each, rows)) for outcome, each in sources.items()}
    assert sum(counts.values()) == int(rerun(source(column="expectation", function="count"), rows)) == len(rows)
    assert counts[Outcome.CORRECT] == sum(row["correct"] == "1" for row in rows)


def test_one_pass_gives_what_each_alone_gives() -> None:
    scores = [score("a", "cc"), score("b", "ci", cluster="x"), score("c", "m", cluster="x", weight="3")]
    rows = tables(scores)["scores"]
    sources = [source(function=name) for name in FUNCTIONS if name != "mean"]
    assert {each: figure.text() for each, figure in rerun_all(sources, rows).items()} == {
        each: rerun(each, rows) for each in sources
    }


def reference(name: str) -> tuple[float, float]:
    return float(ROWS[name]["low"]), float(ROWS[name]["high"])


@pytest.mark.parametrize(
    ("letters", "weights", "clusters", "low", "high", "name"),
    [
        ("c" * 94 + "i" * 6, "1" * 100, None, "wilson_low", "wilson_high", "W01"),
        ("i" * 10, "1" * 10, None, "wilson_low", "wilson_high", "W05"),
        (
            "ccccc" + "cii" + "cccc" + "ii" + "ccccci",
            "1" * 20,
            "aaaaabbbccccddeeeeee",
            "wilson_low",
            "wilson_high",
            "K05",
        ),
        ("cciccciccc", "3112111421", None, "weighted_wilson_low", "weighted_wilson_high", "D04"),
    ],
)
def test_bounds_agree_with_the_reference_table(
    letters: str, weights: str, clusters: str | None, low: str, high: str, name: str
) -> None:
    tags = list(clusters) if clusters else [None] * len(letters)
    scores = [
        score(f"item-{number}", letter, weight=weight, cluster=tag)
        for number, (letter, weight, tag) in enumerate(zip(letters, weights, tags, strict=True))
    ]
    rows = tables(scores)["scores"]
    found = [float(rerun(source(function=function), rows, places=12)) for function in (low, high)]
    assert found == pytest.approx(reference(name), abs=1e-9)


def test_the_weighted_share_agrees_with_the_reference_table() -> None:
    scores = [
        score(f"item-{number}", letter, weight=weight)
        for number, (letter, weight) in enumerate(zip("cciccciccc", "3112111421", strict=True))
    ]
    found = rerun(source(function="weighted_share"), tables(scores)["scores"], places=12)
    assert float(found) == pytest.approx(float(ROWS["D01"]["estimate"]), abs=1e-9)


def test_a_ratio_is_cut_off_and_bounds_are_rounded_outward() -> None:
    rows = tables([score("a", "c"), score("b", "c"), score("d", "i")])["scores"]
    assert rerun(source(), rows) == "0.666666"
    assert rerun(source(), rows, places=3) == "0.666"
    # Wilson's limits of 2 of 3 are 0.20765… and 0.93850…
    assert rerun(source(function="wilson_low"), rows, places=3) == "0.207"
    assert rerun(source(function="wilson_high"), rows, places=3) == "0.939"


def test_the_mean_of_whole_numbers() -> None:
    rows = tables([score("a", "c"), score("b", "cc")])["items"]
    assert rerun(source("items", "expectations", "mean"), rows) == "1.500000"


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (
            source(table="answers"),
            "unknown table 'answers'; known are scores, passages, items, with a stratum as scores[kind=table]",
        ),
        (
            source(table="scores; drop table run"),
            "unknown table 'scores; drop table run'; known are scores, passages, items, "
            "with a stratum as scores[kind=table]",
        ),
        (
            source(table="scores[kind=t"),
            "unknown table 'scores[kind=t'; known are scores, passages, items, with a stratum as scores[kind=table]",
        ),
        (
            source(table="scores[kind=a]b"),
            "unknown table 'scores[kind=a]b'; known are scores, passages, items, with a stratum as scores[kind=table]",
        ),
        (
            source(table="scores[item=a]"),
            "unknown stratum in 'scores[item=a]'; scores has outcome, standard, kind, each once",
        ),
        (
            source(table="scores[kind=a][kind=b]"),
            "unknown stratum in 'scores[kind=a][kind=b]'; scores has outcome, standard, kind, each once",
        ),
        (
            source(table="passages[outcome=correct]"),
            "unknown stratum in 'passages[outcome=correct]'; passages has standard, kind, each once",
        ),
        (
            source(table="scores[kind=%74able]"),
            "table name 'scores[kind=%74able]' is written 'scores[kind=table]'",
        ),
        (
            source(table="passages", column="correct"),
            "passages has no column 'correct'; it has item, rank, edition_compliant, consistent, "
            "in_catalogue, standard, kind, cluster",
        ),
        (
            source(function="__import__('os').abort"),
            "unknown function \"__import__('os').abort\"; known are share, weighted_share, count, mean, wilson_low, "
            "wilson_high, weighted_wilson_low, weighted_wilson_high",
        ),
        (source(column="outcome"), "share is not defined over scores, column outcome"),
        (source(column="weight", function="mean"), "mean is not defined over scores, column weight"),
        (
            source("passages", "consistent", "weighted_share"),
            "weighted_share is not defined over passages, column consistent",
        ),
        (
            source(table="scores[kind=figure]"),
            "scores[kind=figure], correct, share: no data: no row has a value to compute with",
        ),
        (
            source(table="scores[kind=figure]", function="weighted_share"),
            "scores[kind=figure], correct, weighted_share: no data: no row has a value to compute with",
        ),
        (
            source(table="scores[kind=figure]", function="wilson_low"),
            "scores[kind=figure], correct, wilson_low: no data: no row has a value to compute with",
        ),
    ],
)
def test_error_source(asked: Any, says: str) -> None:
    with pytest.raises(CannotRerun) as caught:
        rerun(asked, tables([score()])["scores"])
    assert str(caught.value) == says
    assert caught.value.exit_code == 7


@pytest.mark.parametrize(
    ("asked", "changes", "says"),
    [
        (source(), {"correct": "yes"}, "scores: row 2: column correct holds 'yes', which is no verdict"),
        (source(), {"correct": "٣"}, "scores: row 2: column correct holds '٣', which is no verdict"),
        (source(), {"correct": "1.0"}, "scores: row 2: column correct holds '1.0', which is no verdict"),
        (source(), {"correct": None}, "scores: row 2 has no column 'correct'"),
        (source("scores[kind=section]"), {"kind": None}, "scores: row 2 has no column 'kind'"),
        (
            source(function="weighted_share"),
            {"weight": "-1"},
            "scores: row 2: column weight holds '-1', which is no decimal",
        ),
        (source(function="wilson_low"), {"cluster": None}, "scores: row 2 has no column 'cluster'"),
        (
            source(column="rank", function="mean"),
            {"rank": "²"},
            "scores: row 2: column rank holds '²', which is no number",
        ),
    ],
)
def test_error_cell(asked: Any, changes: dict[str, str | None], says: str) -> None:
    first, second = tables([score("a"), score("b")])["scores"]
    with pytest.raises(CannotRerun) as caught:
        rerun(asked, [first, second | changes])
    assert str(caught.value) == says


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("3/2", "items: row 1: column recall holds '3/2', which is above 1"),
        ("1/0", "items: row 1: column recall holds '1/0', which is no share"),
        ("0.5", "items: row 1: column recall holds '0.5', which is no share"),
        ("2", "items: row 1: column recall holds '2', which is no share"),
    ],
)
def test_error_share(cell: str, says: str) -> None:
    (row,) = tables([score()])["items"]
    with pytest.raises(CannotRerun) as caught:
        rerun(source("items", "recall", "mean"), [row | {"recall": cell}])
    assert str(caught.value) == says


@pytest.mark.parametrize("function", ["weighted_share", "weighted_wilson_low", "weighted_wilson_high"])
def test_error_weights_add_up_to_nothing(function: str) -> None:
    rows = tables([score("a", weight="0"), score("b", weight="0.0")])["scores"]
    with pytest.raises(CannotRerun) as caught:
        rerun(source(function=function), rows)
    assert str(caught.value) == f"scores, correct, {function}: no data: no row has a value to compute with"


def test_error_one_pass_over_two_tables() -> None:
    with pytest.raises(CannotRerun) as caught:
        rerun_all([source(), source("items", "answered")], [])
    assert str(caught.value) == "one pass reads one table; these sources name items, scores"


@given(column=st.sampled_from(["outcome", "standard", "kind"]), value=st.text())
def test_a_stratum_of_any_value_has_one_name(column: str, value: str) -> None:
    (measure, *_) = measures([score()])
    bound: Bound = "low"
    assert bound_source_of(measure, bound).table == "scores"
    name = f"scores[{column}={value.replace('%', '%25').replace('[', '%5B').replace(']', '%5D')}]"
    subset = parse_subset(name)
    assert (subset.filters, subset.name) == (((column, value),), name)


@given(st.text())
def test_any_other_text_is_refused_and_never_interpreted(text: str) -> None:
    try:
        subset = parse_subset(text)
    except CannotRerun:
        return
    assert subset.name == text
