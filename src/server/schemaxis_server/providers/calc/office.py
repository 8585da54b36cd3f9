"""Starts the office that serves a warm host's jobs, and knows where it is to be found.

The office is LibreOffice's ``soffice.bin`` itself: its wrapper leaves an orphan when it is killed. Everything
that it writes lies in a /tmp of its own in memory, where the kernel gives one, and so goes when it goes, by
whatever end. Elsewhere it lies in a folder of the runtime directory, which the next office there removes.
Standard library only.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import secrets
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from schemaxis_server.providers.calc import profile, sandbox

_START_SECONDS = 60.0
_START_AGAIN = 81
_PAUSE_SECONDS = 0.005
_SHARED = Path("/tmp")
"""Where the office makes its sockets; the name is fixed in it."""
_SOCKET = "OSL_PIPE_"
_PREFIX = "calc-office-"
_LOCK, _SOCKETS = "lock", "sockets"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "SCHEMAXIS_WORKSPACE")
_OPTIONS = (
    "--headless",
    "--invisible",
    "--norestore",
    "--nologo",
    "--nodefault",
    "--nolockcheck",
    "--nofirststartwizard",
)


class OfficeFailed(RuntimeError):
    """The office could not be started."""


@dataclass(frozen=True, slots=True)
class Office:
    """A running office.

    ``folder`` is an open descriptor of the folder that it shares with its users, ``place`` is how the office itself
    calls that folder. ``socket`` is where it listens: a name in the folder behind the descriptor ``sockets``.
    ``private`` tells whether its folder is its own /tmp.
    """

    pid: int
    folder: int
    place: str
    sockets: int
    socket: str
    private: bool


def start(program: str, base: Path, *, private: bool = True, build: str | None = None) -> Office:
    """Start an office as a child of this process, which must have one thread; it ends when this process does.

    ``base`` is where its files go if the kernel gives it no /tmp of its own, or if ``private`` is False. ``build``
    is what the profile is made for, else that of the program. Raises ``OfficeFailed``.
    """
    clear(base)
    place = _SHARED if private else Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
    name = f"schemaxis-{secrets.token_hex(8)}"
    socket = f"{_SOCKET}{os.getuid()}_{name}"
    if not private:
        _hold(place, [socket, _own_socket(place)])
    deadline = time.monotonic() + _START_SECONDS
    for twice in (False, True):
        pid = _fork(_plan(program, name, place, private, twice, build))
        try:
            status = _wait(pid, socket, private, deadline)
            if status is None:
                sockets = _shared_folder(pid, private)
                folder = sockets if private else os.open(place, _FOLDER)
                return Office(pid, folder, str(place), sockets, socket, private)
        except BaseException:
            end(pid)
            raise
        if status == sandbox.NO_NAMESPACE:
            return start(program, base, private=False, build=build)
        if status != _START_AGAIN:
            break
    raise OfficeFailed(f"{program} ended with status {status} while it started")


def end(pid: int) -> None:
    """Kill an office that this process started, and reap it."""
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def clear(base: Path) -> None:
    """Remove what offices below ``base`` left behind that no longer run."""
    for folder in base.glob(f"{_PREFIX}*"):
        try:
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for name in (folder / _SOCKETS).read_text().split():
                _remove_socket(_SHARED / name)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue
        finally:
            os.close(lock)


def _remove_socket(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.name.startswith(_SOCKET) and stat.S_ISSOCK(path.lstat().st_mode):
            path.unlink()


def _hold(place: Path, sockets: Sequence[str]) -> None:
    """Note what is to be removed, and lock it for as long as this process or a child of it lives."""
    (place / _SOCKETS).write_text("\n".join(sockets))
    lock = os.open(place / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    # Left open on purpose.
    fcntl.flock(lock, fcntl.LOCK_EX)


def _own_socket(place: Path) -> str:
    """The socket by which a second start with the same profile would find the first."""
    digest = hashlib.md5(_profile(place).as_uri().encode("utf-16-le"), usedforsecurity=False).digest()
    # It writes no leading zeros.
    return f"{_SOCKET}{os.getuid()}_SingleOfficeIPC_" + "".join(f"{byte:x}" for byte in digest)


def _profile(place: Path) -> Path:
    return place / "profile"


def _plan(
    program: str, name: str, place: Path, private: bool, twice: bool, build: str | None
) -> sandbox.Plan:
    command = [
        program,
        *_OPTIONS,
        f"-env:UserInstallation={_profile(place).as_uri()}",
        f"--accept=pipe,name={name};urp;",
    ]
    environment = {"PATH": os.defpath} | {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
    environment |= {
        "HOME": str(place / "home"),
        "TMPDIR": str(place),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "SAL_USE_VCLPLUGIN": "svp",
    }
    wanted = profile.build_of(program) if build is None else build

    def prepare() -> None:
        (place / "home").mkdir(mode=0o700, exist_ok=True)
        profile.fill(_profile(place), wanted)

    return sandbox.Plan(command, environment, prepare, private, twice)


def _fork(plan: sandbox.Plan) -> int:
    starter = os.getpid()
    pid = os.fork()
    if pid == 0:
        sandbox.become(plan, starter)
    return pid


def _wait(pid: int, socket: str, private: bool, deadline: float) -> int | None:
    """Wait until the office listens. Returns its status if it ended instead."""
    root = Path(f"/proc/{pid}/root") if private else Path("/")
    awaited = root / _SHARED.relative_to("/") / socket
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if stat.S_ISSOCK(awaited.lstat().st_mode):
                return None
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(_PAUSE_SECONDS)
    raise OfficeFailed(f"the office did not listen within {_START_SECONDS:g} s")


def _shared_folder(pid: int, private: bool) -> int:
    root = f"/proc/{pid}/root" if private else ""
    return os.open(f"{root}{_SHARED}", _FOLDER)
