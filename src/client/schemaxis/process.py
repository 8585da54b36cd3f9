"""Finding, starting and stopping the server program of a workspace.

Shared by the client, the bridge and the command. Standard library only, so that it is cheap to
import; the server is started as a program and never imported.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from schemaxis._socket import (
    Workspace,
    attachable_socket,
    check_socket,
    is_listening,
    is_serving,
    locate_socket,
)
from schemaxis._tail import Tail
from schemaxis.errors import ServerNotRunning, ServerStartFailed

__all__ = [
    "START_SECONDS",
    "STOP_SECONDS",
    "Ready",
    "Served",
    "ServerProcess",
    "attachable_socket",
    "check_socket",
    "is_listening",
    "is_serving",
    "locate_socket",
    "serve_or_attach",
]

START_SECONDS = 60.0
STOP_SECONDS = 30.0
TERM_SECONDS = 5.0
_READY_LINE_BYTES = 65_536
_LIFELINE = "--until-stdin-closes"
_ATTACH_PAUSE_SECONDS = 0.02
_RETRY_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Ready:
    """What a server says when it is ready."""

    socket: Path
    pid: int
    workspace_id: str


class ServerProcess:
    """A server program started by this process, which ends with it.

    The server's standard input is a pipe whose other end lives here: if this process is killed,
    the server notices the end of input, drains and exits. A context manager; leaving it stops the
    server.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        socket: Workspace | None = None,
        log: Workspace | int | None = None,
        command: Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Prepare a server for ``workspace``; nothing runs yet.

        ``log`` is where the server's log lines go: a file that is appended to, an open file
        descriptor (2 is this process's own stderr), or ``None`` to keep only the last lines, which
        an error then quotes. ``command`` replaces the server program, ``environment`` its
        environment.
        """
        self._workspace = Path(workspace).absolute()
        self._command = [*(command or (sys.executable, "-P", "-m", "schemaxis_server"))]
        self._command += ["--workspace", os.fspath(self._workspace), _LIFELINE]
        if socket is not None:
            self._command += ["--socket", os.fspath(Path(socket).absolute())]
        self._environment = environment
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._tail: Tail | None = None
        self._ready: Ready | None = None

    @property
    def ready(self) -> Ready:
        """What the server said when it was ready."""
        if self._ready is None:
            raise ServerNotRunning(
                f"The server of {self._workspace} has not been started: call start() first."
            )
        return self._ready

    @property
    def running(self) -> bool:
        """Whether the program was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def log_tail(self) -> str:
        """The last lines of the server's log, when they are kept here; otherwise empty."""
        return self._tail.text() if self._tail else ""

    def start(self, deadline_seconds: float = START_SECONDS) -> Ready:
        """Start the program and wait until it is ready.

        Raises ``ServerStartFailed`` when it refuses (with the code of its fault, for instance
        ``WORKSPACE_LOCKED``), ends, or is not ready in time; nothing is left running then.
        """
        if self._process is not None:
            raise ServerStartFailed("This server was started before: make a new ServerProcess.")
        process = self._process = self._spawn()
        try:
            self._ready = self._parse(self._first_line(process, deadline_seconds))
        except BaseException:
            # Whatever interrupted the start, a half-started server must not outlive it.
            self.stop(2.0)
            raise
        return self._ready

    def stop(self, timeout_seconds: float = STOP_SECONDS) -> int | None:
        """Let the server drain and end, and collect it; its exit status, ``None`` if it never ran.

        After ``timeout_seconds`` it is terminated, and five seconds later killed. Calling it again
        does nothing more.
        """
        process = self._process
        if process is None:
            return None
        if process.stdin and not process.stdin.closed:
            process.stdin.close()
        for wait, harder in ((timeout_seconds, process.terminate), (TERM_SECONDS, process.kill)):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(wait)
                break
            harder()
        status = process.wait()
        if process.stdout:
            process.stdout.close()
        if self._tail:
            self._tail.close()
        return status

    def __enter__(self) -> Self:
        if self._process is None:
            self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _spawn(self) -> subprocess.Popen[bytes]:
        with contextlib.ExitStack() as files:
            stderr: int | IO[bytes]
            if self._log is None:
                self._tail = Tail()
                stderr = files.enter_context(self._tail.writer())
            elif isinstance(self._log, int):
                stderr = self._log
            else:
                stderr = files.enter_context(open(self._log, "ab"))
            try:
                return subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    env=self._environment,
                    # A Ctrl-C at the terminal is for the owner, which still needs the server to tidy up.
                    process_group=0,
                )
            except OSError as error:
                raise ServerStartFailed(f"{self._command[0]} cannot be run: {error}") from error

    def _first_line(self, process: subprocess.Popen[bytes], deadline_seconds: float) -> bytes:
        assert process.stdout is not None
        descriptor = process.stdout.fileno()
        arrival = select.poll()
        arrival.register(descriptor, select.POLLIN)
        deadline = time.monotonic() + deadline_seconds
        line = b""
        while not line.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or not arrival.poll(math.ceil(left * 1000)):
                raise self._failure(f"was not ready within {deadline_seconds:g} seconds")
            # One byte at a time: nothing after the line may be taken, and the line is short.
            byte = os.read(descriptor, 1)
            line += byte
            if not byte:
                raise self._failure("ended before it was ready")
            if len(line) > _READY_LINE_BYTES:
                raise self._failure("wrote something else than its ready line")
        return line

    def _parse(self, line: bytes) -> Ready:
        try:
            said: Any = json.loads(line)
            if said["event"] == "refused":
                fault = said["fault"]
                raise ServerStartFailed(
                    fault["message"],
                    code=fault["code"],
                    retryable=fault["retryable"],
                    pointer=fault["pointer"],
                    details=fault["details"],
                )
            return Ready(Path(said["socket"]), int(said["pid"]), str(said["workspaceId"]))
        except (ValueError, TypeError, KeyError) as error:
            raise self._failure("wrote something else than its ready line") from error

    def _failure(self, what: str) -> ServerStartFailed:
        by_hand = shlex.join(part for part in self._command if part != _LIFELINE)
        message = f"The server program {what}: run `{by_hand}` to see why."
        if self._tail:
            self._tail.settle()
            said = self._tail.text().strip()
            if "No module named" in said and "schemaxis_server" in said:
                message = (
                    f"The server is not installed for {sys.executable}: pip install 'schemaxis[server]'."
                )
            elif said:
                message += f" It last said:\n{said}"
        return ServerStartFailed(message)


