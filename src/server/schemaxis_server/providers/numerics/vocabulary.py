"""The numerics vocabulary: what every numerics provider offers under the same names.

Each operation gives a series: pairs (x, y) under two names. Definitions are written out to the last
sample, so that engines which know nothing of each other give the same numbers.
"""

from __future__ import annotations

from schemaxis_server.providers.contract import ArtifactKind, Operation, Quantity
from schemaxis_server.providers.numerics import fits, signals, sources
from schemaxis_server.providers.numerics import schemas as s

SUMMARY = (
    "Series of (x, y) pairs: read from CSV or computed, then filtered, transformed, fitted and measured. "
    "Every node gives a series; quantities describe the y of an output and have no unit of their own: they "
    "are in the unit of the data. Quantities of a series with NaN are NaN. Names of columns are kept unless "
    "an operation says "
    f"otherwise. At most {s.MAX_SAMPLES} samples a series, {s.MAX_SAMPLES_IN_ALL} in all."
)

QUANTITIES = (
    Quantity("count", "", "How many samples the series has."),
    Quantity("min", "", "The least y; NaN for an empty series, as below."),
    Quantity("max", "", "The greatest y."),
    Quantity("mean", "", "The mean of y."),
    Quantity("rms", "", "The root of the mean of y²."),
    Quantity("last", "", "The last y."),
    Quantity("integral", "", "Σ (x_i - x_(i-1))·(y_i + y_(i-1))/2 in the order of the samples; 0 for one."),
    Quantity("peakX", "", "x of the peak: the first sample with y within 1e-9·max|y| of the greatest."),
    Quantity("peakY", "", "y of that sample."),
    Quantity("coefficients", "", "What polyfit, leastSquares and solveLinear found; null for the others."),
    Quantity("residual", "", "Root mean square of what a fit or solution leaves over; null for the others."),
    Quantity("statistics", "", f"An object with {fits.STATISTICS}; null but for the operation statistics."),
)

SERIES_KIND = "series/csv"
DATA_KIND = "data/json"

PUBLISHES = (
    ArtifactKind(
        SERIES_KIND,
        "text/csv",
        "The samples with a header: RFC 4180, commas, decimal points, numbers that read back exactly; NaN, "
        "Infinity, -Infinity by these names.",
    ),
    ArtifactKind(
        DATA_KIND,
        "application/json",
        'columns (names), samples (an array for each column) and quantities; {"$number":"NaN"} for what JSON lacks.',
    ),
)


def operations(version: str) -> tuple[Operation, ...]:
    """The vocabulary with examples that say ``version``."""
    return (*sources.operations(version), *signals.operations(version), *fits.operations(version))
