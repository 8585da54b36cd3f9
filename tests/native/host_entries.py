"""Tiny hosts: each entry shows one thing that engines do, good or bad."""

from __future__ import annotations

import ctypes
import errno
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from schemaxis_server.native.hostkit import Kit, UnsupportedInput

Json = dict[str, Any]


def say(text: str) -> None:
    print(text)  # noqa: T201


def echo(request: Json, kit: Kit) -> Json:
    kit.progress(0.25, "first")
    kit.progress(1.0, "last")
    say("said on stdout")
    sys.stderr.write("said on stderr\n")
    (kit.publications / "part.txt").write_text("bytes")
    return {"request": request, "directory": str(kit.directory)}


def odd_numbers(request: Json, kit: Kit) -> Json:
    return {"values": [float("nan"), float("inf"), float("-inf"), -0.0, 5e-324, 2**63, True]}


def not_json(request: Json, kit: Kit) -> Json:
    return {"a/b": [{1, 2}]}


def refuse(request: Json, kit: Kit) -> Json:
    raise UnsupportedInput("The fillet is larger than its edge; use at most 2 mm", "/nodes/1/options/radius")


def refuse_at_work(request: Json, kit: Kit) -> Json:
    """Refuses after some work, because of what the engine said in several lines."""
    say("half done")
    for step in range(5):
        kit.progress(step / 10, f"step {step}")
    try:
        raise ValueError("no room\n  for it")
    except ValueError as reason:
        raise UnsupportedInput(f"The kernel cannot build this ({reason})", request["pointer"]) from reason


def crash_at_work(request: Json, kit: Kit) -> Json:
    kit.progress(0.25, "before")
    kit.progress(0.5, "at fault")
    return crash(request, kit)


def no_room(request: Json, kit: Kit) -> Json:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def crash(request: Json, kit: Kit) -> Json:
    raise ValueError("the kernel said no")


def leave(request: Json, kit: Kit) -> Json:
    sys.exit(0)


def vanish(request: Json, kit: Kit) -> Json:
    """Ends with status 0 and no result."""
    os._exit(0)


def die(request: Json, kit: Kit) -> Json:
    os.kill(os.getpid(), signal.SIGSEGV)
    return {}


def noise(request: Json, kit: Kit) -> Json:
    """What C and C++ libraries do to stdout."""
    libc = ctypes.CDLL(None)
    libc.puts(b'{"fraction": 1, "operation": "forged"}')
    os.write(1, b"raw \xff bytes\n")
    return {"ok": True}


def surroundings(request: Json, kit: Kit) -> Json:
    limits = {
        name: resource.getrlimit(getattr(resource, name))[0]
        for name in dir(resource)
        if name.startswith("RLIMIT_")
    }
    os.umask(mask := os.umask(0))
    names = os.listdir("/proc/self/fd")
    return {
        "environment": dict(os.environ),
        "descriptors": {
            name: os.readlink(f"/proc/self/fd/{name}")
            for name in names
            if os.path.exists(f"/proc/self/fd/{name}")
        },
        "directory": os.getcwd(),
        "umask": mask,
        "stdin": os.read(0, 1).decode(),
        "session": os.getsid(0) == os.getpid(),
        "limits": limits,
        "threads": len(os.listdir("/proc/self/task")),
        "foreign": sorted({"asyncio", "grpc", "numpy", "sqlite3"} & set(sys.modules)),
        "status": open("/proc/self/status").read(),
        "visible": os.path.exists(f"/proc/{request.get('daemon', 0)}"),
    }


def draw(request: Json, kit: Kit) -> Json:
    values = [random.random()]
    if "numpy" in sys.modules:
        values.append(float(sys.modules["numpy"].random.random()))
    return {"values": values}


def wait(request: Json, kit: Kit) -> Json:
    say("waiting")
    time.sleep(600)
    return {}


def stubborn(request: Json, kit: Kit) -> Json:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return wait(request, kit)


def finish_on_term(request: Json, kit: Kit) -> Json:
    """Completes when it is asked to stop."""
    asked = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: asked.set())
    say("waiting")
    asked.wait(600)
    return {"late": True}


def escape(request: Json, kit: Kit) -> Json:
    """Leaves a process behind that nothing but ancestry ties to the run; ends as ``then`` says."""
    for token in request["tokens"]:
        _escape(token, hold_output=request.get("hold", False))
    say("escaped")
    then = request["then"]
    if then == "wait":
        time.sleep(600)
    if then == "fail":
        raise ValueError("on purpose")
    return {"done": True}


def _escape(token: str, *, hold_output: bool) -> None:
    """Double fork, new session, empty environment, TERM ignored."""
    ready, tell = os.pipe()
    if os.fork():
        os.close(tell)
        os.read(ready, 1)
        os.close(ready)
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.chdir("/")
    if not hold_output:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
    os.execve("/bin/sleep", ["sleep", token], {})


def family(request: Json, kit: Kit) -> Json:
    """A tree of ordinary children that is still there when the run is stopped."""
    for token in request["tokens"]:
        subprocess.Popen(["sh", "-c", f"sleep {token} & wait"])
    say("waiting")
    time.sleep(600)
    return {}


def flood(request: Json, kit: Kit) -> Json:
    """Writes ``count`` times ``text`` to stdout."""
    block = request["text"].encode() * request["count"]
    total = 0
    for _ in range(request["times"]):
        view = memoryview(block)
        while view:
            view = view[os.write(1, view) :]
        total += len(block)
    return {"written": total}


def yes(request: Json, kit: Kit) -> Json:
    os.write(1, b"flooding\n")
    os.execvp("yes", ["yes"])


def forge(request: Json, kit: Kit) -> Json:
    """Writes rubbish where progress goes."""
    links = {name: os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")}
    report = next(int(name) for name, link in links.items() if int(name) > 2 and "pipe:" in link)
    for line in (
        b"\xff\xfe\n",
        b"[1]\n",
        b'{"fraction": NaN, "operation": "x"}\n',
        b'{"fraction": true, "operation": "x"}\n',
        b"[" * 100_000 + b"\n",
    ):
        os.write(report, line)
    kit.progress(7.0, "clamped")
    return {}


def progress_flood(request: Json, kit: Kit) -> Json:
    for index in range(50_000):
        kit.progress(index / 50_000, "step")
    kit.progress(1.0, "end")
    return {}


def fill_memory(request: Json, kit: Kit) -> Json:
    return {"size": len(bytearray(4 * 1024**3))}


def fill_disk(request: Json, kit: Kit) -> Json:
    (kit.directory / "big").write_bytes(b"x" * 3_000_000)
    return {}
