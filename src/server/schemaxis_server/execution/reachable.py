"""Which criteria can ever be judged: what a result may hold, as far as manifests say.

A criterion that no result can answer leaves the goal unknown for good, so it is told when the task
is made. Only what is certain is refused: a quantity without a unit may be a structure of any depth,
a provider that lists no quantity may measure anything, and a document whose outputs are others may
be a step on the way to the one that counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from schemaxis_server.execution.pointers import join, tokens
from schemaxis_server.execution.records import Criterion, CriterionOperator
from schemaxis_server.execution.units import factor_between
from schemaxis_server.faults import Fault
from schemaxis_server.providers.contract import Manifest
from schemaxis_server.providers.problems import nearest

FORM = "/outputs/<id>/<quantity>"
"""The pointer of a quantity; what it measures stands at ``value`` below, its unit at ``unit``."""

_ROOT = ("outputs", "engines", "warnings")
_MEASURED = ("value", "unit")
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Unreachable:
    """Why no result answers a criterion: the field at fault, a sentence, and the pointer or unit meant."""

    field: str
    message: str
    nearest: str = ""


def check_reachable(criteria: Iterable[Criterion], manifests: Sequence[Manifest]) -> None:
    """Raise ``INVALID_REQUEST`` for the first criterion that no result of these providers can answer."""
    for index, criterion in enumerate(criteria):
        found = _unreachable(criterion, manifests)
        if found is not None:
            details: dict[str, Any] = {"nearest": found.nearest} if found.nearest else {}
            raise Fault("INVALID_REQUEST", found.message, f"/criteria/{index}/{found.field}", **details)


def _unreachable(criterion: Criterion, manifests: Sequence[Manifest]) -> Unreachable | None:
    path = tokens(criterion.pointer)
    if not path:
        return None
    if path[0] not in _ROOT:
        return _no_root(path, manifests)
    if path[0] != "outputs" or not all(manifest.quantities for manifest in manifests):
        return None
    units: dict[str, set[str]] = {}
    for manifest in manifests:
        for quantity in manifest.quantities:
            units.setdefault(quantity.name, set()).add(quantity.unit)
    if len(path) < 3:
        return _too_short(criterion, path, units)
    name = path[2]
    if name not in units:
        return _no_quantity(path, units)
    measured = all(units[name])
    if measured and len(path) > 3 and path[3] not in _MEASURED:
        right = _pointer([*path[:3], "value", *path[3:]])
        return Unreachable(
            "pointer",
            f"{name} is a value with a unit, so what lies inside it stands below value; write {right}.",
            right,
        )
    if measured and len(path) > 4 and path[3] == "unit":
        return Unreachable("pointer", f"The unit of {name} is a text with nothing below it.")
    return _no_unit(criterion, path, units[name])


def _no_root(path: list[str], manifests: Sequence[Manifest]) -> Unreachable:
    known = [quantity.name for manifest in manifests for quantity in manifest.quantities]
    meant = nearest(path[0], _ROOT)
    right = _pointer([meant, *path[1:]]) if meant else ""
    if not meant:
        # An output's own id may stand first, or the quantity alone.
        at = next((index for index, token in enumerate(path) if token in known), None)
        if at is not None:
            right = _pointer(["outputs", path[at - 1] if at else "<id>", *path[at:]])
    return Unreachable(
        "pointer",
        f"A result has {', '.join(_ROOT)} at its root, not {_shown(path[0])}; a criterion points at {FORM}"
        + (f", here {right}." if right else "."),
        right,
    )


def _too_short(criterion: Criterion, path: list[str], units: dict[str, set[str]]) -> Unreachable | None:
    if criterion.operator is CriterionOperator.EQUALS and isinstance(criterion.value, dict):
        return None
    if len(path) == 2 and "value" in units:
        return None
    right = _pointer([*path, *(["<id>"] if len(path) == 1 else []), next(iter(units))])
    return Unreachable(
        "pointer",
        f"The pointer ends before a quantity; a criterion points at {FORM}, for instance {right}. "
        f"The quantities are {_listed(units)}.",
        right,
    )


def _no_quantity(path: list[str], units: dict[str, set[str]]) -> Unreachable:
    near = nearest(path[2], units)
    right = _pointer([*path[:2], near, *path[3:]]) if near else ""
    advice = f"the nearest is {near}, so write {right}" if near else f"a criterion points at {FORM}"
    return Unreachable(
        "pointer",
        f"Results have no quantity {_shown(path[2])}; {advice}. The quantities are {_listed(units)}.",
        right,
    )


def _no_unit(criterion: Criterion, path: list[str], units: set[str]) -> Unreachable | None:
    unit = criterion.unit
    # What lies further down, or in a quantity that may be a structure, may have units of its own.
    if unit is None or path[3:] not in ([], ["value"]) or (path[3:] and "" in units):
        return None
    if any(known and factor_between(known, unit) is not None for known in units):
        return None
    known = " or ".join(sorted(known for known in units if known))
    told = f"{path[2]} is in {known}" if known else f"{path[2]} has no unit"
    advice = f"give a unit that converts to {known}" if known else "leave unit out"
    return Unreachable("unit", f"{told}, which does not convert to {unit}; {advice}.", known)


def _pointer(path: Iterable[str]) -> str:
    pointer = ""
    for token in path:
        pointer = join(pointer, token)
    return pointer


def _listed(names: Iterable[str]) -> str:
    shown = [name[:64] for name in names]
    return ", ".join(shown[:_SHOWN]) + (" …" if len(shown) > _SHOWN else "")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:80]}…")
