"""Imported by a warm verifier before a job arrives: lets the second engine calculate and draws a chart once."""

from __future__ import annotations

from schemaxis_server.providers.plots import line
from schemaxis_server.providers.sheet.second_engine import Formualizer
from schemaxis_server.providers.spreadsheet.table import Formula, Sheet

Formualizer().calculate([Sheet("Result", [["x", "y"], [1.0, Formula("=SUM(A2)*2")], ["text", None]])])
_PLOT = line.Plot("rehearsal", "x", "y", (line.Curve("y", [0.0, 1.0, 2.0], [0.0, 1.0, 0.5]),))
line.png(_PLOT)
line.svg(_PLOT)
