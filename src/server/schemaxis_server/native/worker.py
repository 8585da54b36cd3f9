"""The worker: the process in which a host does one job.

It is forked ahead of need, makes itself safe, waits, and then reads ``request.json``, calls
the entry and writes ``result.json`` last. Standard library only; the engine is already here.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import json
import math
import os
import resource
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

from schemaxis_server.native import channel, linux, procfs
from schemaxis_server.native.hostkit import Kit, UnsupportedInput

_MESSAGE_CHARACTERS = 2000


def stand_by(
    seat: socket.socket,
    keep: frozenset[int],
    parent: int,
    *,
    ahead: str,
    in_namespace: bool,
    hardening: list[str],
) -> NoReturn:
    """Become the worker of the next job; runs in a fresh child of the init.

    ``seat`` leads to the init, whose pid is ``parent``. ``keep`` are descriptors that the
    engine has open. ``ahead`` names what is called while there is time, and may be empty.
    """
    try:
        linux.set_parent_death_signal(signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        close_others(keep | {seat.fileno()})
        os.setsid()
        os.umask(0o077)
        outer_pid = int(os.readlink("/proc/self"))
        reached = [*hardening, *_harden(in_namespace=in_namespace)]
        prepared = _found(ahead)() if ahead else None
        channel.send(seat, {"event": "prepared", "pid": outer_pid, "hardening": reached})
        received = channel.receive(seat)
        if received is None:
            os._exit(1)
        seat.close()
        job, (stdout, stderr, report) = received
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        channel.close_all([stdout, stderr])
    except Exception:
        # Whatever goes wrong before the job is the product's own fault, and ends here.
        traceback.print_exc()
        os._exit(1)
    _work(job, report, prepared)


def close_others(keep: Iterable[int]) -> None:
    """Close every descriptor but the three standard ones and ``keep``."""
    kept = {0, 1, 2, *keep}
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in kept:
            try:
                os.close(int(name))
            except OSError:
                continue  # the listing's own descriptor, which is gone by now


def _harden(*, in_namespace: bool) -> list[str]:
    """Take what protection the kernel gives; returns the names of what was reached."""
    reached = ["parent-death-signal"]
    steps: list[tuple[str, Callable[[], None]]] = [("no-new-privileges", linux.forbid_new_privileges)]
    if in_namespace:
        steps.append(("own-proc", linux.mount_own_proc))
    for name, step in steps:
        try:
            step()
        except OSError:
            continue  # reported by its absence from the list
        reached.append(name)
    return reached


def _work(job: dict[str, Any], report: int, prepared: Any) -> NoReturn:
    directory = Path(job["directory"])
    try:
        _settle(job, directory, _children() if prepared is not None else [])
        result = _call(job["entry"], directory, report, prepared)
        write_json(directory / "result.json", result)
        code = 0
    except UnsupportedInput as refusal:
        _write_failure(directory, refusal)
        # Foreseen: a traceback would say nothing but where this machine keeps its programs.
        with contextlib.suppress(OSError, ValueError):
            print(_refusal_line(refusal), file=sys.stderr)  # noqa: T201
        code = 1
    except BaseException as problem:
        # SystemExit and KeyboardInterrupt included: nothing of the engine may pass for a success.
        traceback.print_exc()
        _write_failure(directory, problem)
        code = 1
    _flush()
    # No interpreter shutdown: engines take long over theirs, and some crash in it.
    os._exit(code)


def _settle(job: dict[str, Any], directory: Path, children: Iterable[int]) -> None:
    """Move into the run's directory, under its limits, with fresh random numbers.

    ``children`` were started ahead, and have not inherited the limits of a job not known then.
    """
    os.chdir(directory)
    os.environ.update(TMPDIR=str(directory / "tmp"), HOME=str(directory / "home"), SCHEMAXIS_RUN=job["run"])
    tempfile.tempdir = None
    # New objects: those of the zygote were made for other kinds of files.
    sys.stdout, sys.stderr = (
        open(descriptor, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
        for descriptor in (1, 2)
    )
    linux.buffer_native_output_by_line()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    # Python reseeds its own generator in every child, NumPy does not.
    generator = sys.modules.get("numpy.random")
    if generator is not None:
        generator.seed()
    _limit(job["limits"], [0, *children])


def _limit(limits: dict[str, int], processes: Iterable[int]) -> None:
    bounds = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_AS: limits["memory_bytes"],
        resource.RLIMIT_FSIZE: limits["file_bytes"],
        resource.RLIMIT_NOFILE: limits["open_files"],
    }
    # The kernel counts all processes of the user, not ours, and exempts root altogether.
    if os.getuid() != 0:
        bounds[resource.RLIMIT_NPROC] = limits["processes"] + _processes_of_user()
    for pid in processes:
        for kind, bound in bounds.items():
            _, hard = resource.prlimit(pid, kind)
            if hard != resource.RLIM_INFINITY:
                bound = min(bound, hard)
            resource.prlimit(pid, kind, (bound, bound))


def _children() -> list[int]:
    own = os.getpid()
    return [process.pid for process in procfs.processes() if process.parent == own]


def _processes_of_user() -> int:
    user = os.getuid()
    count = 0
    for name in os.listdir("/proc"):
        try:
            count += name.isdigit() and os.stat(f"/proc/{name}").st_uid == user
        except OSError:
            continue
    return count


def _call(entry: str, directory: Path, report: int, prepared: Any) -> Any:
    request = json.loads((directory / "request.json").read_bytes())
    return plain(_found(entry)(request, Kit(directory, report, prepared)))


def _found(entry: str) -> Callable[..., Any]:
    module, _, name = entry.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def plain(value: Any, place: str = "") -> Any:
    """``value`` as JSON that every reader agrees on.

    NaN and the infinities become ``{"$number": "NaN" | "Infinity" | "-Infinity"}``. Raises
    ``TypeError`` naming the JSON Pointer of anything that is not JSON, NumPy scalars included.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        return {"$number": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, list | tuple):
        return [plain(item, f"{place}/{index}") for index, item in enumerate(value)]
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"The key {key!r} at {place or '/'} of the result is not text")
        return {key: plain(item, f"{place}/{_escaped(key)}") for key, item in value.items()}
    raise TypeError(f"A {type(value).__name__} at {place or '/'} of the result is not JSON")


