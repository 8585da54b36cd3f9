"""A watch that survives breaks, as a state machine without any input or output.

::

            begin()              receive(frame)               finished
    paused ────────► streaming ─────────────────► streaming ──────────► done
       ▲                 │        end draining,
       └─────────────────┘        broken stream, missing events
            broke(error)

The cursor is the last sequence handed out. Whatever breaks, the next stream begins after it, so a
caller sees every event once and in order.
"""

from __future__ import annotations

from schemaxis._codec.jobs import end_reason, event
from schemaxis._retry import Clock, Patience, is_passing
from schemaxis.errors import ConnectionLost, SchemaxisError, UnexpectedAnswer, WaitTimeout
from schemaxis.models import EndReason, JobEvent
from schemaxis.v1 import job_pb2


class WatchMachine:
    """The state of one watch. The owner does what it says and tells it what happened."""

    def __init__(
        self,
        job_id: str,
        after: int,
        follow: bool,
        *,
        patience: Patience,
        clock: Clock,
        timeout: float | None,
    ) -> None:
        self.cursor = after
        self.end: EndReason | None = None
        self.must_reopen = False
        """Whether the present stream is of no more use, so that the owner drops it and begins anew."""
        self._job_id = job_id
        self._follow = follow
        self._patience = patience
        self._clock = clock
        self._deadline = None if timeout is None else clock() + timeout
        self._missing_after: int | None = None
        self._trouble: SchemaxisError | None = None

    @property
    def finished(self) -> bool:
        """Whether the watch came to its proper end."""
        return self.end is not None

    def remaining(self) -> float | None:
        """Seconds until the caller's time is over; ``None`` without a limit. Raises ``WaitTimeout``."""
        if self._deadline is None:
            return None
        left = self._deadline - self._clock()
        if left <= 0:
            raise self._timeout()
        return left

    def pause(self) -> float:
        """Seconds to wait before the next stream is opened, within the caller's time.

        Raises what broke the last one when that lasts longer than the client's patience.
        """
        left = self.remaining()
        trouble, self._trouble = self._trouble, None
        if trouble is None:
            return 0.0
        wanted = self._patience.pause(trouble)
        return wanted if left is None else min(wanted, left)

    def begin(self) -> job_pb2.WatchJobRequest:
        """The request of the next stream."""
        self.must_reopen = False
        return job_pb2.WatchJobRequest(job_id=self._job_id, after_sequence=self.cursor, follow=self._follow)

    def receive(self, frame: job_pb2.WatchJobResponse) -> list[JobEvent]:
        """The new events of a frame. Events that came before are dropped, a gap breaks the stream."""
        events: list[JobEvent] = []
        if not frame.HasField("end"):
            self._patience.progress()
        for message in frame.events:
            if message.sequence <= self.cursor:
                continue
            if message.sequence != self.cursor + 1:
                self._gap(message.sequence)
                return events
            self.cursor = message.sequence
            self._patience.progress()
            known = event(message)
            if known is not None:
                events.append(known)
        if frame.HasField("end"):
            self._ended(frame.end)
        return events

    def broke(self, error: SchemaxisError | None) -> None:
        """The stream broke with ``error``, or closed without an end (``None``).

        Raises the error when it does not pass by itself.
        """
        if isinstance(error, WaitTimeout) and self._deadline is not None:
            raise self._timeout() from error
        if error is not None and not is_passing(error):
            raise error
        self._reopen(
            error or ConnectionLost("The server closed the watch without its end: see that it runs.")
        )

    def _ended(self, end: job_pb2.WatchEnd) -> None:
        if end.last_sequence > self.cursor:
            self._gap(end.last_sequence + 1)
            return
        reason = end_reason(end)
        if reason in (EndReason.TERMINAL, EndReason.TAIL):
            self.end = reason
        else:
            # Draining, or a reason of a newer server: either way the job's events go on later.
            self._reopen(ConnectionLost("The server is stopping and did not come back: start it again."))

    def _reopen(self, trouble: SchemaxisError) -> None:
        self.must_reopen = True
        self._trouble = trouble

    def _gap(self, found: int) -> None:
        """Events are missing before ``found``. One fresh stream may mend that, a second gap there not."""
        error = UnexpectedAnswer(
            f"Events {self.cursor + 1} to {found - 1} of {self._job_id} are missing: "
            "run `schemaxis doctor --deep` on the workspace.",
            details={"first": self.cursor + 1, "last": found - 1},
        )
        if self._missing_after == self.cursor:
            raise error
        self._missing_after = self.cursor
        self._reopen(error)

    def _timeout(self) -> WaitTimeout:
        return WaitTimeout(
            f"{self._job_id} has not ended in the time allowed and goes on: watch it after {self.cursor}.",
            details={"jobId": self._job_id, "lastSequence": self.cursor},
        )
