"""A daemon of its own process, to be killed: runs the given host and reports when it works.

``daemon_program.py <directory> <namespaces> <entry> <preload> <request>``
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from schemaxis_server.native.contract import HostProgram
from schemaxis_server.native.pool import HostPool

from native.watching import Job, until


async def main() -> None:
    directory, namespaces, entry, preload, request = sys.argv[1:]
    host = HostProgram("test", entry, tuple(filter(None, [preload])))
    pool = HostPool(Path(directory) / "run", "daemon", namespaces=namespaces == "True")
    job = Job(Path(directory) / "job", host, json.loads(request))
    running = job.begin(pool)
    if preload:
        log = Path(directory) / "run" / "host-test.log"
        await until(lambda: log.exists() and b"loading" in log.read_bytes())
    else:
        await job.listener.line("escaped")
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await running


if __name__ == "__main__":
    asyncio.run(main())
