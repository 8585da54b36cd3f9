"""Units that criteria may use, by dimension and factor to a base unit.

Factors are the exact definitions of the International System and, for the inch and the foot,
of the international yard and pound agreement of 1959.
"""

from __future__ import annotations

import math

_LENGTHS = {
    "nm": 1e-6,
    "um": 1e-3,
    "µm": 1e-3,
    "mm": 1.0,
    "cm": 10.0,
    "m": 1e3,
    "km": 1e6,
    "in": 25.4,
    "ft": 304.8,
}
_OTHERS = {
    "rad": ("angle", 1.0),
    "deg": ("angle", math.pi / 180),
    "ms": ("time", 1e-3),
    "s": ("time", 1.0),
    "min": ("time", 60.0),
    "h": ("time", 3600.0),
    "Hz": ("frequency", 1.0),
    "kHz": ("frequency", 1e3),
    "MHz": ("frequency", 1e6),
    "L": ("length^3", 1e6),
    "mL": ("length^3", 1e3),
}


def unit_of(name: str) -> tuple[str, float] | None:
    """The dimension of a unit and its factor to the dimension's base, or None if it is not known."""
    if name in _OTHERS:
        return _OTHERS[name]
    base, caret, power = name.partition("^")
    if base not in _LENGTHS or (caret and power not in ("2", "3")):
        return None
    exponent = int(power) if caret else 1
    return (f"length^{exponent}" if exponent > 1 else "length", _LENGTHS[base] ** exponent)


def factor_between(source: str, target: str) -> float | None:
    """What a number in ``source`` is multiplied by to be in ``target``; None when they differ in kind."""
    if source == target:
        return 1.0
    first, second = unit_of(source), unit_of(target)
    if first is None or second is None or first[0] != second[0]:
        return None
    return first[1] / second[1]
