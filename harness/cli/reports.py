"""A run's numbers as table, JSON, JUnit XML or Markdown: the same strings in each."""

import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final
from xml.etree import ElementTree as ET

import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.cli.tables import STATUS_WORDS, WIDTH, figure
from harness.scoring.decimals import format_ratio, places_for
from harness.scoring.model import Measure
from harness.site.model import EvalResult
from harness.sla.model import Assessment, Status

_COLUMNS: Final = ("society", "measure", "stratum", "figure, 95 % interval", "n", "floor", "status")


def figures(results: Sequence[EvalResult]) -> pd.DataFrame:
    """One row a measure and stratum, every cell as it is printed (dtype str).

    Columns: society, measure, stratum (empty for the whole), figure (k/n, percent, 95 % interval), n (the valid base),
    floor and status (empty where no floor names the measure).
    """
    rows = [
        (
            result.society,
            measure.name,
            measure.stratum or "",
            figure(measure, _places(floor)),
            str(measure.valid),
            "" if floor is None else floor.floor.floor,
            "" if floor is None else STATUS_WORDS[floor.status],
        )
        for result in results
        for measure in result.measures
        for floor in (_floor(result, measure),)
    ]
    return pd.DataFrame(rows, columns=list(_COLUMNS), dtype=str)


def report_table(run: str, results: Sequence[EvalResult]) -> str:
    table = Table(title=f"Run {run}", title_justify="left")
    for column in _COLUMNS:
        table.add_column(column)
    for row in figures(results).itertuples(index=False):
        table.add_row(*(Text(cell) for cell in row))
    out = io.StringIO()
    Console(file=out, width=WIDTH).print(table)
    return out.getvalue()


def report_markdown(run: str, results: Sequence[EvalResult]) -> str:
    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cell.replace("\\", "\\\\").replace("|", "\\|") for cell in cells) + " |\n"

    head = f"## Run {run}\n\n" + line(_COLUMNS) + line(["---"] * len(_COLUMNS))
    return head + "".join(line(row) for row in figures(results).itertuples(index=False))


def report_json(run: str, results: Sequence[EvalResult]) -> str:
    document = {
        "run": run,
        "societies": [
            {
                "society": result.society,
                "slug": result.slug,
                "night": result.night,
                "revision": result.revision,
                "status": result.status,
                "floors": [
                    {
                        "measure": each.floor.measure,
                        "floor": each.floor.floor,
                        "rule": each.floor.rule,
                        "status": each.status,
                        "target_percent": each.target_percent,
                    }
                    for each in result.assessments
                ],
                "measures": [
                    {
                        "name": measure.name,
                        "stratum": measure.stratum,
                        "good": str(measure.good),
                        "valid": measure.valid,
                        "value": None
                        if measure.value is None
                        else format_ratio(measure.value, _places(_floor(result, measure))),
                        "warnings": list(measure.warnings),
                    }
                    for measure in result.measures
                ],
                "warnings": list(result.warnings),
            }
            for result in results
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def report_junit(run: str, results: Sequence[EvalResult]) -> str:
    """A test case a floor: a breach is a failure, no sufficient data an error; a society without floors passes."""
    cases = [(result, each) for result in results for each in result.assessments]
    suite = ET.Element(
        "testsuite",
        name=f"harness run {run}",
        tests=str(len(cases)),
        failures=str(sum(each.status is Status.BREACHED for _, each in cases)),
        errors=str(sum(each.status in (Status.INSUFFICIENT_DATA, Status.NOT_RUN) for _, each in cases)),
    )
    for result, each in cases:
        case = ET.SubElement(
            suite, "testcase", classname=result.slug, name=f"{each.floor.measure} ≥ {each.floor.floor}"
        )
        if each.status is not Status.MET:
            kind = "failure" if each.status is Status.BREACHED else "error"
            measure = next(m for m in result.measures if m.name == each.floor.measure and m.stratum is None)
            message = f"{STATUS_WORDS[each.status]}: {figure(measure, places_for(each.floor.floor))}"
            ET.SubElement(case, kind, message=message).text = "; ".join(each.reasons) or message
    ET.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, encoding="unicode") + "\n"


REPORT_FORMATS: Final[Mapping[str, Callable[[str, Sequence[EvalResult]], str]]] = {
    "table": report_table,
    "json": report_json,
    "junit": report_junit,
    "markdown": report_markdown,
}


def _floor(result: EvalResult, measure: Measure) -> Assessment | None:
    if measure.stratum is not None:
        return None
    return next((each for each in result.assessments if each.floor.measure == measure.name), None)


def _places(assessment: Assessment | None) -> int:
    return places_for("0" if assessment is None else assessment.floor.floor)
