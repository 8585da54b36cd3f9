"""The rules of the numerics vocabulary that a JSON Schema cannot say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemaxis_server.providers.contract import Manifest, ResolvedDocument
from schemaxis_server.providers.document import Rule
from schemaxis_server.providers.document import resolve as resolve_graph
from schemaxis_server.providers.numerics import expression as formulas
from schemaxis_server.providers.numerics.expression import ExpressionError
from schemaxis_server.providers.numerics.systems import SYSTEMS
from schemaxis_server.providers.problems import Problems, child, clip
from schemaxis_server.providers.tables import dialect

_TAKEN = frozenset({"x", "y", *formulas.CONSTANTS, *formulas.FUNCTIONS})


def resolve(document: Any, manifest: Manifest) -> ResolvedDocument:
    """Check and resolve a numerics document; see :func:`schemaxis_server.providers.document.resolve`."""
    inputs = _inputs(document)
    rules: Mapping[str, Rule] = {
        "readCSV": _read_csv,
        "linspace": lambda options, pointer, problems: _above(
            "start", "stop", options, pointer, problems, apart=True
        ),
        "expression": lambda options, pointer, problems: _expression(
            options, pointer, problems, inputs.get(pointer, [])
        ),
        "smooth": _smooth,
        "interpolate": lambda options, pointer, problems: _interpolate(
            options, pointer, problems, inputs.get(pointer, [])
        ),
        "statistics": lambda options, pointer, problems: _above("from", "to", options, pointer, problems),
        "leastSquares": _least_squares,
        "solveLinear": _solve,
        "ode": _ode,
    }
    return resolve_graph(document, manifest, rules)


def variables(inputs: list[str]) -> dict[str, int]:
    """The names that a formula over ``inputs`` may use for their y, with the place of the input of each."""
    places = {"y": 0} | {f"y{place + 1}": place for place in range(len(inputs))}
    for place, name in enumerate(inputs):
        if formulas.NAME.fullmatch(name) and name not in _TAKEN:
            places.setdefault(name, place)
    return places


def _inputs(document: Any) -> dict[str, list[str]]:
    """The inputs of each node by the pointer of its options, as far as they are names."""
    nodes = document.get("nodes") if isinstance(document, Mapping) else None
    found: dict[str, list[str]] = {}
    for index, node in enumerate(nodes if isinstance(nodes, list) else []):
        given = node.get("inputs") if isinstance(node, Mapping) else None
        if isinstance(given, list):
            found[f"/nodes/{index}/options"] = [name for name in given if isinstance(name, str)][:64]
    return found


def _read_csv(options: dict[str, Any], pointer: str, problems: Problems) -> None:
    dialect.check(options, pointer, problems)
    if options["xColumn"] == options["yColumn"]:
        message = f"Both columns are {clip(options['yColumn'])}."
        problems.add(child(pointer, "yColumn"), message, "another column than xColumn")


def _above(
    low: str,
    high: str,
    options: dict[str, Any],
    pointer: str,
    problems: Problems,
    *,
    apart: bool = False,
) -> None:
    first, last = options[low], options[high]
    if apart and first == last:
        problems.add(child(pointer, high), f"{high} equals {low}.", f"another number than {low}")
    elif not apart and first is not None and last is not None and first > last:
        problems.add(child(pointer, high), f"{high} is below {low}.", f"a number ≥ {first:g}")


def _expression(options: dict[str, Any], pointer: str, problems: Problems, inputs: list[str]) -> None:
    _formula(options["expression"], ["x", *variables(inputs)], child(pointer, "expression"), problems)


def _formula(text: str, names: list[str], pointer: str, problems: Problems) -> formulas.Tree | None:
    try:
        return formulas.parse(text, names)
    except ExpressionError as reason:
        near = [reason.nearest] if reason.nearest else []
        expected = "a formula of numbers, names, + - * / ^ and functions"
        problems.add(pointer, reason.message, expected, given=reason.nearest, names=near)
        return None


def _smooth(options: dict[str, Any], pointer: str, problems: Problems) -> None:
    if options["window"] % 2 == 0:
        message = f"window is {options['window']}, an even number."
        problems.add(child(pointer, "window"), message, "an odd number, so that it has a middle")


def _interpolate(options: dict[str, Any], pointer: str, problems: Problems, inputs: list[str]) -> None:
    if (options["points"] is None) == (len(inputs) < 2):
        message = (
            "Neither points nor a second input says where."
            if len(inputs) < 2
            else "points and a second input both say where."
        )
        problems.add(child(pointer, "points"), message, "points, or null and a second input")


def _least_squares(options: dict[str, Any], pointer: str, problems: Problems) -> None:
    place = child(pointer, "initial")
    known: list[str] = []
    for index, parameter in enumerate(options["initial"]):
        name = parameter["name"]
        if name in _TAKEN - {"y"} or name in known:
            message = (
                f"{clip(name)} {'is named twice' if name in known else 'has a meaning in formulas already'}."
            )
            problems.add(f"{place}/{index}/name", message, "another name")
        known.append(name)
    tree = _formula(options["model"], ["x", *known], child(pointer, "model"), problems)
    if tree is None:
        return
    unused = set(known) - formulas.names(tree)
    for index, name in enumerate(known):
        if name in unused:
            problems.add(
                f"{place}/{index}/name", f"The model does not use {clip(name)}.", "a parameter of the model"
            )


def _solve(options: dict[str, Any], pointer: str, problems: Problems) -> None:
    matrix = options["matrix"]
    for index, row in enumerate(matrix):
        if len(row) != len(matrix):
            message = f"Row {index} has {len(row)} numbers, and there are {len(matrix)} rows."
            problems.add(f"{child(pointer, 'matrix')}/{index}", message, f"{len(matrix)} numbers")
    if len(options["rightHandSide"]) != len(matrix):
        message = (
            f"rightHandSide has {len(options['rightHandSide'])} numbers, and matrix has {len(matrix)} rows."
        )
        problems.add(child(pointer, "rightHandSide"), message, f"{len(matrix)} numbers")


def _ode(options: dict[str, Any], pointer: str, problems: Problems) -> None:
    system = SYSTEMS[options["system"]["type"]]
    states = ", ".join(system.states)
    if len(options["initial"]) != len(system.states):
        message = f"initial has {len(options['initial'])} numbers, and {system.name} has the states {states}."
        problems.add(child(pointer, "initial"), message, f"{len(system.states)} numbers")
    component = options["component"]
    if component is not None and component not in system.states:
        problems.add(
            child(pointer, "component"),
            f"{system.name} has no state {clip(component)}.",
            f"one of {states}",
            given=component,
            names=system.states,
        )
    if options["stop"] <= options["start"]:
        problems.add(child(pointer, "stop"), "stop is not above start.", f"a number > {options['start']:g}")
