"""A program that behaves at its start as its first argument says, with a service in memory behind it."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).parents[1]))


def say(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def refuse(code: str) -> NoReturn:
    fault = {
        "code": code,
        "message": f"{code}: do something else.",
        "retryable": True,
        "pointer": "",
        "details": {"holder": 1},
    }
    say({"event": "refused", "fault": fault})
    sys.exit(1)


def serve(workspace: Path) -> None:
    # Here, so that the other manners answer fast.
    from client.model_service import ModelService

    workspace.mkdir(exist_ok=True)
    with (workspace / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            refuse("WORKSPACE_LOCKED")
        (workspace / "starts").open("a").write(f"{os.getpid()}\n")
        (workspace / "schemaxis.sock").unlink(missing_ok=True)
        service = ModelService(workspace / "schemaxis.sock")
        service.start()
        sys.stderr.write('{"level":"info","message":"serving"}\n')
        say(
            {
                "event": "ready",
                "socket": str(service.socket),
                "pid": os.getpid(),
                "workspaceId": "ws_1",
            }
        )
        while sys.stdin.buffer.read(65_536):
            pass
        service.stop()


def main() -> None:
    manner, workspace = sys.argv[1], Path(sys.argv[sys.argv.index("--workspace") + 1])
    assert "--until-stdin-closes" in sys.argv
    match manner:
        case "serve":
            serve(workspace)
        case "refuse":
            refuse("WORKSPACE_CORRUPT")
        case "locked":
            refuse("WORKSPACE_LOCKED")
        case "die":
            sys.stderr.write("the disk fell off\n")
            sys.exit(3)
        case "silent":
            sys.stdin.buffer.read()
        case "stubborn":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            say({"event": "ready", "socket": "/nowhere", "pid": os.getpid(), "workspaceId": "ws_1"})
            while True:
                signal.pause()
        case "chatty":
            sys.stdout.write("x" * 100_000)
            sys.stdout.flush()
            sys.stdin.buffer.read()
        case "nonsense":
            say(["no", "event"])
            sys.stdin.buffer.read()
        case "noisy":
            sys.stderr.write("y" * 2_000_000 + "\nthe end\n")
            sys.stderr.flush()
            serve(workspace)


main()
