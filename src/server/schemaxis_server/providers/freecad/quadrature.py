"""Gauss-Legendre nodes, weights and the derivative through them. Standard library only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Rule:
    """``nodes`` and ``weights`` on [-1, 1]; row i of ``derivative`` gives f'(node i) from the f at all nodes.

    Weights are exact for polynomials below twice the number of nodes, derivatives below that number.
    """

    nodes: tuple[float, ...]
    weights: tuple[float, ...]
    derivative: tuple[tuple[float, ...], ...]


@lru_cache(maxsize=8)
def gauss(count: int) -> Rule:
    """The rule of ``count`` nodes: the zeros of Legendre's polynomial, by Newton's method."""
    nodes, weights = [], []
    for index in range(count):
        x = math.cos(math.pi * (index + 0.75) / (count + 0.5))
        for _ in range(100):
            value, slope = _legendre(count, x)
            step = value / slope
            x -= step
            if abs(step) < 1e-16:
                break
        _, slope = _legendre(count, x)
        nodes.append(x)
        weights.append(2 / ((1 - x * x) * slope * slope))
    return Rule(tuple(nodes), tuple(weights), _derivative(nodes))


def _legendre(degree: int, x: float) -> tuple[float, float]:
    """Legendre's polynomial and its derivative."""
    before, value = 1.0, x
    for order in range(2, degree + 1):
        before, value = value, ((2 * order - 1) * x * value - (order - 1) * before) / order
    return value, degree * (x * value - before) / (x * x - 1)


def _derivative(nodes: list[float]) -> tuple[tuple[float, ...], ...]:
    """The barycentric differentiation matrix (Berrut and Trefethen, SIAM Review 46, 2004, section 9.3)."""
    barycentric = [1 / math.prod(x - other for other in nodes if other != x) for x in nodes]
    rows = []
    for i, x in enumerate(nodes):
        row = [
            0.0 if i == j else barycentric[j] / barycentric[i] / (x - other) for j, other in enumerate(nodes)
        ]
        row[i] = -math.fsum(row)
        rows.append(tuple(row))
    return tuple(rows)
