"""What a real LibreOffice does when it is treated badly: a program for its own Python, run by the tests.

``python calc_traps.py <program> <folder> <trap>`` prints one JSON value.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from schemaxis_server.providers.calc import office as offices
from schemaxis_server.providers.calc.office import Office
from schemaxis_server.providers.spreadsheet.table import Formula, Sheet

_SHEET = Sheet("Result", [["x", "y"], [1.0, Formula("=A2*2")]])


def _calculated(office: Office) -> Any:
    # Here, since talking to an office starts threads, after which no other can be started.
    from schemaxis_server.providers.calc.calculator import Calc

    calculator = Calc(office)
    values = calculator.calculate([_SHEET])[0][1]
    calculator.close()
    return values


def _forked(work: Callable[[], Any]) -> Any:
    """The answer of a child, whose threads do not matter here."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = work()
        except BaseException as reason:
            answer = {"raised": type(reason).__name__, "said": str(reason)[:200]}
        os.write(write, json.dumps(answer).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer_file:
        answer = json.loads(answer_file.read())
    os.waitpid(child, 0)
    return answer


def serves(program: str, folder: Path, *, private: bool, build: str | None = None) -> Any:
    office = offices.start(program, folder, private=private, build=build)
    threads = len(os.listdir("/proc/self/task"))
    devices = Path(f"/proc/{office.pid}/net/dev").read_text().splitlines()[2:]
    limits = Path(f"/proc/{office.pid}/limits").read_text()
    return {
        "values": _forked(lambda: _calculated(office)),
        "threads": threads,
        "private": office.private,
        "networks": [line.split(":")[0].strip() for line in devices],
        "limited": "Max core file size        0" in limits,
        "pid": office.pid,
        "below": sorted(one.name for one in folder.iterdir()),
    }


def stays(program: str, folder: Path, *, private: bool) -> None:
    """Prints the office's pid, and waits to be killed."""
    office = offices.start(program, folder, private=private)
    _say(office.pid)
    while True:
        signal.pause()


def both(program: str, folder: Path) -> Any:
    """Two offices at once, each with a profile of its own."""
    first, second = (offices.start(program, folder) for _ in range(2))
    return [_forked(lambda: _calculated(first)), _forked(lambda: _calculated(second))]


def inputs(program: str, folder: Path) -> Any:
    """A file that is not there, one that is none, a format that there is none of."""
    office = offices.start(program, folder)
    from schemaxis_server.providers.calc import export
    from schemaxis_server.providers.calc.calculator import Calc
    from schemaxis_server.providers.calc.exchange import Exchange

    calculator = Calc(office)
    exchange = Exchange(office)

    def attempt(work: Callable[[], Any]) -> str:
        try:
            work()
        except Exception as reason:
            return type(reason).__name__
        return "nothing"

    with exchange.file("junk.fods") as file:
        file.write(["this is no workbook"])
        junk = attempt(lambda: calculator._loaded(file.url))
    missing = attempt(lambda: calculator._loaded("file:///tmp/missing.fods"))
    export._FILTERS["none"] = "No Such Filter"
    document = calculator.document([_SHEET])
    unknown = attempt(lambda: export.export(document, "none", exchange, folder / "out.none"))
    return {"junk": junk, "missing": missing, "unknown": unknown}


def formulas(program: str, folder: Path) -> Any:
    """What no planner lets through, put into Calc all the same."""
    office = offices.start(program, folder)
    from schemaxis_server.providers.calc.calculator import Calc

    calculator = Calc(office)
    secret = folder / "secret.csv"
    secret.write_text("7")
    found = {}
    for name, text in {
        "parenthesis": "=SUM(A2",
        "reference": f"='{secret.as_uri()}'#$secret.A1",
        "unknown": "=NOSUCH(A2)",
        "service": f'=WEBSERVICE("{secret.as_uri()}")',
    }.items():
        document = calculator.document([Sheet("Result", [["x", "y"], [1.0, Formula(text)]])])
        cell = document.Sheets.getByIndex(0).getCellByPosition(1, 1)
        found[name] = {"error": cell.getError(), "value": cell.getValue(), "formula": cell.getFormula()}
    return found


def _say(answer: Any) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main() -> None:
    program, folder, trap = sys.argv[1:]
    named: dict[str, Callable[[], Any]] = {
        "serves": lambda: serves(program, Path(folder), private=True),
        "serves-openly": lambda: serves(program, Path(folder), private=False),
        "serves-fresh": lambda: serves(program, Path(folder), private=True, build="other"),
        "serves-fresh-openly": lambda: serves(program, Path(folder), private=False, build="other"),
        "stays": lambda: stays(program, Path(folder), private=True),
        "stays-openly": lambda: stays(program, Path(folder), private=False),
        "both": lambda: both(program, Path(folder)),
        "inputs": lambda: inputs(program, Path(folder)),
        "formulas": lambda: formulas(program, Path(folder)),
    }
    began = time.monotonic()
    _say(named[trap]())
    sys.stderr.write(f"{trap} took {time.monotonic() - began:.1f} s\n")
    # UNO's threads would be waited for.
    os._exit(0)


if __name__ == "__main__":
    main()
