"""What a zygote and an init share: hearing of ended children, and ending all that is below.

Standard library only, and free of threads: a zygote forks.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterable
from types import FrameType

from schemaxis_server.native import procfs

_LONGEST_PAUSE_MILLISECONDS = 20


class ChildBell:
    """A descriptor that becomes readable when a child has ended, for use with ``poll``.

    One per process: it owns the SIGCHLD handler and the interpreter's wake-up descriptor.
    """

    def __init__(self) -> None:
        self._read, self._write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.signal(signal.SIGCHLD, _heard)
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)

    def fileno(self) -> int:
        return self._read

    def clear(self) -> None:
        """Forget past rings. Clear first and reap afterwards, so that none is missed."""
        try:
            os.read(self._read, 4096)
        except BlockingIOError:
            return

    @staticmethod
    def silence() -> None:
        """In a fresh child: give the handler and the wake-up descriptor up."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _heard(number: int, frame: FrameType | None) -> None:
    """A handler must exist for the wake-up descriptor to be written; it has nothing to do."""


def signal_below(number: signal.Signals, spare: Iterable[int] = ()) -> None:
    """Signal every descendant of this process but the trees of ``spare``."""
    below = procfs.descendants([os.getpid()])
    spared = set(spare)
    for process in below:
        if process.pid in spared or process.parent in spared:
            spared.add(process.pid)
        else:
            procfs.send_signal(process, number)


def end_everything_below() -> None:
    """Kill all descendants and return when no child is left. For a subreaper only.

    Killing is repeated, since a process may fork between being listed and being killed; an
    orphan comes to this process, so that "no child" means "no descendant".
    """
    idle = select.poll()
    pause = 1
    while True:
        signal_below(signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        idle.poll(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_MILLISECONDS)
