"""The init of one job: the parent of the worker, and of whatever the worker leaves behind.

A zygote forks an init ahead of need, and the init its worker; both wait for the job. Where
the kernel allows, the init is the first process of a PID namespace: when it ends, by
whatever cause, the kernel has ended all the rest. Elsewhere it is a subreaper. In both forms
it ends only once ``wait`` says that no child is left, so its last word, ``empty``, is a fact.

Messages to the daemon over the job's socket: ``started`` (with the outer pid of the worker and
a pidfd of the init), ``exit`` (the leader's), ``lost`` (the zygote is gone), ``empty``. From it:
``stop`` (TERM, grace, KILL) and ``kill``. A closed socket is a ``kill``.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import socket
import time
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, NoReturn

from schemaxis_server.native import channel, linux, reaping, worker

PID_NAMESPACE = "pid-namespace"
SUBREAPER = "subreaper"
NO_NAMESPACE = 75
"""Exit status of a launcher that was refused its namespace."""

_KILL_AGAIN_SECONDS = 0.02


class _Stage(Enum):
    RUNNING = 1
    ENDING = 2
    KILLING = 3


def launch(lifeline: socket.socket, keep: Iterable[int], ahead: str, namespaces: bool) -> NoReturn:
    """Become the init of the next job; runs in a fresh child of the zygote.

    ``lifeline`` leads to the zygote, and closes with it. ``keep`` are descriptors that the
    preloaded engine has open, ``ahead`` is what the worker calls while it waits. With
    ``namespaces`` the caller must reap the child at once and then send ``adopted``; a child that
    was refused its namespace exits with NO_NAMESPACE. The caller guards against exceptions.
    """
    reaping.ChildBell.silence()
    kept = frozenset(keep)
    worker.close_others(kept | {lifeline.fileno()})
    if not namespaces:
        linux.become_subreaper()
        # No parent-death signal: it would end the one process that can still find the others.
        _Init(lifeline, kept, ahead, _signal_below, in_namespace=False, hardening=[]).serve()
    try:
        hardening = ["user-namespace"] if linux.enter_pid_namespace() else []
    except OSError:
        os._exit(NO_NAMESPACE)
    inner = os.fork()
    if inner:
        channel.tell(lifeline, {"event": "init", "pid": inner})
        os._exit(0)
    # The launcher's end would set the parent-death signal off; only then is the zygote our parent.
    if channel.receive(lifeline) is None:
        os._exit(1)
    linux.set_parent_death_signal(signal.SIGKILL)
    if channel.hung_up(lifeline):
        os._exit(1)
    _Init(lifeline, kept, ahead, _signal_namespace, in_namespace=True, hardening=hardening).serve()


def _signal_namespace(number: signal.Signals) -> None:
    try:
        os.kill(-1, number)
    except ProcessLookupError:
        return


def _signal_below(number: signal.Signals) -> None:
    reaping.signal_below(number)


class _Init:
    def __init__(
        self,
        lifeline: socket.socket,
        keep: frozenset[int],
        ahead: str,
        signal_all: Callable[[signal.Signals], None],
        *,
        in_namespace: bool,
        hardening: list[str],
    ) -> None:
        # /proc tells the outer pid, which is what the zygote and the daemon know us by.
        self._pid = int(os.readlink("/proc/self"))
        self._containment = PID_NAMESPACE if in_namespace else SUBREAPER
        self._lifeline = lifeline
        self._signal_all = signal_all
        self._job: socket.socket | None = None
        self._stage = _Stage.RUNNING
        self._grace = 0.0
        self._kill_at = 0.0
        bench, seat = channel.channel()
        parent = os.getpid()
        self._worker = os.fork()
        if not self._worker:
            worker.stand_by(seat, keep, parent, ahead=ahead, in_namespace=in_namespace, hardening=hardening)
        seat.close()
        self._bench = bench
        self._bell = reaping.ChildBell()

    def serve(self) -> NoReturn:
        worker_pid = self._prepare()
        job = self._accept(worker_pid)
        self._attend(job)
        os._exit(0)

    def _prepare(self) -> int:
        """Wait until the worker stands by, and pass its report on. Returns the worker's outer pid."""
        received = channel.receive(self._bench)
        if received is None:
            os._exit(1)
        channel.tell(self._lifeline, received[0])
        return int(received[0]["pid"])

    def _accept(self, worker_pid: int) -> socket.socket:
        """Wait for the job and hand it to the worker."""
        poll = _readable(self._lifeline, self._bell)
        while not any(descriptor == self._lifeline.fileno() for descriptor, _ in poll.poll()):
            self._bell.clear()
            if self._reap() is not False:
                os._exit(1)
        received = channel.receive(self._lifeline)
        if received is None:
            self._signal_all(signal.SIGKILL)
            os._exit(1)
        message, descriptors = received
        self._grace = float(message["grace"])
        self._job = job = socket.socket(fileno=descriptors[0])
        handle = os.pidfd_open(os.getpid())
        started = {"event": "started", "pid": worker_pid, "init": self._pid, "containment": self._containment}
        channel.tell(job, started, [handle])
        channel.tell(self._bench, message, descriptors[1:])
        channel.close_all([handle, *descriptors[1:]])
        self._bench.close()
        return job

    def _attend(self, job: socket.socket) -> None:
        """Watch over the tree until it is empty."""
        poll = _readable(self._lifeline, self._bell, job)
        while True:
            for descriptor, _ in poll.poll(self._patience()):
                if descriptor == self._bell.fileno():
                    self._bell.clear()
                elif descriptor == job.fileno():
                    self._obey(poll, job)
                else:
                    poll.unregister(self._lifeline)
                    channel.tell(job, {"event": "lost", "reason": "the zygote of the host ended"})
                    self._kill()
            if self._reap():
                return
            if self._stage is not _Stage.RUNNING and time.monotonic() >= self._kill_at:
                self._kill()

    def _patience(self) -> float | None:
        if self._stage is _Stage.RUNNING:
            return None
        return max(0.0, self._kill_at - time.monotonic()) * 1000 + 1

    def _obey(self, poll: select.poll, job: socket.socket) -> None:
        received = channel.receive(job)
        if received is None:
            poll.unregister(job)
            self._kill()
        elif received[0]["command"] == "stop":
            self._stop(float(received[0]["grace"]))
        else:
            self._kill()

    def _stop(self, grace: float) -> None:
        if self._stage is _Stage.RUNNING:
            self._stage = _Stage.ENDING
            self._kill_at = time.monotonic() + grace
            self._signal_all(signal.SIGTERM)

    def _kill(self) -> None:
        """Kill all. Repeated until nothing is left, since what forks may have been missed."""
        self._stage = _Stage.KILLING
        self._kill_at = time.monotonic() + _KILL_AGAIN_SECONDS
        self._signal_all(signal.SIGKILL)

    def _reap(self) -> bool | None:
        """Reap what has ended. True once no child is left; None when the worker has just ended."""
        leader_ended = False
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self._report({"event": "empty", **_usage_below()})
                return True
            if pid == self._worker:
                leader_ended = True
                self._report({"event": "exit", "code": os.waitstatus_to_exitcode(status)})
            elif not pid:
                break
        if not leader_ended:
            return False
        # What the leader leaves behind is asked to go, then made to.
        self._stop(self._grace)
        return None

    def _report(self, message: dict[str, Any]) -> None:
        if self._job is not None:
            channel.tell(self._job, message)


def _readable(*sources: socket.socket | reaping.ChildBell) -> select.poll:
    poll = select.poll()
    for source in sources:
        poll.register(source, select.POLLIN)
    return poll


def _usage_below() -> dict[str, float]:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"cpu_seconds": usage.ru_utime + usage.ru_stime, "max_rss_bytes": usage.ru_maxrss * 1024}
