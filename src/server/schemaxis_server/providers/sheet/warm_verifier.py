"""Imported by a warm verifier before a job arrives: lets the second engine calculate once."""

from __future__ import annotations

from schemaxis_server.providers.sheet.second_engine import Formualizer
from schemaxis_server.providers.spreadsheet.table import Formula, Sheet

Formualizer().calculate([Sheet("Result", [["x", "y"], [1.0, Formula("=SUM(A2)*2")], ["text", None]])])
