"""A page's numbers as schema.org `Dataset`, for search engines and agents (publishing.md)."""

from collections.abc import Sequence
from typing import Any

from harness.site.eval_json import EvalDocument
from harness.site.tables import SavedTable
from harness.site.text import visible


def dataset_of(document: EvalDocument, tables: Sequence[SavedTable], address: str) -> dict[str, Any]:
    """The JSON-LD of a revision; `address` is the revision's, with `/` at its end, empty where none is configured."""
    society = document.society
    return {
        "@context": "https://schema.org",
        "@type": "Dataset",
        "name": f"{society.id} citation evaluation, {document.night}, revision {document.revision}",
        "description": (
            f"How often a gateway's citations of {society.name} standards equal a held-out gold set: counts, shares "
            "with 95 % intervals and the tables that they are computed from, one row an expectation. Questions, gold "
            "citations and passages are not part of it."
        ),
        **({"url": address, "identifier": address} if address else {}),
        "version": str(document.revision),
        "temporalCoverage": document.night,
        "dateModified": document.scored_at or document.run.finished_at,
        "isAccessibleForFree": True,
        "measurementTechnique": "exact comparison of the citation string and of every contracted field with a gold set",
        "creator": {"@type": "Organization", "name": "Citehouse"},
        "about": {"@type": "Organization", "name": society.name, "alternateName": society.id},
        "variableMeasured": [
            {
                "@type": "PropertyValue",
                "name": entry.name,
                "value": entry.value,
                **({} if entry.interval is None else {"minValue": entry.interval.low, "maxValue": entry.interval.high}),
                "description": f"{entry.good} of {entry.valid}",
            }
            for entry in document.measures
            if entry.stratum is None and entry.value is not None
        ],
        "distribution": [
            _download(address, "eval.json", "application/json", "every number with its claim part", None),
            *(_download(address, table.name, "text/csv", table.says, table.sha256) for table in tables),
        ],
        **({"usageInfo": "; ".join(map(visible, document.warnings))} if document.warnings else {}),
    }


def _download(address: str, name: str, kind: str, says: str, sha256: str | None) -> dict[str, Any]:
    return {
        "@type": "DataDownload",
        "name": name,
        "description": says,
        "encodingFormat": kind,
        "contentUrl": f"{address}{name}",
        **({} if sha256 is None else {"sha256": sha256}),
    }
