"""Settlements as a table, for the API's CSV twin and for `harness flags export`: one row each, as they stand."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

Data = Mapping[str, Any]

_COLUMNS: Final[Mapping[str, Callable[[Data], Any]]] = {
    "subject": lambda data: data["subject"],
    "society_id": lambda data: data["society"]["id"],
    "slug": lambda data: data["society"]["slug"],
    "window_kind": lambda data: data["window"]["kind"],
    "window_label": lambda data: data["window"]["label"],
    "window_start": lambda data: data["window"]["start"],
    "window_end": lambda data: data["window"]["end"],
    "measure": lambda data: data["objective"]["measure"],
    "floor": lambda data: data["objective"]["floor"],
    "rule": lambda data: data["objective"]["rule"],
    "state": lambda data: data["state"],
    "status": lambda data: data["status"],
    "good": lambda data: data["measured"]["good"],
    "valid": lambda data: data["measured"]["valid"],
    "ratio": lambda data: data["measured"].get("ratio"),
    "target_percent": lambda data: data["target_percent"],
    "billable_percent": lambda data: data["billable_percent"],
    "assessed_percent": lambda data: data.get("assessed_percent", data["target_percent"]),
    "reason": lambda data: data["reason"],
    "revision": lambda data: data["revision"],
    "dispute_closes": lambda data: data["dispute"]["closes"],
    "finalized_at": lambda data: data["finalized_at"],
    "terms_version": lambda data: data["terms_version"],
    "terms_sha256": lambda data: data["terms_sha256"],
    "scores_url": lambda data: data["evidence"]["scores_url"],
    "scores_sha256": lambda data: data["evidence"]["scores_sha256"],
    "run_id": lambda data: data["evidence"]["run_id"],
}

COLUMNS: Final = tuple(_COLUMNS)


class _Line:
    """What a CSV writer writes, line by line."""

    text = ""

    def write(self, text: str) -> None:
        self.text = text


def settlement_row(data: Data) -> list[str]:
    """The cells of a settlement's data by column; what there is none of is empty."""
    return ["" if (cell := read(data)) is None else str(cell) for read in _COLUMNS.values()]


def csv_lines(rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """The lines of the file, the head first: RFC 4180, CRLF. The machine's twin: cells are exact, no formula guard."""
    line = _Line()
    writer = csv.writer(line, lineterminator="\r\n")
    for row in ([COLUMNS], rows):
        for cells in row:
            writer.writerow(cells)
            yield line.text
