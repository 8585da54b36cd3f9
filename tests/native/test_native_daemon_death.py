"""After ``kill -9`` of the daemon nothing that it started lives on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from schemaxis_server.native import procfs

from native.watching import eventually, fresh_token, living


def start_daemon(
    directory: Path, namespaces: bool, entry: str, preload: str, tokens: list[str]
) -> subprocess.Popen[str]:
    request = json.dumps({"tokens": tokens, "then": "wait"})
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = [str(directory), str(namespaces), entry, preload, request]
    daemon = subprocess.Popen(
        [sys.executable, "-m", "native.daemon_program", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert daemon.stdout is not None
    assert daemon.stdout.readline() == "ready\n"
    return daemon


@pytest.mark.parametrize("preload", ["", "native.hanging_engine"], ids=["running", "loading"])
def test_a_killed_daemon_takes_all_with_it(tmp_path: Path, namespaces: bool, preload: str) -> None:
    tokens = [fresh_token(), fresh_token()]
    daemon = start_daemon(tmp_path, namespaces, "native.host_entries:escape", preload, tokens)
    below = procfs.descendants([daemon.pid])
    escaped = [pid for token in tokens for pid in living(token)]
    assert len(below) >= (1 if preload else 3)
    assert len(escaped) == (0 if preload else 2)
    daemon.kill()
    daemon.communicate()

    def left() -> list[procfs.Process]:
        found = [(then, procfs.look(then.pid)) for then in below]
        return [now for then, now in found if now is not None and then.same(now) and now.alive]

    assert eventually(lambda: not left() and not any(living(token) for token in tokens), 2), left()
