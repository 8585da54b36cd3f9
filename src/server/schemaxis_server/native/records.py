"""Notes of the processes that were started, for the sweep of a later life.

One small JSON file a process in the runtime directory: pid, start time, and the boot they belong
to. They need no fsync: no process outlives what would lose them.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from schemaxis_server.native import procfs

_PATTERN = "process-*.json"


@dataclass(frozen=True, slots=True)
class Record:
    """``name`` is the host's; ``path`` the file that holds this record; ``marker`` that of the workspace."""

    path: Path
    name: str
    marker: str
    pid: int
    started: int
    boot: str


def current_boot() -> str:
    """The id of this boot of the machine; pids and start times mean nothing in another."""
    return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()


def write(directory: Path, name: str, marker: str, process: procfs.Process) -> Path:
    """Record a process; returns the file, which the caller removes after its end."""
    path = directory / f"process-{process.pid}.json"
    partial = path.with_suffix(".part")
    entry = {
        "name": name,
        "marker": marker,
        "pid": process.pid,
        "started": process.started,
        "boot": current_boot(),
    }
    partial.write_text(json.dumps(entry), "ascii")
    os.replace(partial, path)
    return path


def read_all(directory: Path) -> list[Record]:
    """All records; one that cannot be read is passed over, since the marker finds its process too."""
    found: list[Record] = []
    for path in sorted(directory.glob(_PATTERN)):
        try:
            entry = json.loads(path.read_text("ascii"))
            record = Record(
                path,
                str(entry["name"]),
                str(entry["marker"]),
                int(entry["pid"]),
                int(entry["started"]),
                str(entry["boot"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            continue
        found.append(record)
    return found
