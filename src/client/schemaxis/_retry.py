"""When a broken call is repeated, and after which pause. Pure: time comes in, pauses go out."""

from __future__ import annotations

from collections.abc import Callable

from schemaxis.errors import ConnectionLost, SchemaxisError, Unavailable

FIRST_PAUSE_SECONDS = 0.02
LONGEST_PAUSE_SECONDS = 1.0

Clock = Callable[[], float]


def is_passing(error: SchemaxisError) -> bool:
    """Whether the error may go away by itself: a broken connection, a full queue, a server that restarts."""
    if isinstance(error, Unavailable):
        return error.code in ("OVERLOADED", "SHUTTING_DOWN")
    return isinstance(error, ConnectionLost)


class Patience:
    """How long trouble without any progress is borne, with pauses that double.

    ``clock`` is monotonic, in seconds.
    """

    def __init__(self, seconds: float, clock: Clock) -> None:
        self._seconds = seconds
        self._clock = clock
        self._since: float | None = None
        self._pause = FIRST_PAUSE_SECONDS

    def progress(self) -> None:
        """Something went well: trouble counts from its next beginning."""
        self._since = None
        self._pause = FIRST_PAUSE_SECONDS

    def pause(self, error: SchemaxisError) -> float:
        """Seconds to wait before trying again. Raises ``error`` itself when patience is at its end."""
        now = self._clock()
        if self._since is None:
            self._since = now
        left = self._since + self._seconds - now
        if left <= 0:
            raise error
        wanted = self._pause
        self._pause = min(2 * wanted, LONGEST_PAUSE_SECONDS)
        asked = error.details.get("retryAfterSeconds")
        if isinstance(asked, (int, float)) and not isinstance(asked, bool):
            wanted = max(wanted, float(asked))
        return min(wanted, left)
