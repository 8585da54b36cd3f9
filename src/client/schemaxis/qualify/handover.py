"""A signal that goes from one engine to another and back, and whose spectrum is known beforehand."""

from __future__ import annotations

from typing import Any

from schemaxis.qualify.engines import Engines
from schemaxis.qualify.work import Work, near, require

SAMPLES = 256
# Frequencies in Hz, amplitudes of the sines, and what the table makes of them: gain·y + offset.
TONES = ((20, 2.0), (60, 0.5))
GAIN, OFFSET = 3.0, 1.0
_EXACT = 1e-6


def hand_over(work: Work, engines: Engines) -> dict[str, Any]:
    """Generate, tabulate and transform, and take the spectrum, each job bound to the one before."""
    numerics, sheets = engines.needed("numerics"), engines.needed("spreadsheet")
    strongest, amplitude = TONES[0]
    task = work.task(
        "The strongest tone of a signal that a table has scaled",
        [numerics["provider"], sheets["provider"]],
        criteria=[
            _equals("/outputs/spectrum/peakX", strongest),
            _equals("/outputs/spectrum/peakY", GAIN * amplitude),
        ],
    )
    signal = work.perform("signal", task, _signal(numerics["documentVersion"])).succeeded()
    require(signal.quantity("signal", "count") == SAMPLES, "the signal has another number of samples")
    series = signal.published("series/csv")

    file = "/nodes/0/options/file"
    given = {file: series["resourceId"]}
    scaled = work.perform("table of the signal", task, _table(sheets["documentVersion"]), given).succeeded()
    require(scaled.quantity("scaled", "rows") == SAMPLES, "the table has another number of rows")
    require(scaled.quantity("scaled", "errors") == 0, "the table has cells with errors")
    table = scaled.published("table/csv")

    given = {file: table["resourceId"]}
    spectrum = work.perform("spectrum", task, _spectrum(numerics["documentVersion"]), given).succeeded()
    require(spectrum.status["goal"] == "met", f"the goal is {spectrum.status['goal']}")
    for job in (signal, scaled, spectrum):
        work.save_pictures(job)
    seen = _lines(work.inspected(spectrum.published("series/csv")["resourceId"]))
    near(seen[0.0], OFFSET, _EXACT, "the mean of the signal")
    for frequency, height in TONES:
        near(seen[float(frequency)], GAIN * height, _EXACT, f"the amplitude at {frequency} Hz")
    known = {0.0, *(float(frequency) for frequency, _ in TONES)}
    rest = max(value for frequency, value in seen.items() if frequency not in known)
    require(rest < _EXACT, f"the spectrum has {rest} where the signal has nothing")
    peak = max(seen.items(), key=lambda line: line[1])
    return {"frequencies": len(seen), "peakHz": peak[0], "peakAmplitude": peak[1], "greatestRest": rest}


def _equals(pointer: str, wanted: float) -> dict[str, Any]:
    return {"pointer": pointer, "operator": "equals", "value": wanted, "tolerance": wanted * _EXACT}


def _signal(version: str) -> Any:
    formula = " + ".join(f"{amplitude}*sin(2*pi*{frequency}*x)" for frequency, amplitude in TONES)
    times = {"start": 0, "stop": (SAMPLES - 1) / SAMPLES, "count": SAMPLES}
    options = {"expression": formula, "name": "signal"}
    return {
        "version": version,
        "nodes": [
            {"id": "time", "filter": "linspace", "options": times},
            {"id": "signal", "filter": "expression", "options": options, "inputs": ["time"]},
        ],
        "output": "signal",
    }


def _table(version: str) -> Any:
    options = {"column": "scaled", "formula": f"={GAIN:g}*[@signal]+{OFFSET:g}"}
    return {
        "version": version,
        "nodes": [
            {"id": "given", "filter": "readCSV", "options": {"file": None}},
            {"id": "scaled", "filter": "formulaColumn", "options": options, "inputs": ["given"]},
        ],
        "output": "scaled",
    }


def _spectrum(version: str) -> Any:
    columns = {"file": None, "xColumn": "x", "yColumn": "scaled"}
    return {
        "version": version,
        "nodes": [
            {"id": "given", "filter": "readCSV", "options": columns},
            {
                "id": "spectrum",
                "filter": "spectrum",
                "options": {"scaling": "amplitude"},
                "inputs": ["given"],
            },
        ],
        "output": "spectrum",
    }


def _lines(table: Any) -> dict[float, float]:
    """Amplitude by frequency, from an inspected CSV, whose cells are texts."""
    columns = [table["columns"].index(name) for name in ("frequency", "amplitude")]
    return {float(row[columns[0]]): float(row[columns[1]]) for row in table["rows"]}
