"""The verifier host: judges tables from the document and the published bytes, with Formualizer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemaxis_server.native.hostkit import Kit
from schemaxis_server.providers.sheet.second_engine import CannotCalculate, Formualizer, engine
from schemaxis_server.providers.spreadsheet.verification import Report
from schemaxis_server.providers.spreadsheet.vocabulary import CSV, XLSX

NOT_COVERED = (
    "Whether the tables and formulas say what was meant.",
    "How formulas are parsed, columns found by name and formulas filled down: producer and verifier share it.",
    "The types of cells in a CSV, which has none: a text of digits reads like a number.",
    "The look of the XLSX: widths, number formats, fonts.",
    "Where an error value comes from, and #DIV/0! against #NUM!, #REF! against #VALUE!, which engines tell apart in "
    "different ways.",
)


def run(request: Mapping[str, Any], kit: Kit) -> dict[str, Any]:
    """Verify every output; see the provider contract for the shapes of both dictionaries."""
    document = request["document"]
    report = Report(request, Formualizer(), " ".join(engine().values()), (CannotCalculate,))
    for index, output in enumerate(document["outputs"]):
        kit.progress(index / len(document["outputs"]), f"verify {output}")
        report.judge(output)
    report.judge_names((CSV.kind, XLSX.kind))
    return {"checks": report.checks, "notCovered": list(NOT_COVERED), "pictures": [], "warnings": []}
