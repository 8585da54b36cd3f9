"""Writes for ever from twenty tasks and reports each answer on stdout, until it is killed."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from schemaxis_server.store.database import Database, Transaction
from schemaxis_server.store.objects import ObjectStore
from schemaxis_server.store.records import TASKS


def encode(sequence: int, time: float, event: object) -> bytes:
    return f"{sequence}:{event}".encode()


async def write(database: Database, objects: ObjectStore, directory: Path, name: str) -> None:
    number = 0
    while True:
        number += 1
        id = f"{name}-{number}"

        def unit(tx: Transaction, id: str = id) -> int:
            TASKS.put(tx.connection, id, b"{}")
            tx.count("tasks", 1)
            tx.append(name, id)
            return tx.append("shared", id)

        sequence = await database.write(unit)
        report = f"record {id} {sequence}\n"
        if number % 10 == 0:
            source = directory / f"{name}.source"
            source.write_bytes(id.encode() * 1000)
            receipt = await objects.add(source)
            report += f"object {receipt.sha256} {receipt.size_bytes} {receipt.pieces_digest}\n"
        os.write(1, report.encode())


async def main(directory: Path) -> None:
    database = Database.open(directory, encode_event=encode)
    objects = ObjectStore(directory / "objects")
    await asyncio.gather(*(write(database, objects, directory, f"w{number}") for number in range(20)))


asyncio.run(main(Path(sys.argv[1])))
