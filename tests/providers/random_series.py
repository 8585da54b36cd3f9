"""Random numerics documents: a grid, formulas over it, and a few operations behind each other."""

from __future__ import annotations

import random
from typing import Any

from providers.numerics_bench import document, node

_ONE = ("sin", "cos", "exp", "sqrt", "abs", "atan", "tanh", "floor", "step", "log", "sign", "sinh", "asin")
_TWO = ("min", "max", "hypot")
_OPERATIONS = (
    *("smooth", "detrend", "window", "lowpass", "resample", "interpolate", "derivative", "integral"),
    *("spectrum", "peaks", "statistics", "polyfit", "expression", "leastSquares"),
)


def formula(dice: random.Random, names: list[str], depth: int = 3) -> str:
    """A formula of numbers, names and functions."""
    kind = dice.random()
    if depth == 0 or kind < 0.2:
        return dice.choice([*names, "x", f"{dice.uniform(0.1, 5):.3g}", "pi"])
    inner = [formula(dice, names, depth - 1) for _ in range(2)]
    if kind < 0.65:
        return f"({inner[0]} {dice.choice('+-*/')} {inner[1]})"
    if kind < 0.7:
        return f"({inner[0]})^{dice.choice((2, 3, -1, 0.5))}"
    if kind < 0.75:
        return f"-{inner[0]}"
    if kind < 0.9:
        return f"{dice.choice(_ONE)}({inner[0]})"
    return f"{dice.choice(_TWO)}({inner[0]}, {inner[1]})"


def random_document(seed: int) -> dict[str, Any]:
    dice = random.Random(seed)
    start = dice.choice((0.0, -1.0, dice.uniform(-5, 5), 1e3))
    count = dice.choice((2, 3, 4, 5, 16, 17, 64, 101, 256, 500))
    nodes = [node("grid", "linspace", start=start, stop=start + dice.choice((1, 2.5, 10)), count=count)]
    nodes.append(node("wave", "expression", "grid", expression=_signal(dice)))
    known = ["grid", "wave"]
    for place in range(dice.randint(1, 4)):
        name = f"n{place}"
        nodes.append(_operation(dice, name, known, count))
        known.append(name)
    outputs = dice.sample(known, dice.randint(1, 2))
    return document(*nodes, outputs=list(dict.fromkeys([known[-1], *outputs])))


def _signal(dice: random.Random) -> str:
    parts = [
        f"{dice.uniform(0.1, 3):.4g}*sin(2*pi*{dice.randint(1, 20)}*x + {dice.uniform(0, 6):.3g})"
        for _ in range(2)
    ]
    return " + ".join([*parts, dice.choice(("0", "1.5", "0.3*x", "x^2", "0.1*floor(7*x)", "exp(-abs(x))"))])


def _operation(dice: random.Random, name: str, known: list[str], count: int) -> dict[str, Any]:
    source = dice.choice(known[1:])
    kind = dice.choice(_OPERATIONS)
    choices: dict[str, dict[str, Any]] = {
        "smooth": {"window": dice.choice((1, 3, 7, 51))},
        "detrend": {"degree": dice.randint(0, 5)},
        "window": {
            "kind": dice.choice(("hann", "hamming", "blackman", "flattop", "rectangular")),
            "normalize": dice.choice(("amplitude", "power", "none")),
        },
        "lowpass": {"cutoff": 10 ** dice.uniform(-1, 2), "order": dice.randint(1, 8)},
        "resample": {"count": dice.randint(2, 2 * count)},
        "interpolate": {"method": dice.choice(("linear", "cubic"))},
        "derivative": {},
        "integral": {"initial": dice.choice((0, -3.5))},
        "spectrum": {"scaling": dice.choice(("amplitude", "power"))},
        "peaks": {
            "minProminence": dice.choice((0.05, 0.1, 1)),
            "minDistance": dice.choice((0, 0.2)),
            "count": dice.choice((1, 5, 100)),
        },
        "statistics": {"from": dice.choice((None, 0.1))},
        "polyfit": {"degree": dice.randint(0, 8)},
        "expression": {"expression": formula(dice, ["y"])},
        "leastSquares": {
            "model": dice.choice(
                ("a + b*x", "a*sin(2*pi*x) + b*x^2 + 1", "a*exp(b*x/10)", "hypot(a, x) + b")
            ),
            "initial": [{"name": "a", "value": 1.25}, {"name": "b", "value": 0.5}],
        },
    }
    inputs = [source]
    if kind == "interpolate":
        inputs.append(dice.choice(known))
    return node(name, kind, *inputs, **choices[kind])
