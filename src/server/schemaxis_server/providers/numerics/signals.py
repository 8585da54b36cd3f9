"""The operations that make another series out of one: filters, resampling, calculus, spectra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schemaxis_server.providers.contract import Operation
from schemaxis_server.providers.numerics import schemas as s
from schemaxis_server.providers.numerics.descriptions import (
    INCREASING,
    ONE_SERIES,
    SCOPE,
    UNIFORM,
    VERIFICATION,
    document,
    node,
    tone,
)

WINDOWS: dict[str, tuple[float, ...]] = {
    "hann": (0.5, 0.5),
    "hamming": (0.54, 0.46),
    "blackman": (0.42, 0.5, 0.08),
    "flattop": (0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368),
    "rectangular": (1.0,),
}
"""The cosine coefficients a_k of each window."""


def operations(version: str) -> tuple[Operation, ...]:
    def one(
        name: str,
        title: str,
        purpose: str,
        branch: str,
        members: s.Schema,
        example: dict[str, Any] | None,
        keywords: Sequence[str],
        inputs: str = ONE_SERIES,
        most: int = 1,
    ) -> Operation:
        return Operation(
            name=name,
            title=title,
            purpose=purpose,
            scope=f"{SCOPE}/{branch}",
            min_inputs=1,
            max_inputs=most,
            input_purpose=inputs,
            options=s.options(members),
            keywords=tuple(keywords),
            example=document(version, *tone(), node("result", name, example, "signal")),
            verification=VERIFICATION,
        )

    coefficients = "; ".join(f"{name} {', '.join(map(str, a))}" for name, a in WINDOWS.items())
    return (
        one(
            "smooth",
            "Moving average",
            "The mean of the samples around each: y_i becomes the mean of y_(i-k) … y_(i+k) with k = (window "
            "- 1)/2, and at the ends the largest k that still has samples on both sides, so the first and "
            "last stay. Samples are counted, x is not used. All y must be finite.",
            "filters",
            {"window": s.whole("How many samples, an odd number.", 1, s.MAX_WINDOW)},
            {"window": 5},
            ("moving average", "boxcar", "running mean", "denoise", "noise", "average", "smoothing"),
        ),
        one(
            "detrend",
            "Remove a trend",
            "The polynomial of a degree that fits best by least squares is subtracted: degree 0 removes the "
            "mean, 1 a straight line. Needs more samples than the degree. All y must be finite.",
            "filters",
            {"degree": s.whole("Of the polynomial.", 0, 5, 1)},
            {"degree": 1},
            ("trend", "baseline", "drift", "mean removal", "offset", "linear trend", "dc"),
        ),
        one(
            "window",
            "Window function",
            "y_i is multiplied by w_i = Σ_k (-1)^k·a_k·cos(2πki/n), i = 0 … n - 1: the periodic form, for a "
            "spectrum after "
            f"it. The a_k: {coefficients}. normalize amplitude divides w by its mean, so that the amplitude "
            f"of a "
            "tone is read rightly from a spectrum; power divides by its root mean square, so that noise "
            "power is; none leaves w. Needs 4 samples. All y must be finite.",
            "filters",
            {
                "kind": s.choice("Which window.", *WINDOWS),
                "normalize": s.choice("What the windowed series keeps.", "amplitude", "power", "none"),
            },
            {"kind": "hann"},
            ("taper", "hann", "hanning", "hamming", "blackman", "flattop", "leakage", "apodization"),
        ),
        one(
            "lowpass",
            "Low-pass filter",
            "Damps what is faster than cutoff, without delay: the series is mirrored at its end to 2n "
            "samples (y_0 … y_(n-1), y_(n-1) … y_0), its discrete Fourier transform is multiplied at f_k = "
            "k·fs/(2n) by 1/(1 + (f_k/cutoff)^(2·order)), and the first n samples of the inverse are kept; "
            "fs = (n - 1)/(x_last - x_first). This is a Butterworth filter run forwards and backwards: half "
            "the amplitude is left at "
            f"cutoff. {UNIFORM}",
            "filters",
            {
                "cutoff": s.positive(
                    "The frequency at which half the amplitude is left, in 1 per unit of x."
                ),
                "order": s.whole("How steep.", 1, 8, 2),
            },
            {"cutoff": 80},
            ("filter", "butterworth", "denoise", "cutoff", "low pass", "zero phase", "filtfilt", "smooth"),
        ),
        one(
            "resample",
            "Resample to equal steps",
            "count samples at equal steps from the first x to the last, each interpolated on a straight line "
            "between its "
            f"neighbours. Nothing is filtered: use lowpass first to take fewer samples. {INCREASING}",
            "resampling",
            {"count": s.whole("How many samples.", 2, s.MAX_SAMPLES)},
            {"count": 1000},
            ("regrid", "uniform", "equidistant", "sampling rate", "downsample", "upsample", "decimate"),
        ),
        one(
            "interpolate",
            "Interpolate",
            "y at other x: those in points, or those of a second input. linear joins samples by straight "
            "lines; cubic is the not-a-knot cubic spline (a parabola through 3 samples, a line through 2). "
            "Outside the first and last x "
            f"is refused. The columns are named as the first input's. {INCREASING}",
            "resampling",
            {
                "points": {
                    "anyOf": [
                        {
                            "type": "array",
                            "items": s.number("An x."),
                            "minItems": 1,
                            "maxItems": s.MAX_POINTS,
                        },
                        {"type": "null"},
                    ],
                    "default": None,
                    "description": "The x to interpolate at, in any order; null to take those of the "
                    "second input.",
                },
                "method": s.choice("How.", "linear", "cubic"),
            },
            {"points": [0.1, 0.25, 0.5], "method": "cubic"},
            ("spline", "cubic", "linear interpolation", "lookup", "value at", "between", "align"),
            "The series, and, where points is null, a second one for its x.",
            2,
        ),
        one(
            "derivative",
            "Derivative",
            "dy/dx, exact for parabolas: inside, with h = x_i - x_(i-1) and g = x_(i+1) - x_i, (h²·y_(i+1) + "
            "(g² - h²)·y_i - g²·y_(i-1))/(h·g·(h + g)); at each end the slope there of the parabola "
            f"through the three samples next to it; with 2 samples the quotient. {INCREASING}",
            "calculus",
            {},
            {},
            ("differentiate", "slope", "gradient", "rate of change", "velocity", "diff"),
        ),
        one(
            "integral",
            "Running integral",
            "The area under y up to each x by trapezoids: y_0 = initial, then each adds (x_i - x_(i-1))·(y_i "
            "+ y_(i-1))/2. The last sample, which the quantity last says, is the whole integral; the quantity "
            f"integral of the input is the same without initial. {INCREASING}",
            "calculus",
            {"initial": s.number("The value at the first x.", 0)},
            {"initial": 0},
            ("integrate", "area", "cumulative", "antiderivative", "trapezoid", "quadrature", "energy"),
        ),
        one(
            "spectrum",
            "Spectrum",
            "The one-sided spectrum of n samples by the discrete Fourier transform Y_k = Σ_i "
            "y_i·exp(-2πjki/n): x is the frequency k·fs/n for k = 0 … n/2 (rounded down) with fs = (n - "
            "1)/(x_last - x_first), in 1 per unit of x (Hz if x is in seconds). Scaling amplitude: |Y_k|/n, "
            "doubled but at k = 0 and at k = n/2 of an even n, so that a sine of amplitude a on a frequency "
            "of the grid shows a. Scaling power: the mean square of each component, |Y_k|²/n², doubled in "
            "the same way, so that their sum is the mean of y². No window is applied: put window before it, "
            "and detrend before that, where the mean is not wanted. The columns are frequency and "
            f"amplitude or power; the quantity peakX is the strongest frequency. {UNIFORM}",
            "spectra",
            {"scaling": s.choice("What y is.", "amplitude", "power")},
            {"scaling": "amplitude"},
            (
                "fft",
                "fourier",
                "frequency",
                "dft",
                "harmonics",
                "psd",
                "power spectrum",
                "hz",
                "tone",
                "dominant",
            ),
        ),
        one(
            "peaks",
            "Peaks",
            "The local maxima of y, in the order of x. A peak is a sample, or a run of equal ones, higher "
            "than the samples on both sides; of a run it is the middle (the earlier of two). Its prominence "
            "is its height above the higher of two lowest points: those to its left and right before a "
            "sample that is higher than it, or the end. Kept are peaks not below minHeight, with a "
            "prominence of at least minProminence and of 1e-9 of the range of y; of those, from the highest "
            "down (the earlier first of those whose heights below the greatest y round to the same multiple "
            "of 1e-9 of the range), each that is not nearer than minDistance to one kept, until there are "
            f"count. There may be none. {INCREASING}",
            "spectra",
            {
                "minHeight": s.number_or_null("The least y; null for any."),
                "minProminence": s.number("The least prominence, in the unit of y.", 0, minimum=0),
                "minDistance": s.number("How near peaks may be, in the unit of x.", 0, minimum=0),
                "count": s.whole("How many at most.", 1, s.MAX_PEAKS, 100),
            },
            {"minProminence": 1},
            ("maxima", "peak", "find peaks", "local maximum", "prominence", "crest", "resonance", "events"),
        ),
    )
