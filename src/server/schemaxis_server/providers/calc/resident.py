"""Imported by a warm host before a job arrives: starts the office that serves its jobs, and lets it work once.

The office's own process is a child of this one. Talking to it starts threads, which a process that forks must
not have; so a child of its own does the first talking.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from pathlib import Path

from schemaxis_server.providers.calc import office as offices
from schemaxis_server.providers.calc.calculator import Calc
from schemaxis_server.providers.calc.charts import Chart
from schemaxis_server.providers.calc.installation import PROGRAM_VARIABLE
from schemaxis_server.providers.spreadsheet.table import Formula, Sheet

_SHEET = Sheet(
    "Result",
    [
        ["x", "y", "z"],
        [1.0, Formula("=SUM(A2:A3)*2"), Formula("=1/0")],
        [2.0, Formula("=A3>1"), Formula('="a"&A3')],
    ],
)


def _rehearse(office: offices.Office) -> None:
    calculator = Calc(office)
    calculator.calculate([_SHEET])
    with tempfile.TemporaryDirectory(prefix="rehearsal-") as folder:
        targets = {suffix: Path(folder) / f"rehearsal.{suffix}" for suffix in ("ods", "xlsx", "pdf")}
        calculator.publish([_SHEET], targets, Chart("line", "title", "x", "y", 2, 2))
    calculator.close()


def _started() -> offices.Office:
    office = offices.start(os.environ[PROGRAM_VARIABLE], Path(tempfile.gettempdir()))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            _rehearse(office)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if status:
        offices.end(office.pid)
        raise offices.OfficeFailed("the office started, but did not calculate and publish a first sheet")
    return office


OFFICE = _started()