def _escaped(key: str) -> str:
    """A key as a step of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def write_json(path: Path, value: Any) -> None:
    """Write a file that is either absent or whole: temporary name, fsync, rename, fsync."""
    temporary = path.with_name(path.name + ".part")
    with open(temporary, "w", encoding="ascii") as file:
        json.dump(value, file, allow_nan=False)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _write_failure(directory: Path, problem: BaseException) -> None:
    code, pointer = "NATIVE_FAILURE", ""
    if isinstance(problem, UnsupportedInput):
        code, message, pointer = "UNSUPPORTED_INPUT", problem.message, problem.pointer
    elif isinstance(problem, OSError) and problem.errno in (errno.ENOSPC, errno.EDQUOT):
        code, message = "STORAGE_FULL", "There was no room for what the engine wrote"
    elif isinstance(problem, MemoryError):
        message = "The engine ran out of the memory that a run may have; make the document smaller"
    else:
        message = f"{type(problem).__name__}: {problem}"
    failure = {"code": code, "message": message[:_MESSAGE_CHARACTERS], "pointer": pointer}
    try:
        write_json(directory / "failure.json", failure)
    except OSError:
        traceback.print_exc()


def _refusal_line(refusal: UnsupportedInput) -> str:
    place = f" at {refusal.pointer}" if refusal.pointer else ""
    # An engine's own words, which a message may quote, can have lines of their own.
    return f"UNSUPPORTED_INPUT{place}: {' '.join(refusal.message.split())[:_MESSAGE_CHARACTERS]}"


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    linux.flush_native_output()
