"""Which of several edges or faces a point or a side means. Standard library only: hosts import it too."""

from __future__ import annotations

from collections.abc import Callable, Sequence

TIED_MM = 1e-6
"""What differs by less is as near."""

_DIGITS = 5


def nearest(distances: Sequence[float], middle: Callable[[int], Sequence[float]]) -> int:
    """The index of the least distance (mm); of several as near the one whose middle is lowest in x, then y, then z.

    The order in which a kernel lists the parts of a shape is its own, so it decides only between two in
    one place.
    """
    reach = min(distances) + TIED_MM
    tied = [index for index, distance in enumerate(distances) if distance <= reach]
    if len(tied) == 1:
        return tied[0]
    return min(tied, key=lambda index: [round(value, _DIGITS) + 0.0 for value in middle(index)])
