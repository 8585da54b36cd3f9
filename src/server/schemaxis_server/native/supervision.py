"""One supervised run, from handing the job over to the proof that its tree is empty."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import signal
import socket
import time
import uuid
from dataclasses import asdict
from pathlib import Path
from typing import Any

from schemaxis_server.native import channel, sweep
from schemaxis_server.native.contract import End, Listener, Outcome, Run
from schemaxis_server.native.host import Host
from schemaxis_server.native.init import PID_NAMESPACE
from schemaxis_server.native.output import OutputLog
from schemaxis_server.native.progress import ProgressFeed
from schemaxis_server.store.files import storage_error

_OVERDUE_SECONDS = 2.0
_STREAMS = ("stdout", "stderr")


def never_started(end: End, began: float, error: str = "") -> Outcome:
    """The outcome of a run of which no process was made."""
    return Outcome(end, None, None, False, True, "", time.monotonic() - began, 0.0, 0, (), error)


class Attempt:
    """One attempt to run ``run`` on ``host``.

    ``began`` is the monotonic time from which the run's deadline counts. Use once:
    :meth:`submit`, then :meth:`outcome`, then :meth:`close` in every case.
    """

    def __init__(self, run: Run, listener: Listener, host: Host, *, warm: bool, began: float) -> None:
        self.program = run.program
        self._run = run
        self._listener = listener
        self._host = host
        self._warm = warm
        self._began = began
        self._loop = loop = asyncio.get_running_loop()
        self._id = uuid.uuid4().hex
        self._gone: asyncio.Future[None] = loop.create_future()
        self._job: socket.socket | None = None
        self._init_pid = 0
        self._init_handle = -1
        self._tree_gone: asyncio.Future[bool] | None = None
        self._containment = ""
        self._handed = False
        self._exit: int | None = None
        self._stopped: End | None = None
        self._lost = ""
        self._empty: dict[str, Any] | None = None
        self._opened = contextlib.ExitStack()
        self._outputs: list[OutputLog] = []
        with self._opened:
            for stream in _STREAMS:
                self._outputs.append(self._open_log(stream))
            self._progress = ProgressFeed(loop, listener.progress)
            self._opened.callback(self._progress.close)
            self._opened = self._opened.pop_all()

    def _open_log(self, stream: str) -> OutputLog:
        path = self._run.directory / f"{stream}.log"
        deliver = functools.partial(self._listener.lines, stream)
        try:
            log = OutputLog(self._loop, path, self._run.limits.output_bytes, deliver)
        except OSError as problem:
            raise storage_error(problem, path) from problem
        self._opened.callback(log.close)
        return log

    @property
    def started(self) -> bool:
        """Whether the job was handed to a worker. If not, another attempt repeats nothing."""
        return self._init_handle >= 0

    def submit(self) -> None:
        """Hand the job to the zygote. One that is gone makes a lost run without a worker."""
        run = self._run
        limits = asdict(run.limits)
        message = {
            "run": self._id,
            "entry": run.program.entry,
            "directory": str(run.directory),
            "grace": run.limits.grace_seconds,
            "limits": {
                name: limits[name] for name in ("memory_bytes", "file_bytes", "open_files", "processes")
            },
        }
        pipes = [output.pipe for output in self._outputs] + [self._progress.pipe]
        near, far = channel.channel()
        near.setblocking(False)
        self._job = near
        with far:
            self._handed = self._host.submit(message, [far.fileno(), *(pipe.write_end for pipe in pipes)])
        for pipe in pipes:
            pipe.give_away()
        self._loop.add_reader(near, self._hear)

    async def outcome(self, cancel: asyncio.Future[Any]) -> Outcome:
        """Wait for the end of the tree, stopping it when ``cancel`` is done or time is up."""
        limits = self._run.limits
        left = self._began + limits.deadline_seconds - time.monotonic()
        await asyncio.wait({self._gone, cancel}, timeout=max(0.0, left), return_when=asyncio.FIRST_COMPLETED)
        if not self._gone.done():
            self._stop(End.CANCELLED if cancel.done() else End.DEADLINE)
            await asyncio.wait({self._gone}, timeout=limits.grace_seconds + _OVERDUE_SECONDS)
        if not self._gone.done():
            self.kill()
            await asyncio.wait({self._gone}, timeout=_OVERDUE_SECONDS)
        empty = await self._prove_empty()
        self.close()
        return self._summary(empty)

    def kill(self) -> None:
        """End the tree at once, without waiting. The last resort: the init is asked first."""
        if self._init_handle >= 0:
            try:
                signal.pidfd_send_signal(self._init_handle, signal.SIGKILL)
            except ProcessLookupError:
                return
        elif not self._gone.done():
            # The zygote hangs with the job in its hands; its end is the end of all inits.
            self._host.kill()
            self._lost = "the zygote did not take the job in time and was killed"

    async def abandon(self) -> None:
        """Kill the tree and wait, in bounded time, until it is gone."""
        if not self._handed:
            return
        if self._job is not None:
            channel.tell(self._job, {"command": "kill"})
        await asyncio.wait({self._gone}, timeout=_OVERDUE_SECONDS)
        self.kill()
        await asyncio.wait({self._gone}, timeout=_OVERDUE_SECONDS)
        await self._prove_empty()

    def close(self) -> None:
        """Release everything. What still lived would lose its socket, and be killed by its init."""
        self._hang_up()
        self._forget_init()
        self._opened.close()

    def _stop(self, end: End) -> None:
        """Ask the init to end the tree; with patience while the leader lives, at once after it."""
        if self._exit is None:
            self._stopped = end
        command: dict[str, Any] = {"command": "kill"}
        if self._exit is None:
            command = {"command": "stop", "grace": self._run.limits.grace_seconds}
        if self._job is not None:
            channel.tell(self._job, command)

    def _hear(self) -> None:
        while self._job is not None:
            try:
                received = channel.receive(self._job)
            except BlockingIOError:
                return
            if received is None:
                self._hang_up()
                if not self.started and not self._gone.done():
                    # Nobody has the other end any more, and nobody was given the job.
                    self._gone.set_result(None)
                return
            self._note(*received)

    def _note(self, message: dict[str, Any], descriptors: list[int]) -> None:
        match message["event"]:
            case "started":
                self._init_pid = message["init"]
                self._init_handle = descriptors[0]
                self._containment = message["containment"]
                self._tree_gone = self._host.watch_init(self._init_pid)
                self._loop.add_reader(self._init_handle, self._init_ended)
                self._listener.started(message["pid"])
            case "exit":
                self._exit = message["code"]
            case "lost":
                self._lost = message["reason"]
            case "empty":
                self._empty = message

    def _hang_up(self) -> None:
        if self._job is not None:
            self._loop.remove_reader(self._job)
            self._job.close()
            self._job = None

    def _init_ended(self) -> None:
        # The handle becomes readable only after the kernel has ended the init's namespace.
        self._hear()
        self._loop.remove_reader(self._init_handle)
        self._hang_up()
        if not self._gone.done():
            self._gone.set_result(None)

    def _forget_init(self) -> None:
        if self._init_handle >= 0:
            self._loop.remove_reader(self._init_handle)
            os.close(self._init_handle)
            self._init_handle = -1
            self._host.forget_init(self._init_pid)

    async def _prove_empty(self) -> bool:
        """Whether it is known that nothing of the run is left."""
        if self._tree_gone is None or self._empty is not None:
            return self._gone.done()
        if self._gone.done() and self._containment == PID_NAMESPACE:
            return True
        # The init died before its time; what it left went to the zygote, which ends it.
        await asyncio.wait({self._tree_gone}, timeout=_OVERDUE_SECONDS)
        if self._tree_gone.done() and self._tree_gone.result():
            return True
        pipes = frozenset(output.pipe.name() for output in self._outputs)
        await asyncio.to_thread(sweep.end_run, self._id, pipes)
        return False

    def _summary(self, empty: bool) -> Outcome:
        end, code = self._stopped, self._exit
        error = ""
        if end is None:
            end = End.LOST if self._lost or code is None else End.EXITED
        if end is End.LOST:
            error = self._lost or "the host's process vanished without a report"
        elif not empty:
            error = "processes of the run may be left"
        usage = self._empty or {"cpu_seconds": 0.0, "max_rss_bytes": 0}
        return Outcome(
            end=end,
            exit_code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            warm=self._warm,
            tree_empty=empty,
            containment=self._containment,
            wall_seconds=time.monotonic() - self._began,
            cpu_seconds=usage["cpu_seconds"],
            max_rss_bytes=usage["max_rss_bytes"],
            truncated=tuple(
                name for name, output in zip(_STREAMS, self._outputs, strict=True) if output.truncated
            ),
            error=error,
        )


def prepare(directory: Path) -> None:
    """Make what a worker expects to find in its run directory. Raises ``Fault("STORAGE_FULL")``."""
    try:
        for name in ("tmp", "home"):
            (directory / name).mkdir(mode=0o700, exist_ok=True)
    except OSError as problem:
        raise storage_error(problem, directory / "home") from problem
