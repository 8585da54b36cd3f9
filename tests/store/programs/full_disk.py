"""Meets a file system that takes no more, by a limit on the size of files, and goes on when it is lifted."""

from __future__ import annotations

import asyncio
import resource
import sys
from pathlib import Path

from schemaxis_server.faults import Fault
from schemaxis_server.store.database import Database, Transaction
from schemaxis_server.store.files import write_durably, write_immutable
from schemaxis_server.store.objects import ObjectStore
from schemaxis_server.store.records import TASKS

LIMIT = 600_000


def limit_files(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


async def write(database: Database, id: str, size: int) -> None:
    def unit(tx: Transaction) -> None:
        TASKS.put(tx.connection, id, bytes(size))
        tx.append("s", id)

    await database.write(unit)


def temporary_files(directory: Path) -> list[Path]:
    return list(directory.rglob("*.tmp"))


async def main(directory: Path) -> None:
    database = Database.open(directory, encode_event=lambda sequence, time, event: b"data")
    objects = ObjectStore(directory / "objects")
    source = directory / "source"
    source.write_bytes(bytes(2 * LIMIT))
    target = directory / "target"
    write_durably(target, b"before")

    limit_files(LIMIT)
    codes: list[str] = []
    try:
        await write(database, "large", 2 * LIMIT)
    except Fault as fault:
        codes.append(fault.code)
    try:
        await objects.add(source)
    except Fault as fault:
        codes.append(fault.code)
    for put in (write_durably, write_immutable):
        try:
            put(target if put is write_durably else directory / "new", bytes(2 * LIMIT))
        except Fault as fault:
            codes.append(fault.code)
    assert codes == ["STORAGE_FULL"] * 4, codes
    assert target.read_bytes() == b"before"
    assert not (directory / "new").exists()
    assert temporary_files(directory) == []
    assert TASKS.get(database.reader, "large") is None
    assert database.events.tail("s") == 0
    await write(database, "small", 10)

    limit_files(resource.RLIM_INFINITY)
    await write(database, "large", 2 * LIMIT)
    await objects.verify(await objects.add(source))
    assert database.events.tail("s") == 2
    database.close()
    objects.close()
    print("recovered")  # noqa: T201 - the program's answer


asyncio.run(main(Path(sys.argv[1])))
