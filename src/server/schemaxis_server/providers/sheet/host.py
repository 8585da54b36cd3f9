"""The producer host: evaluates a document's tables with IronCalc and publishes them as CSV and XLSX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemaxis_server.native.hostkit import Kit
from schemaxis_server.providers.sheet.engine import IronCalc, engine
from schemaxis_server.providers.spreadsheet import publishing
from schemaxis_server.providers.spreadsheet.doubts import risky_texts
from schemaxis_server.providers.spreadsheet.evaluation import Evaluation
from schemaxis_server.providers.spreadsheet.table import workbook
from schemaxis_server.providers.spreadsheet.vocabulary import CSV, XLSX


def run(request: Mapping[str, Any], kit: Kit) -> dict[str, Any]:
    """Evaluate and publish; see the provider contract for the shapes of both dictionaries."""
    document = request["document"]
    calculator = IronCalc()
    steps = len(document["nodes"]) + len(document["outputs"])
    evaluation = Evaluation(document, request.get("bindings", {}), calculator)
    evaluation.run(lambda done, what: kit.progress(done / steps, what))
    results: dict[str, Any] = {}
    published: list[dict[str, str]] = []
    for index, name in enumerate(document["outputs"]):
        kit.progress((len(document["nodes"]) + index) / steps, f"publish {name}")
        table = evaluation.tables[name]
        results[name] = publishing.quantities(table)
        (kit.publications / f"{name}.csv").write_bytes(publishing.csv(table))
        (kit.publications / f"{name}.xlsx").write_bytes(calculator.xlsx(workbook(table)))
        published += [
            publishing.publication(name, "csv", CSV.kind, CSV.media_type),
            publishing.publication(name, "xlsx", XLSX.kind, XLSX.media_type),
        ]
        for doubt in risky_texts(table, name):
            evaluation.warn(name, doubt)
    kit.progress(1.0, "done")
    return {
        "outputs": results,
        "publications": published,
        "engine": engine(),
        "warnings": evaluation.warnings,
    }
