"""Documents that are wrong: by chance, and by intent."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

from schemaxis_server.providers.contract import JsonObject

_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    1e-7,
    1e9,
    1e308,
    5e-324,
    10**40,
    "",
    "x",
    "all",
    "π",
    [],
    {},
    [0, 0],
    [1, 2, 3],
    [[0, 0], [1, 0], [0, 1]],
    {"type": "circle"},
    {"a": 1},
)


def mutated(document: JsonObject, dice: random.Random) -> dict[str, Any]:
    """The document with one place changed, removed or added."""
    changed: dict[str, Any] = copy.deepcopy(dict(document))
    places = list(_places(changed))
    container, key = dice.choice(places)
    kind = dice.random()
    if kind < 0.6:
        container[key] = copy.deepcopy(dice.choice(_VALUES))
    elif kind < 0.8:
        del container[key]
    elif isinstance(container, dict):
        container[f"{key}_"] = dice.choice(_VALUES)
    else:
        container.insert(key, copy.deepcopy(dice.choice(_VALUES)))
    return changed


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, member in members:
        yield value, key
        yield from _places(member)


def _deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


HOSTILE: tuple[Any, ...] = (
    None,
    True,
    7,
    "text",
    [],
    {},
    {"version": 1},
    {"version": "VERSION"},
    {"version": "VERSION", "nodes": None, "output": None},
    {"version": "VERSION", "nodes": {}, "outputs": {}},
    {"version": "VERSION", "nodes": [], "output": "a"},
    {"version": "VERSION", "nodes": [None, 1, "x", [], True, {}], "output": "a"},
    {
        "version": "VERSION",
        "nodes": [{"id": None, "filter": None, "options": None, "inputs": None}],
        "outputs": [],
    },
    {
        "version": "VERSION",
        "nodes": [{"id": ["a"], "filter": ["box"], "options": [], "inputs": "a"}],
        "output": ["a"],
    },
    {
        "version": "VERSION",
        "nodes": [{"id": "a", "filter": "\ud800", "options": {"\ud800": 1}}],
        "output": "\ud800",
    },
    {"version": "VERSION", "nodes": [{"id": "a", "filter": "x" * 100_000}], "output": "y" * 100_000},
    {"version": "VERSION", "nodes": [{"id": "../../etc/passwd", "filter": "a/b~c"}], "output": "../x"},
    {"version": "VERSION", "nodes": [{"id": "a", "filter": "x", "inputs": [_deep(60)] * 300}], "output": "a"},
    {"version": "VERSION", "nodes": [{"id": "a", "filter": "x"}] * 1001, "output": "a"},
    {
        "version": "VERSION",
        "nodes": [{"id": "a", "filter": "x", "inputs": [1, None, "b"]}] * 1000,
        "output": "a",
    },
    {"version": "VERSION", "nodes": [{"k" * 5000: 1}], "output": "a", "z" * 90_000: 1},
    {"version": "VERSION", "nodes": [{"id": "a\x00", "filter": "x\x00y"}], "output": "a\x00"},
    {"version": "v" * 100_000, "nodes": 10**4000, "output": float("nan")},
    {
        "version": "VERSION",
        "nodes": [{"id": "a", "filter": "x", "options": _deep(900)}],
        "outputs": ["a"] * 40,
    },
    {1: 2, None: 3},
)
