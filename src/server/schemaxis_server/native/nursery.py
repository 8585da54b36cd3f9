"""Forking inits for a loaded engine, and reaping them.

It takes ``job`` messages, whose descriptors are the job's socket, stdout, stderr and progress.
One init is forked ahead, so that a job starts by passing its message on. It reports
``ready`` once, ``threads`` in its place when the engine started threads (a process with
threads cannot be forked safely), ``reaped`` for every init that ended, once nothing of its
tree is left, and ``problem`` when it cannot fork. When the control socket closes it kills all that is
below it and returns. Standard library only.
"""

from __future__ import annotations

import gc
import os
import platform
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from schemaxis_server.native import channel, init, linux, procfs, reaping


@dataclass(slots=True)
class _Child:
    """An init. ``lifeline`` is open as long as this process lives, and tells the init so."""

    pid: int
    lifeline: socket.socket
    hardening: list[str]


class Nursery:
    """The loop of a zygote whose engine is loaded.

    ``engine_descriptors`` are what loading opened; ``ahead`` is what each waiting worker calls. The
    children that loading started are the engine's own, and without them this process is of no use.
    """

    def __init__(
        self, control: socket.socket, engine_descriptors: frozenset[int], *, ahead: str, namespaces: bool
    ) -> None:
        self._control = control
        self._keep = engine_descriptors
        self._ahead = ahead
        self._namespaces = namespaces
        self._busy: dict[int, _Child] = {}
        self._spare: _Child | None = None
        self._residents = _children()
        self._bell = reaping.ChildBell()

    def serve(self, preload_seconds: float) -> None:
        """Serve until the control socket closes."""
        threads = len(os.listdir("/proc/self/task"))
        if threads != 1:
            channel.tell(self._control, {"event": "threads", "count": threads})
            return
        # What loading printed belongs to no job, and no child may hold it in a buffer.
        sys.stdout.flush()
        sys.stderr.flush()
        linux.flush_native_output()
        gc.collect()
        gc.freeze()
        self._spare = self._fork_init()
        channel.tell(
            self._control,
            {
                "event": "ready",
                "python": platform.python_version(),
                "rss_bytes": procfs.resident_bytes(os.getpid()),
                "preload_seconds": preload_seconds,
                "containment": init.PID_NAMESPACE if self._namespaces else init.SUBREAPER,
                "hardening": self._spare.hardening,
            },
        )
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._bell, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll()}
            # Ends first: a spare init that died must not be given a job.
            if self._bell.fileno() in ready:
                self._bell.clear()
                if not self._reap():
                    break
            if self._control.fileno() in ready:
                received = channel.receive(self._control)
                if received is None:
                    break
                self._start(*received)
        reaping.end_everything_below()

    def _start(self, job: dict[str, Any], descriptors: list[int]) -> None:
        """Hand a job to the spare init, or to a new one."""
        try:
            child = self._spare or self._fork_init()
            self._spare = None
            self._busy[child.pid] = child
            channel.tell(child.lifeline, job, descriptors)
        except OSError as problem:
            channel.tell(self._control, {"event": "problem", "message": str(problem)})
        finally:
            channel.close_all(descriptors)

    def _reap(self) -> bool:
        """Reap what has ended; False when a part of the engine itself has."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if not pid:
                break
            if pid in self._residents:
                code = os.waitstatus_to_exitcode(status)
                sys.stderr.write(f"The engine's process {pid} ended with {code}\n")
                return False
            child = self._busy.pop(pid, None)
            if self._spare is not None and self._spare.pid == pid:
                child, self._spare = self._spare, None
            if child is not None:
                child.lifeline.close()
                if not self._namespaces:
                    self._end_strangers()
                channel.tell(self._control, {"event": "reaped", "init": pid})
        if self._spare is None:
            try:
                self._spare = self._fork_init()
            except OSError as problem:
                channel.tell(self._control, {"event": "problem", "message": str(problem)})
        return True

    def _end_strangers(self) -> None:
        """Kill what a dead init left behind: our children that are none of our making."""
        idle = select.poll()
        while True:
            known = {*self._busy, *self._residents}
            if self._spare is not None:
                known.add(self._spare.pid)
            strangers = _children() - known
            if not strangers:
                return
            reaping.signal_below(signal.SIGKILL, known)
            for pid in strangers:
                os.waitpid(pid, os.WNOHANG)
            idle.poll(5)

    def _fork_init(self) -> _Child:
        """Fork an init and wait until it stands by. Raises ``OSError`` when that is impossible."""
        if self._namespaces:
            child = self._launch(namespaces=True)
            if child is not None:
                return child
            self._namespaces = False
        child = self._launch(namespaces=False)
        if child is None:
            raise ChildProcessError("The init of a host ended before it stood by; see the host's log")
        return child

    def _launch(self, *, namespaces: bool) -> _Child | None:
        """One attempt at an init; None when the kernel refuses a PID namespace."""
        if len(os.listdir("/proc/self/task")) != 1:
            raise ChildProcessError("The zygote has more than one thread and cannot fork safely")
        lifeline, far = channel.channel()
        forked = os.fork()
        if not forked:
            _guarded(lambda: init.launch(far, self._keep, self._ahead, namespaces))
        far.close()
        pid = forked
        if namespaces:
            announced = channel.receive(lifeline)
            _, status = os.waitpid(forked, 0)
            if announced is None:
                lifeline.close()
                if os.waitstatus_to_exitcode(status) != init.NO_NAMESPACE:
                    raise ChildProcessError("The launcher of an init ended early; see the host's log")
                return None
            pid = int(announced[0]["pid"])
            channel.tell(lifeline, {"event": "adopted"})
        prepared = channel.receive(lifeline)
        if prepared is None:
            lifeline.close()
            os.waitpid(pid, 0)
            raise ChildProcessError("The init of a host ended before it stood by; see the host's log")
        return _Child(pid, lifeline, prepared[0]["hardening"])


def _guarded(launch: Callable[[], NoReturn]) -> NoReturn:
    """Run a forked child, which must never return into the loop below on the stack.

    What is left of its tree ends with the namespace, or is ended by the zygote.
    """
    try:
        launch()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def _children() -> frozenset[int]:
    """Our children that have not been reaped."""
    own = os.getpid()
    return frozenset(process.pid for process in procfs.processes() if process.parent == own)
