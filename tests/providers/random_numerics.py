"""Random documents over the whole numerics vocabulary: the chains of random_series and every other source."""

from __future__ import annotations

import math
import random
from typing import Any

from providers.numerics_bench import node
from providers.random_series import random_document

_SYSTEMS: tuple[tuple[dict[str, Any], list[float]], ...] = (
    ({"type": "decay", "rate": 1.5}, [2]),
    ({"type": "decay", "rate": -0.7}, [0.5]),
    ({"type": "logistic", "rate": 2, "capacity": 10}, [0.5]),
    ({"type": "oscillator", "angularFrequency": 5, "dampingRatio": 0.1}, [1, 0]),
    (
        {
            "type": "oscillator",
            "angularFrequency": 3,
            "dampingRatio": 1.5,
            "forceAmplitude": 2,
            "forceFrequency": 4,
        },
        [0, 1],
    ),
    ({"type": "pendulum", "length": 1.2, "damping": 0.2}, [2.5, 0]),
    ({"type": "vanDerPol", "mu": 3}, [0.5, 0]),
    ({"type": "lotkaVolterra", "growth": 1, "predation": 0.3, "conversion": 0.2, "death": 0.8}, [5, 2]),
    ({"type": "epidemic", "transmission": 1.5, "recovery": 0.4}, [0.99, 0.01, 0]),
)


def random_work(seed: int) -> tuple[dict[str, Any], dict[str, list[float]]]:
    """A document of three nodes or more, and the columns of the file that its ``readCSV`` reads, if it has one."""
    dice = random.Random(seed)
    made = random_document(seed)
    columns: dict[str, list[float]] = {}
    kind = dice.random()
    if kind < 0.3:
        columns = _columns(dice)
        made["nodes"].append(node("file", "readCSV", file=None, xColumn="t", yColumn="v"))
        _follow(dice, made, "file", "filed")
    elif kind < 0.5:
        system, initial = dice.choice(_SYSTEMS)
        stop = dice.choice((1, 5, 20.5))
        made["nodes"].append(
            node("motion", "ode", system=system, initial=initial, stop=stop, count=dice.choice((2, 50, 301)))
        )
        _follow(dice, made, "motion", "moved")
    elif kind < 0.7:
        count = dice.randint(1, 12)
        matrix = [
            [dice.uniform(-1, 1) * 10 ** dice.randint(-3, 3) for _ in range(count)] for _ in range(count)
        ]
        right = [dice.uniform(-5, 5) for _ in range(count)]
        made["nodes"].append(node("equations", "solveLinear", matrix=matrix, rightHandSide=right))
        made["outputs"].append("equations")
    return made, columns


def place_of_file(document: dict[str, Any]) -> str:
    """The pointer at which the file is bound."""
    places = [place for place, one in enumerate(document["nodes"]) if one["filter"] == "readCSV"]
    return f"/nodes/{places[0]}/options/file"


def _columns(dice: random.Random) -> dict[str, list[float]]:
    count = dice.choice((2, 3, 40, 333))
    even = dice.random() < 0.5
    x, now = [], dice.uniform(-10, 10)
    for _ in range(count):
        x.append(now)
        now += 0.25 if even else dice.uniform(0.01, 0.5)
    rate = dice.uniform(0.5, 9)
    return {"t": x, "other": [0.0] * count, "v": [math.sin(rate * t) + dice.gauss(0, 0.1) for t in x]}


def _follow(dice: random.Random, made: dict[str, Any], source: str, name: str) -> None:
    follower = dice.choice(
        (
            node(name, "spectrum", source),
            node(name, "derivative", source),
            node(name, "statistics", source),
            node(name, "polyfit", source, degree=dice.randint(0, 4)),
            node(name, "smooth", source, window=5),
            node(name, "resample", source, count=90),
            node(name, "expression", source, expression="1 + y^2 - 0.5*sin(x)"),
        )
    )
    made["nodes"].append(follower)
    made["outputs"] += [source, name]
