"""Rounding noise, added on purpose to learn how many digits of a result mean anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

AMPLITUDE = 2.0**-50
"""Four times the rounding error of a double."""


_JUMPS = frozenset({"floor", "ceil", "step", "sign"})
_EXACT = frozenset({"negate", "abs"})


class Noise:
    """What two runs over one document share: the first is exact, the second has noise in each step.

    Noise multiplies by 1 ± :data:`AMPLITUDE` at random, always the same random. A function that jumps gives
    the second run what it gave the first: engines agree on which side of a jump a double lies.
    """

    def __init__(self) -> None:
        self.active = False
        self._jumps: list[Any] = []
        self._dice = np.random.default_rng(20_241_231)

    def begin(self) -> None:
        """The exact run is over; from here there is noise."""
        self.active = True
        self._jumps.reverse()

    def array(self, values: NDArray[Any]) -> NDArray[Any]:
        if not self.active:
            return values
        with np.errstate(all="ignore"):
            noisy: NDArray[Any] = values * (1 + AMPLITUDE * self._draw(values.shape))
        return noisy

    def _draw(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Between half and all of the amplitude either way: a draw near 0 would hide what noise does."""
        signs = np.where(self._dice.random(shape) < 0.5, -1.0, 1.0)
        drawn: NDArray[np.float64] = signs * self._dice.uniform(0.5, 1, shape)
        return drawn

    def around(self, values: NDArray[Any], size: Any) -> NDArray[Any]:
        """Noise that is relative to ``size``: that of the terms which ``values`` are what is left of."""
        if not self.active:
            return values
        with np.errstate(all="ignore"):
            noisy: NDArray[Any] = values + AMPLITUDE * size * self._draw(values.shape)
        return noisy

    def functions(self, functions: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
        """The same functions, with noise on what they give in the second run."""
        return {
            name: self._jumping(function)
            if name in _JUMPS
            else function
            if name in _EXACT
            else self._smooth(function)
            for name, function in functions.items()
        }

    def _smooth(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if not self.active:
            return function

        def noisy(*values: Any) -> Any:
            found = function(*values)
            # A constant stays what it is: a power of 2 is no power of nearly 2.
            return self.array(found) if np.ndim(found) else found

        return noisy

    def _jumping(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def once_and_again(*values: Any) -> Any:
            if self.active:
                return self._jumps.pop()
            self._jumps.append(function(*values))
            return self._jumps[-1]

        return once_and_again