@dataclass(frozen=True, slots=True)
class Served:
    """A workspace that is served: where, and by whose process.

    ``owned`` is the process when this call started it, ``None`` when a running server was found.
    """

    socket: Path
    owned: ServerProcess | None

    def stop(self, timeout_seconds: float = STOP_SECONDS) -> None:
        """Stop the server if it is ours; leave it alone if it was found running."""
        if self.owned:
            self.owned.stop(timeout_seconds)


def serve_or_attach(
    workspace: Workspace,
    *,
    log: Workspace | int | None = None,
    command: Sequence[str] | None = None,
    deadline_seconds: float = START_SECONDS,
) -> Served:
    """Attach to the workspace's server, or start one if none runs.

    Several callers may do this at once: one starts the server, the others attach to it. Raises
    ``ServerStartFailed`` or ``UnsafeSocket``.
    """
    deadline = time.monotonic() + deadline_seconds
    while True:
        try:
            return Served(attachable_socket(workspace), None)
        except ServerNotRunning:
            pass
        process = ServerProcess(workspace, log=log, command=command)
        try:
            ready = process.start(max(deadline - time.monotonic(), 0.1))
        except ServerStartFailed as error:
            if error.code != "WORKSPACE_LOCKED":
                raise
            # Somebody else holds the workspace: it will serve soon, or give the workspace up.
            if not _other_serves(workspace, deadline) and time.monotonic() >= deadline:
                raise
        else:
            return Served(ready.socket, process)


def _other_serves(workspace: Workspace, deadline: float) -> bool:
    """Whether the workspace comes to be served within the time after which another start is worth trying."""
    retry = min(time.monotonic() + _RETRY_SECONDS, deadline)
    while not is_serving(workspace):
        if time.monotonic() >= retry:
            return False
        time.sleep(_ATTACH_PAUSE_SECONDS)
    return True
