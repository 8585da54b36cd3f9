"""What the descriptions of the spreadsheet operations share."""

from __future__ import annotations

from typing import Any

from schemaxis_server.providers.contract import JsonObject
from schemaxis_server.providers.spreadsheet.formulas.functions import FUNCTIONS

SCOPE = "domain/spreadsheet"

VERIFIED = (
    "The document evaluated again in a second formulation, formulas by another engine, to 1e-12; the CSV "
    "read by another "
    "parser and compared cell by cell; the XLSX recalculated by the other engine."
)

VALUES = (
    "A cell holds a number, a text, TRUE or FALSE, nothing, or an error value such as #DIV/0!. Errors are "
    "carried along "
    "and counted, never dropped in silence; dates are text."
)

FORMULAS = (
    "Formulas begin with =. They see their own table only, as a sheet with the column names in row 1 and the "
    "data from "
    "row 2 on: [@name] is this row's cell of a column, [name] the whole column, A2 or A2:B9 cells ($ fixes a row or "
    "column when the formula is filled down). Operators: + - * / ^ % & = <> < <= > >=; texts in double "
    "quotes; commas "
    "between arguments. Write (-a)^b or -(a^b), and (a^b)^c or a^(b^c), which are read differently "
    "elsewhere; = compares "
    "texts without regard to case. Round before comparing computed fractions. Functions: "
    + ", ".join(FUNCTIONS)
    + "."
)


def node(name: str, operation: str, options: dict[str, Any] | None = None, *inputs: str) -> dict[str, Any]:
    node: dict[str, Any] = {"id": name, "filter": operation}
    if options is not None:
        node["options"] = options
    if inputs:
        node["inputs"] = list(inputs)
    return node


def document(version: str, *nodes: dict[str, Any]) -> JsonObject:
    return {"version": version, "nodes": list(nodes), "output": nodes[-1]["id"]}
