"""The rules of the spreadsheet vocabulary, and what Calc would read in another way than it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from schemaxis_server.providers.calc.logical import check
from schemaxis_server.providers.contract import JsonObject, Manifest, ResolvedDocument
from schemaxis_server.providers.problems import Problems
from schemaxis_server.providers.spreadsheet import rules
from schemaxis_server.providers.spreadsheet.columns import add_formula_problem
from schemaxis_server.providers.spreadsheet.formulas.parser import parse
from schemaxis_server.providers.spreadsheet.formulas.tokens import FormulaError


def resolve(document: Any, manifest: Manifest) -> ResolvedDocument:
    """Check and resolve; raises ``Fault("INVALID_DOCUMENT")`` with all problems."""
    resolved = rules.resolve(document, manifest)
    problems = Problems()
    for pointer, formula in _formulas(resolved.document):
        try:
            check(parse(formula))
        except FormulaError as reason:
            add_formula_problem(pointer, reason, problems)
    if problems.total:
        raise problems.fault()
    return resolved


def _formulas(document: JsonObject) -> Iterator[tuple[str, str]]:
    for index, node in enumerate(document["nodes"]):
        options, pointer = node["options"], f"/nodes/{index}/options"
        if node["filter"] == "formulaColumn":
            yield f"{pointer}/formula", options["formula"]
        elif node["filter"] == "cells":
            for row, contents in enumerate(options["rows"]):
                for column, content in enumerate(contents):
                    if isinstance(content, str) and content.startswith("="):
                        yield f"{pointer}/rows/{row}/{column}", content
