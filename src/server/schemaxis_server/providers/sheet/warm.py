"""Imported by a warm host before a job arrives: lets the engine calculate and write once."""

from __future__ import annotations

from schemaxis_server.providers.sheet.engine import IronCalc
from schemaxis_server.providers.spreadsheet.table import Formula, Sheet

_SHEET = Sheet("Result", [["x", "y"], [1.0, Formula("=SUM(A2)*2")], ["text", None]])

IronCalc().calculate([_SHEET])
IronCalc().xlsx([_SHEET])
