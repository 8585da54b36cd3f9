"""The verifier host: judges tables from the document and the published bytes, with Formualizer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemaxis_server.native.hostkit import Kit
from schemaxis_server.providers.sheet.second_engine import CannotCalculate, Formualizer, engine
from schemaxis_server.providers.spreadsheet.picture import draw
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

_PICTURE = "The picture of a chart beyond its data, which are those of the verified CSV."


def run(request: Mapping[str, Any], kit: Kit) -> dict[str, Any]:
    """Verify every output; see the provider contract for the shapes of both dictionaries."""
    document = request["document"]
    report = Report(request, Formualizer(), " ".join(engine().values()), (CannotCalculate,))
    pictures: list[dict[str, str]] = []
    warnings: list[str] = []
    charts = {node["id"]: node for node in document["nodes"] if node["filter"] == "chart"}
    for index, output in enumerate(document["outputs"]):
        kit.progress(index / len(document["outputs"]), f"verify {output}")
        cells = report.judge(output)
        if cells is not None and output in charts and request.get("pictures", False):
            pictures += draw(charts[output], cells, kit, warnings)
    report.judge_names((CSV.kind, XLSX.kind))
    not_covered = [*NOT_COVERED, *([_PICTURE] if charts else [])]
    return {"checks": report.checks, "notCovered": not_covered, "pictures": pictures, "warnings": warnings}
