"""A zygote as the daemon sees it: started, asked for jobs, watched, ended."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemaxis_server.faults import Fault
from schemaxis_server.native import channel, procfs, records
from schemaxis_server.native.contract import HostProgram
from schemaxis_server.store.files import storage_error

_ZYGOTE = Path(__file__).with_name("zygote.py")
_PACKAGES = Path(__file__).parents[2]
_PASSED_ON = ("PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "USER", "LOGNAME")
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_LOG_READ_BYTES = 16 * 1024
_LOG_TAIL_CHARACTERS = 1500
_END_SECONDS = 3.0


class ThreadedPreload(Exception):
    """Loading the engine started threads, so that its process cannot be forked."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What all hosts of a pool share.

    ``directory`` is the runtime directory: records, host logs, and the hosts' working
    directory. ``marker`` names the workspace and its place in every host's environment. ``namespaces`` False
    leaves PID namespaces unused.
    """

    directory: Path
    marker: str
    namespaces: bool = True
    start_seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class Ready:
    """What a zygote says of itself once it has loaded its engine."""

    python: str
    rss_bytes: int
    preload_seconds: float
    containment: str
    hardening: tuple[str, ...]


def host_environment(program: HostProgram, settings: Settings) -> dict[str, str]:
    """A host's whole environment, built from an allow-list; nothing else of ours gets through."""
    environment = {
        name: value for name, value in os.environ.items() if name in _PASSED_ON or name.startswith("LC_")
    }
    home = str(settings.directory)
    return {
        "PATH": os.defpath,
        **environment,
        "HOME": home,
        "TMPDIR": home,
        # The same document gives the same bytes, whichever zygote served it.
        "PYTHONHASHSEED": "0",
        **program.environment,
        **_ONE_THREAD,
        "SCHEMAXIS_WORKSPACE": settings.marker,
    }


