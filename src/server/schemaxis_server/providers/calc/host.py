"""The producer host: evaluates a document's tables with Calc and publishes them as CSV, ODS, XLSX and PDF."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemaxis_server.native.hostkit import Kit
from schemaxis_server.providers.calc.calculator import NAME, Calc
from schemaxis_server.providers.calc.charts import chart_of
from schemaxis_server.providers.calc.kinds import MAX_PDF_CELLS, PUBLISHED, suffixes
from schemaxis_server.providers.calc.resident import OFFICE
from schemaxis_server.providers.calc.truths import refuse_truths
from schemaxis_server.providers.spreadsheet import publishing
from schemaxis_server.providers.spreadsheet.doubts import risky_texts
from schemaxis_server.providers.spreadsheet.evaluation import Evaluation
from schemaxis_server.providers.spreadsheet.table import workbook


def run(request: Mapping[str, Any], kit: Kit) -> dict[str, Any]:
    """Evaluate and publish; see the provider contract for the shapes of both dictionaries."""
    document = request["document"]
    calculator = Calc(OFFICE)
    places = {node["id"]: index for index, node in enumerate(document["nodes"])}
    steps = len(document["nodes"]) + len(document["outputs"])
    evaluation = Evaluation(document, request.get("bindings", {}), calculator)

    def progress(done: int, what: str) -> None:
        calculator.pointer = f"/nodes/{places[what.split(' ', 1)[1]]}"
        kit.progress(done / steps, what)

    evaluation.run(progress)
    results: dict[str, Any] = {}
    published: list[dict[str, str]] = []
    for index, name in enumerate(document["outputs"]):
        kit.progress((len(document["nodes"]) + index) / steps, f"publish {name}")
        table = evaluation.tables[name]
        node = document["nodes"][places[name]]
        if node["filter"] == "chart":
            refuse_truths(table, f"/nodes/{places[name]}")
        results[name] = publishing.quantities(table)
        (kit.publications / f"{name}.csv").write_bytes(publishing.csv(table))
        wanted = suffixes(table)
        targets = {suffix: kit.publications / f"{name}.{suffix}" for suffix in wanted if suffix != "csv"}
        calculator.publish(workbook(table), targets, chart_of(node, len(table.rows)))
        for suffix in wanted:
            kind = PUBLISHED[suffix]
            published.append(publishing.publication(name, suffix, kind.kind, kind.media_type))
        if "pdf" not in wanted:
            evaluation.warn(name, f"No PDF was made, since the workbook has more than {MAX_PDF_CELLS} cells.")
        for doubt in risky_texts(table, name):
            evaluation.warn(name, doubt)
    kit.progress(1.0, "done")
    version = calculator.version()
    calculator.close()
    return {
        "outputs": results,
        "publications": published,
        "engine": {"name": NAME, "version": version},
        "warnings": evaluation.warnings,
    }
