"""The operations that sum a series up: statistics and fits."""

from __future__ import annotations

from schemaxis_server.providers.contract import Operation
from schemaxis_server.providers.numerics import expression as formulas
from schemaxis_server.providers.numerics import schemas as s
from schemaxis_server.providers.numerics.descriptions import (
    ONE_SERIES,
    SCOPE,
    VERIFICATION,
    document,
    node,
    tone,
)

MAX_ITERATIONS = 200
STATISTICS = (
    "count, sum, mean, median, variance, standardDeviation, min, max, lowerQuartile, upperQuartile, skewness"
)


def operations(version: str) -> tuple[Operation, ...]:
    return (_statistics(version), _polyfit(version), _least_squares(version))


def _statistics(version: str) -> Operation:
    return Operation(
        name="statistics",
        title="Statistics",
        purpose="The samples with from ≤ x ≤ to, and in the quantity statistics an object of what describes "
        "their y: "
        f"{STATISTICS}. variance divides by n - 1 (0 for one sample), skewness is m3/m2^1.5 of the central "
        f"moments "
        "with n below (0 where all are equal); quartiles lie at the places (n - 1)/4 and 3(n - 1)/4 of the "
        "sorted y, on a straight line between neighbours, counted from 0. At least one sample has to be "
        "left. If a y is not finite, each but count is NaN.",
        scope=f"{SCOPE}/statistics",
        min_inputs=1,
        max_inputs=1,
        input_purpose=ONE_SERIES,
        options=s.options(
            {
                "from": s.number_or_null("The least x; null for all."),
                "to": s.number_or_null("The greatest x; null for all."),
            }
        ),
        keywords=(
            "mean",
            "average",
            "median",
            "deviation",
            "variance",
            "quartile",
            "percentile",
            "describe",
            "range",
        ),
        example=document(version, *tone(), node("result", "statistics", {"from": 0.2, "to": 0.8}, "signal")),
        verification=VERIFICATION,
    )


def _polyfit(version: str) -> Operation:
    return Operation(
        name="polyfit",
        title="Polynomial fit",
        purpose="The polynomial of a degree that fits best by least squares. y becomes the polynomial's "
        "value at each x; coefficients are its own, the highest power of x first; residual is the root mean "
        "square of data minus fit. Needs more different x than the degree. All y must be finite. High "
        "degrees over a far-off range of x have coefficients that cancel: shift x with expression first.",
        scope=f"{SCOPE}/fits",
        min_inputs=1,
        max_inputs=1,
        input_purpose=ONE_SERIES,
        options=s.options({"degree": s.whole("Of the polynomial.", 0, s.MAX_DEGREE)}),
        keywords=(
            "fit",
            "regression",
            "polynomial",
            "line",
            "linear fit",
            "trend line",
            "calibration",
            "parabola",
        ),
        example=document(
            version,
            node("time", "linspace", {"start": 0, "stop": 2, "count": 21}),
            node("data", "expression", {"expression": "1 + 3*x - 2*x^2 + 0.01*sin(40*x)"}, "time"),
            node("fit", "polyfit", {"degree": 2}, "data"),
        ),
        verification=VERIFICATION,
    )


def _least_squares(version: str) -> Operation:
    parameter = {
        "type": "object",
        "properties": {
            "name": {
                "type": "string",
                "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$",
                "description": "As in the model; no function, constant, or x.",
            },
            "value": s.number("Where the search starts."),
        },
        "required": ["name", "value"],
        "additionalProperties": False,
    }
    return Operation(
        name="leastSquares",
        title="Fit of a model",
        purpose="Parameters of a formula in x, fitted to y by least squares. The search is Levenberg-Marquardt "
        "from initial with exact derivatives: δ solves (JᵀJ + λ·diag(JᵀJ))·δ = Jᵀr for the misfit r; λ starts "
        "at 1e-3. A step that lowers the root mean square of r is taken and λ divided by 10; one that raises it is "
        "dropped and λ multiplied by 10; one that changes it by no more than 1e-12 of it and 1e-13 of that of y is "
        "taken and λ kept. The search ends after a step taken whose J·δ has a root mean square of at most "
        "1e-12/(1 + λ) of that of y or of r; "
        f"after {MAX_ITERATIONS} steps it is given up. It finds the minimum next to initial, not always the "
        "lowest. y becomes the model's value at each x; coefficients are the parameters in the order of "
        "initial; residual is the root mean square of data minus model. Refused is a model whose parameters "
        "the data cannot tell apart (columns of J, scaled to length 1, with a singular value below 1e-6). "
        f"The model: {formulas.MEANING} Needs at least as many samples as parameters. All y must be finite.",
        scope=f"{SCOPE}/fits",
        min_inputs=1,
        max_inputs=1,
        input_purpose=ONE_SERIES,
        options=s.options(
            {
                "model": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": formulas.MAX_CHARACTERS,
                    "description": "A formula in x and the parameters, for instance a*exp(-k*x) + c.",
                },
                "initial": {
                    "type": "array",
                    "items": parameter,
                    "minItems": 1,
                    "maxItems": s.MAX_PARAMETERS,
                    "description": "The parameters with their first values, in the order in which "
                    "coefficients lists them.",
                },
            }
        ),
        keywords=(
            "curve fit",
            "nonlinear",
            "regression",
            "levenberg",
            "marquardt",
            "model",
            "parameter",
            "estimate",
        ),
        example=document(
            version,
            node("time", "linspace", {"start": 0, "stop": 3, "count": 61}),
            node("data", "expression", {"expression": "2.5*exp(-1.3*x) + 0.4 + 0.02*sin(30*x)"}, "time"),
            node(
                "fit",
                "leastSquares",
                {
                    "model": "a*exp(-k*x) + c",
                    "initial": [
                        {"name": "a", "value": 1},
                        {"name": "k", "value": 1},
                        {"name": "c", "value": 0},
                    ],
                },
                "data",
            ),
        ),
        verification=VERIFICATION,
    )
