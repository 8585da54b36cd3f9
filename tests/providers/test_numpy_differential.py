"""Random documents against the second formulation, random formulas against Python, definitions against Octave."""

from __future__ import annotations

import math
import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from providers.hosts import Refused, failures, is_verified
from providers.numerics_bench import NumericsBench, document, grid, node, series
from providers.random_series import formula, random_document

_WHOLE = 400
_TENTH = 40
_OCTAVE = shutil.which("octave-cli")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> NumericsBench:
    return NumericsBench(tmp_path_factory.mktemp("numerics"))


def _agreeing(bench: NumericsBench, seeds: range) -> int:
    """How many of the documents ran; each that did was verified."""
    ran = 0
    pointers = []
    for seed in seeds:
        try:
            made = bench.produce(random_document(seed))
        except Refused as refused:
            pointers.append(refused.pointer)
            continue
        report = bench.verify(made)
        assert is_verified(report), (seed, failures(report))
        ran += 1
    assert all(pointer.startswith("/nodes/") for pointer in pointers)
    return ran


def test_random_documents_agree(bench: NumericsBench) -> None:
    assert _agreeing(bench, range(_TENTH)) > _TENTH // 2


@pytest.mark.campaign
def test_many_random_documents_agree(bench: NumericsBench) -> None:
    assert _agreeing(bench, range(1000, 1000 + _WHOLE)) > _WHOLE // 2


def _as_python(text: str, x: float, y: float) -> float:
    """The formula by Python's own parser and the C library: an oracle for tests only."""
    names: dict[str, Any] = {
        **{
            name: getattr(math, name)
            for name in ("sin", "cos", "sqrt", "atan", "tanh", "hypot", "atan2", "sinh", "asin")
        },
        "exp": math.exp,
        "log": math.log,
        "abs": abs,
        "floor": math.floor,
        "min": min,
        "max": max,
        "pi": math.pi,
        "sign": lambda a: math.copysign(1, a) if a else 0,
        "step": lambda a: 1.0 if a >= 0 else 0.0,
    }
    found = eval(text.replace("^", "**"), {"__builtins__": {}}, {**names, "x": x, "y": y})
    return float(found) if isinstance(found, int | float) else math.nan


@pytest.mark.parametrize("seed", range(4))
def test_random_formulas_mean_what_python_takes_them_to_mean(bench: NumericsBench, seed: int) -> None:
    dice = random.Random(seed)
    compared = 0
    for _ in range(25):
        text = formula(dice, ["y"], 4)
        nodes = *grid(0.3, 2.3, 5, "cos(3*x)"), node("f", "expression", "data", expression=text)
        xs, ours = series(bench.produce(document(*nodes)))
        for x, value in zip(xs, ours, strict=True):
            try:
                expected = _as_python(text, x, math.cos(3 * x))
            except (ValueError, ZeroDivisionError, OverflowError, TypeError):
                continue
            if math.isfinite(expected) and abs(expected) < 1e12:
                assert value == pytest.approx(expected, rel=1e-6, abs=1e-6), text
                compared += 1
    assert compared > 60


# Octave, by its own functions where it has them

_SCRIPT = """
d = dlmread('in.csv', ',', 1, 0); x = d(:,1); y = d(:,2); n = numel(x);
Y = abs(fft(y))(1:floor(n/2)+1) / n; Y(2:floor((n-1)/2)+1) *= 2;
p = polyfit(x, y, 4);
w = 0.5 - 0.5*cos(2*pi*(0:n-1)'/n); w = w / mean(w);
fs = (n-1)/(x(end)-x(1)); m = [y; flipud(y)]; k = (0:2*n-1)'; k = min(k, 2*n-k); f = k*fs/(2*n);
low = real(ifft(fft(m) ./ (1 + (f/6).^4)))(1:n);
i = 2:n-1; h = x(i)-x(i-1); g = x(i+1)-x(i);
inner = (h.^2.*y(i+1) + (g.^2-h.^2).*y(i) - g.^2.*y(i-1)) ./ (h.*g.*(h+g));
q = linspace(x(1), x(n), 77)'; q = min(max(q, x(1)), x(n));
out = {'spectrum', Y; 'polyfit', p(:); 'window', y.*w; 'lowpass', low; 'derivative', inner;
       'integral', cumtrapz(x, y); 'cubic', spline(x, y, q); 'linear', interp1(x, y, q);
       'detrend', y - polyval(polyfit(x, y, 1), x); 'solve', [4 1 0; 1 3 1; 0 1 2] \\ [1; 2; 3];
       'statistics', [mean(y); median(y); var(y); std(y); min(y); max(y)]};
for j = 1:rows(out)
  printf('%s', out{j,1}); printf(' %.17g', out{j,2}); printf("\\n");
end
"""


def _octave(folder: Path) -> dict[str, list[float]]:
    (folder / "script.m").write_text(_SCRIPT)
    command = [
        "octave-cli",
        "--norc",
        "--no-history",
        "--quiet",
        "--no-gui",
        "--no-window-system",
        "script.m",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return {row[0]: [float(cell) for cell in row[1:]] for row in rows}


@pytest.mark.skipif(
    _OCTAVE is None and os.environ.get("SCHEMAXIS_REQUIRE_ENGINES") != "1",
    reason="GNU Octave is not installed; apt-get install octave",
)
@pytest.mark.parametrize("count", [255, 256])
def test_octave_gives_the_same_numbers(bench: NumericsBench, tmp_path: Path, count: int) -> None:
    source = bench.produce(document(*grid(-1, 2.7, count, "sin(8*x)*exp(-0.3*x) + 0.1*x^2 + 0.02*cos(91*x)")))
    shutil.copy(source.path("series/csv"), tmp_path / "in.csv")
    theirs = _octave(tmp_path)

    def made(operation: str, **options: Any) -> Any:
        bound = {"/nodes/0/options/file": str(source.path("series/csv"))}
        read = node("data", "readCSV", file=None, xColumn="x", yColumn="y")
        nodes = [read, node("q", "resample", "data", count=77)]
        inputs = ["data", "q"] if operation == "interpolate" else ["data"]
        return bench.produce(document(*nodes, node("n", operation, *inputs, **options)), bound)

    names = ("mean", "median", "variance", "standardDeviation", "min", "max")
    ours: dict[str, Callable[[], list[float]]] = {
        "spectrum": lambda: series(made("spectrum"))[1],
        "polyfit": lambda: list(made("polyfit", degree=4).quantity("coefficients")),
        "window": lambda: series(made("window"))[1],
        "lowpass": lambda: series(made("lowpass", cutoff=6, order=2))[1],
        "derivative": lambda: series(made("derivative"))[1][1:-1],
        "integral": lambda: series(made("integral"))[1],
        "cubic": lambda: series(made("interpolate", method="cubic"))[1],
        "linear": lambda: series(made("interpolate"))[1],
        "detrend": lambda: series(made("detrend"))[1],
        "solve": lambda: series(
            bench.produce(
                document(
                    node(
                        "u", "solveLinear", matrix=[[4, 1, 0], [1, 3, 1], [0, 1, 2]], rightHandSide=[1, 2, 3]
                    )
                )
            )
        )[1],
        "statistics": lambda: [made("statistics").quantity("statistics")[name] for name in names],
    }
    assert set(theirs) == set(ours)
    for name, give in ours.items():
        scale = max(map(abs, theirs[name]))
        assert give() == pytest.approx(theirs[name], rel=0, abs=1e-9 * scale), name
