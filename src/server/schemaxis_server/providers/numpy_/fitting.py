"""Least squares: polynomials by orthogonal factors of scaled powers, models by Levenberg-Marquardt."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import polynomial as powers
from numpy.typing import NDArray

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.numerics import expression as formulas
from schemaxis_server.providers.numerics.fits import MAX_ITERATIONS
from schemaxis_server.providers.numerics.graph import Outcome, Work
from schemaxis_server.providers.numpy_ import demands
from schemaxis_server.providers.numpy_.functions import FUNCTIONS

Floats = NDArray[np.float64]

_INDEPENDENT = 1e-6
_STALLED = 1e15


def rms(values: Floats) -> float:
    """Root mean square, without overflow."""
    largest = float(np.max(np.abs(values), initial=0.0))
    if not np.isfinite(largest) or largest == 0:
        return largest
    return largest * float(np.sqrt(np.mean((values / largest) ** 2)))


def polynomial(series: Outcome, degree: int) -> Outcome:
    """The best polynomial; coefficients in x, the highest power first."""
    demands.finite(series)
    different = len(np.unique(series.x))
    if different <= degree:
        raise UnsupportedInput(
            f"The series has {different} different x; a polynomial of degree {degree} needs {degree + 1}.",
            "/options/degree",
        )
    low, high = float(np.min(series.x)), float(np.max(series.x))
    middle, half = low + (high - low) / 2, (high - low) / 2 or 1.0
    scaled = (series.x - middle) / half
    basis = np.polynomial.chebyshev.chebvander(scaled, degree)
    found = np.linalg.lstsq(basis, series.y, rcond=None)[0]
    fit = basis @ found
    inner = np.polynomial.chebyshev.cheb2poly(found)
    outer = np.zeros(1)
    for coefficient in inner[::-1]:
        outer = powers.polyadd(powers.polymul(outer, [-middle / half, 1 / half]), [coefficient])
    coefficients = np.zeros(degree + 1)
    coefficients[: min(len(outer), degree + 1)] = outer[: degree + 1]
    if not np.isfinite(coefficients).all():
        raise UnsupportedInput("The coefficients are beyond the range of a double; scale x.", "/inputs/0")
    return Outcome(
        series.x,
        fit,
        series.x_name,
        series.y_name,
        coefficients=coefficients[::-1].tolist(),
        residual=rms(series.y - fit),
    )


def model(work: Work) -> Outcome:
    """The model with the parameters at the minimum next to the initial ones."""
    series, initial = work.inputs[0], work.options["initial"]
    demands.finite(series)
    demands.at_least(series, len(initial), "the fit")
    names = [parameter["name"] for parameter in initial]
    tree = formulas.parse(work.options["model"], ["x", *names])
    slopes = [formulas.derivative(tree, name) for name in names]
    shape = series.x.shape

    def values(tree: formulas.Tree, parameters: Floats) -> Floats:
        variables = {"x": series.x, **dict(zip(names, parameters, strict=True))}
        with np.errstate(all="ignore"):
            found = formulas.evaluate(tree, variables, FUNCTIONS, np.float64)
        return np.broadcast_to(np.asarray(found, dtype=np.float64), shape)

    parameters = np.array([parameter["value"] for parameter in initial], dtype=np.float64)
    fit = values(tree, parameters)
    if not np.isfinite(fit).all():
        raise UnsupportedInput(
            "The model is not finite at the initial parameters; change them.", "/options/initial"
        )
    size = max(rms(series.y), np.finfo(float).tiny)
    misfit, damping = series.y - fit, 1e-3
    for _ in range(MAX_ITERATIONS):
        slope = np.column_stack([values(one, parameters) for one in slopes])
        lengths = np.linalg.norm(slope, axis=0)
        if not np.isfinite(lengths).all() or not lengths.all():
            which = names[int(np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))[0])]
            raise UnsupportedInput(
                f"The model's slope by {which} is 0 everywhere, or not finite, at {_shown(names, parameters)}; change "
                "the initial parameters or the model.",
                "/options/initial",
            )
        scaled = slope / lengths
        step, predicted = _damped_step(scaled, misfit, damping)
        trial = parameters + step / lengths
        fit = values(tree, trial)
        change = rms(predicted)
        before, after = rms(misfit), rms(series.y - fit)
        noticed = 1e-12 * before + 1e-13 * size
        if after <= before + noticed:
            parameters, misfit = trial, series.y - fit
            if (1 + damping) * change <= 1e-12 * max(size, after):
                _require_independent(scaled, names)
                return Outcome(
                    series.x,
                    np.array(fit),
                    series.x_name,
                    series.y_name,
                    coefficients=parameters.tolist(),
                    residual=rms(misfit),
                )
            if after < before - noticed:
                damping /= 10
        else:
            damping *= 10
            if damping > _STALLED:
                break
    raise UnsupportedInput(
        f"The search found no minimum within {MAX_ITERATIONS} steps; it stands at {_shown(names, parameters)}. Give "
        "better initial parameters or a simpler model.",
        "/options/initial",
    )


def _damped_step(scaled: Floats, misfit: Floats, damping: float) -> tuple[Floats, Floats]:
    """The step in scaled parameters and what it should change of the fit."""
    count = scaled.shape[1]
    rows = np.vstack([scaled, np.sqrt(damping) * np.eye(count)])
    step: Floats = np.linalg.lstsq(rows, np.concatenate([misfit, np.zeros(count)]), rcond=None)[0]
    return step, scaled @ step


def _require_independent(scaled: Floats, names: list[str]) -> None:
    _, sizes, turns = np.linalg.svd(scaled, full_matrices=False)
    if sizes[-1] < _INDEPENDENT:
        most = np.argsort(-np.abs(turns[-1]))[:2]
        told = " and ".join(names[int(which)] for which in most)
        raise UnsupportedInput(
            f"The data cannot tell {told} apart; remove one of them, or shift x.", "/options/model"
        )


def _shown(names: list[str], parameters: Floats) -> str:
    return ", ".join(f"{name} = {value:.6g}" for name, value in zip(names, parameters, strict=True))
