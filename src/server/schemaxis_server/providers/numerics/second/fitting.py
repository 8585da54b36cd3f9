"""Fits once more: polynomials by orthogonal recurrence, models by normal equations and dual numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schemaxis_server.providers.numerics import expression as formulas
from schemaxis_server.providers.numerics.fits import MAX_ITERATIONS
from schemaxis_server.providers.numerics.graph import Outcome, Work
from schemaxis_server.providers.numerics.second.duals import value_and_slopes
from schemaxis_server.providers.numerics.second.functions import Wide, double, wide
from schemaxis_server.providers.numerics.second.noise import Noise

Wides = NDArray[np.longdouble]


class NotFound(ArithmeticError):
    """The second formulation has no result."""


def rms(values: Any) -> float:
    scaled = wide(values)
    return float(np.sqrt(np.sum(scaled * scaled) / len(scaled))) if len(scaled) else 0.0


def polynomial(series: Outcome, degree: int, noise: Noise) -> Outcome:
    """Forsythe's method: polynomials orthogonal over the samples, each from the two before it."""
    x, y = wide(series.x), wide(series.y)
    middle, half = (x.max() + x.min()) / 2, (x.max() - x.min()) / 2 or Wide(1)
    t = (x - middle) / half
    before, now = np.zeros_like(t), np.ones_like(t)
    powers_before, powers_now = [Wide(0)], [Wide(1)]
    size_before = Wide(1)
    fit = np.zeros_like(t)
    powers: list[Any] = [Wide(0)] * (degree + 1)
    for order in range(degree + 1):
        size = np.sum(now * now)
        weight = np.sum((y - fit) * now) / size
        # Noise of the samples averages out, what rounds in an engine's equations does not.
        weight = noise.around(np.asarray(weight), np.max(np.abs(y)) / np.max(np.abs(now)))
        fit = fit + weight * now
        for place, value in enumerate(powers_now):
            powers[place] = powers[place] + weight * value
        shift, scale = np.sum(t * now * now) / size, (size / size_before if order else Wide(0))
        before, now = now, (t - shift) * now - scale * before
        raised = [Wide(0), *powers_now]
        lowered = [*powers_now, Wide(0)]
        older = [*powers_before, *[Wide(0)] * (len(raised) - len(powers_before))]
        powers_before, powers_now = (
            powers_now,
            [a - shift * b - scale * c for a, b, c in zip(raised, lowered, older, strict=True)],
        )
        size_before = size
    # Horner's scheme in the polynomial (x - middle)/half gives the coefficients in x.
    found = [Wide(0)] * (degree + 1)
    for value in reversed(powers):
        shifted = [Wide(0)] * (degree + 1)
        for place, coefficient in enumerate(found):
            shifted[place] -= coefficient * middle / half
            if place + 1 <= degree:
                shifted[place + 1] += coefficient / half
        shifted[0] += value
        found = shifted
    furthest = float(np.max(np.abs(x)))
    return Outcome(
        series.x,
        double(fit),
        series.x_name,
        series.y_name,
        coefficients=[float(value) for value in reversed(found)],
        residual=rms(y - fit),
        reach=[furthest**power for power in range(degree, -1, -1)],
        size=float(np.max(np.abs(y))),
    )


def model(work: Work, noise: Noise) -> Outcome:
    """Levenberg-Marquardt as the vocabulary defines it, with normal equations."""
    series, initial = work.inputs[0], work.options["initial"]
    names = [parameter["name"] for parameter in initial]
    tree = formulas.parse(work.options["model"], ["x", *names])
    parameters = [float(parameter["value"]) for parameter in initial]
    damping, size = 1e-3, max(rms(series.y), math.ulp(0.0))

    def at(place: list[float]) -> tuple[Any, list[Any]]:
        value, slopes = value_and_slopes(tree, series.x, names, place)
        return noise.array(value), [noise.array(slope) for slope in slopes]

    fit, slopes = at(parameters)
    misfit = wide(series.y) - fit
    for _ in range(MAX_ITERATIONS):
        lengths = [np.sqrt(np.sum(slope * slope)) for slope in slopes]
        unit = [slope / length for slope, length in zip(slopes, lengths, strict=True)]
        normal = [[np.sum(a * b) for b in unit] for a in unit]
        for place, row in enumerate(normal):
            row[place] *= 1 + Wide(damping)
        step = eliminate(normal, [np.sum(a * misfit) for a in unit])
        change = rms(sum((a * part for a, part in zip(unit, step, strict=True)), np.zeros_like(misfit)))
        trial = [p + float(part / length) for p, part, length in zip(parameters, step, lengths, strict=True)]
        new_fit, new_slopes = at(trial)
        new_misfit = wide(series.y) - new_fit
        before, after = rms(misfit), rms(new_misfit)
        noticed = 1e-12 * before + 1e-13 * size
        if after <= before + noticed:
            parameters, misfit, fit, slopes = trial, new_misfit, new_fit, new_slopes
            if (1 + damping) * change <= 1e-12 * max(size, after):
                return Outcome(
                    series.x,
                    double(fit),
                    series.x_name,
                    series.y_name,
                    coefficients=parameters,
                    residual=rms(misfit),
                    reach=[float(np.max(np.abs(slope))) for slope in slopes],
                    slack=_slack(unit, lengths, max(size, after)),
                    size=float(max(np.max(np.abs(series.y)), np.max(np.abs(misfit)))),
                )
            if after < before - noticed:
                damping /= 10
        else:
            damping *= 10
    raise NotFound("the search of the second formulation found no minimum")


def _slack(unit: list[Any], lengths: list[Any], size: float) -> list[float]:
    """How far each parameter may be from the minimum when the search ends, J·δ being 1e-12 of y."""
    normal = [[np.sum(a * b) for b in unit] for a in unit]
    ends = []
    for place, length in enumerate(lengths):
        column = eliminate(normal, [Wide(at == place) for at in range(len(unit))])
        ends.append(float(np.sqrt(abs(column[place])) / length) * 1e-12 * size * math.sqrt(len(unit[0])))
    return ends


def eliminate(matrix: list[list[Any]], right: list[Any]) -> list[Any]:
    """Gauss with the largest pivot of each column. Raises ``NotFound`` for a singular matrix."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    count = len(rows)
    for place in range(count):
        pivot = max(range(place, count), key=lambda at: abs(rows[at][place]))
        if not abs(rows[pivot][place]) > 0:
            raise NotFound("the equations of the second formulation are singular")
        rows[place], rows[pivot] = rows[pivot], rows[place]
        for row in rows[place + 1 :]:
            factor = row[place] / rows[place][place]
            if factor:
                for at in range(place, count + 1):
                    row[at] -= factor * rows[place][at]
    found: list[Any] = [None] * count
    for place in reversed(range(count)):
        rest = rows[place][count]
        for at in range(place + 1, count):
            rest -= rows[place][at] * found[at]
        found[place] = rest / rows[place][place]
    return found