class Host:
    """One zygote process. Made by :meth:`start`; lives on one event loop."""

    def __init__(
        self, program: HostProgram, process: subprocess.Popen[bytes], control: socket.socket
    ) -> None:
        self.program = program
        self.pid = process.pid
        self.ready: Ready | None = None
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        """Done once the process has ended and was reaped; the result is its exit code."""
        self.on_problem: Callable[[str], None] = lambda message: None
        self.began = time.monotonic()
        self.served = 0
        self._loop = asyncio.get_running_loop()
        self._process = process
        self._control: socket.socket | None = control
        self._handle = os.pidfd_open(process.pid)
        self._record: Path | None = None
        self._answer: asyncio.Future[dict[str, Any] | None] = self._loop.create_future()
        self._reaped: dict[int, asyncio.Future[bool]] = {}
        control.setblocking(False)
        self._loop.add_reader(control, self._hear)
        self._loop.add_reader(self._handle, self._process_ended)

    @classmethod
    async def start(cls, program: HostProgram, preload: Sequence[str], settings: Settings) -> Host:
        """Start a zygote and wait until it has loaded ``preload``.

        Call on the event loop's thread. Raises ``Fault("MISSING_RUNTIME")`` when the host cannot
        be started, and ``ThreadedPreload`` when it could not fork.
        """
        log = settings.directory / f"host-{re.sub(r'[^A-Za-z0-9._-]', '_', program.name)}.log"
        host = cls._spawn(program, settings, log)
        try:
            host._configure(preload, settings)
            answer = await asyncio.wait_for(host._answer, settings.start_seconds)
        except TimeoutError:
            await host.close()
            raise _missing(program, f"did not load within {settings.start_seconds:g} s", log) from None
        except BaseException:
            await host.close()
            raise
        if answer is not None and answer["event"] == "ready":
            host.ready = Ready(
                answer["python"],
                answer["rss_bytes"],
                answer["preload_seconds"],
                answer["containment"],
                tuple(answer["hardening"]),
            )
            return host
        await host.close()
        if answer is None:
            how = _describe(host.ended.result()) if host.ended.done() else "it cannot be killed"
            raise _missing(program, f"ended while it loaded ({how})", log)
        if answer["event"] == "threads":
            raise ThreadedPreload
        raise _missing(program, f"cannot load: {answer['message']}", log)

    @classmethod
    def _spawn(cls, program: HostProgram, settings: Settings, log: Path) -> Host:
        try:
            stderr = open(log, "wb")  # noqa: SIM115
        except OSError as problem:
            raise storage_error(problem, log) from problem
        control, far = channel.channel()
        command = [program.python or sys.executable, "-s", str(_ZYGOTE), str(far.fileno()), program.name]
        try:
            with far, stderr:
                process = subprocess.Popen(  # noqa: S603, RUF100
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=stderr,
                    close_fds=True,
                    pass_fds=(far.fileno(),),
                    cwd=settings.directory,
                    env=host_environment(program, settings),
                    start_new_session=True,
                )
        except OSError as problem:
            control.close()
            message = (
                f"The interpreter {command[0]} of host {program.name} cannot be started: {problem.strerror}"
            )
            raise Fault("MISSING_RUNTIME", message, host=program.name) from problem
        return cls(program, process, control)

    def _configure(self, preload: Sequence[str], settings: Settings) -> None:
        process = procfs.look(self.pid)
        if process is not None:
            self._record = records.write(settings.directory, self.program.name, settings.marker, process)
        own = not self.program.python
        message = {
            "paths": [os.path.abspath(path) for path in sys.path] if own else [str(_PACKAGES)],
            "replace_paths": own,
            "preload": list(preload),
            "ahead": self.program.ahead,
            "namespaces": settings.namespaces,
        }
        if self._control is not None:
            channel.tell(self._control, message)

    @property
    def alive(self) -> bool:
        """Whether it takes jobs."""
        return self._control is not None

    def submit(self, job: dict[str, Any], descriptors: Sequence[int]) -> bool:
        """Hand a job over; False when the zygote is gone. The descriptors stay the caller's."""
        if self._control is None:
            return False
        try:
            channel.send(self._control, job, descriptors)
        except OSError:
            return False
        return True

    def watch_init(self, pid: int) -> asyncio.Future[bool]:
        """A future for the report that this init and its whole tree are gone.

        Its result is False when the zygote ended without having seen to it.
        """
        future: asyncio.Future[bool] = self._loop.create_future()
        self._reaped[pid] = future
        if self.ended.done():
            future.set_result(_swept(self.ended.result()))
        return future

    def forget_init(self, pid: int) -> None:
        self._reaped.pop(pid, None)

    async def close(self) -> None:
        """End the process and all below it. Returns once it has ended, in bounded time."""
        self._hang_up()
        if self.ready is None:
            # While it loads it does not listen, and it has forked nothing itself.
            self.kill()
        for _ in range(2):
            await asyncio.wait({self.ended}, timeout=_END_SECONDS)
            if self.ended.done():
                return
            self.kill()

    def kill(self) -> None:
        """Kill the process and what is below it at this moment."""
        self._hang_up()
        if self.ended.done():
            return
        for process in procfs.descendants([self.pid]):
            procfs.send_signal(process, signal.SIGKILL)
        self._process.kill()

    def _hang_up(self) -> None:
        if self._control is not None:
            self._loop.remove_reader(self._control)
            self._control.close()
            self._control = None
        if not self._answer.done():
            self._answer.set_result(None)

    def _hear(self) -> None:
        while self._control is not None:
            try:
                received = channel.receive(self._control)
            except BlockingIOError:
                return
            if received is None:
                self._hang_up()
                return
            message = received[0]
            if message["event"] == "reaped":
                future = self._reaped.get(message["init"])
                if future is not None and not future.done():
                    future.set_result(True)
            elif message["event"] == "problem":
                self.on_problem(message["message"])
            elif not self._answer.done():
                self._answer.set_result(message)

    def _process_ended(self) -> None:
        self._hear()
        self._hang_up()
        self._loop.remove_reader(self._handle)
        os.close(self._handle)
        if self._record is not None:
            self._record.unlink(missing_ok=True)
        self.ended.set_result(self._process.wait())
        for future in self._reaped.values():
            if not future.done():
                future.set_result(_swept(self.ended.result()))


def _swept(exit_code: int) -> bool:
    """A zygote that ends by itself does so with 0, and only after all below it is gone."""
    return exit_code == 0


def _describe(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit status {code}"


def _missing(program: HostProgram, what: str, log: Path) -> Fault:
    """A fault with the last lines of the host's log, its engine's own complaints among them."""
    try:
        said = log.read_bytes()[-_LOG_READ_BYTES:].decode("utf-8", "replace")
    except OSError:
        said = ""
    tail = "\n".join(_without_frames(said.splitlines())).strip()[-_LOG_TAIL_CHARACTERS:]
    return Fault("MISSING_RUNTIME", f"The host {program.name} {what}", host=program.name, log=tail)


def _without_frames(lines: Sequence[str]) -> Iterator[str]:
    """The lines without Python's stack frames: they are of no use to a client, and the log has them."""
    in_frames = False
    for line in lines:
        in_frames = line.startswith("Traceback (most recent") or (in_frames and line.startswith(" "))
        if not in_frames:
            yield line
