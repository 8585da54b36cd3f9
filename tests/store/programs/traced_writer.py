"""Does one of everything that must survive a power cut, and says on stdout when it is answered."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from schemaxis_server.store.database import Database, Transaction
from schemaxis_server.store.files import write_immutable
from schemaxis_server.store.objects import ObjectStore
from schemaxis_server.store.records import TASKS


def say(word: str) -> None:
    os.write(1, f"<{word}>\n".encode())


def unit(tx: Transaction) -> None:
    TASKS.put(tx.connection, "t", bytes(20_000))
    tx.append("s", "event")


async def main(directory: Path) -> None:
    say("open")
    database = Database.open(directory, encode_event=lambda sequence, time, event: b"data")
    say("opened")
    objects = ObjectStore(directory / "objects")
    (directory / "plans").mkdir()
    source = directory / "source"
    source.write_bytes(bytes(600_000))
    say("write")
    await database.write(unit)
    say("written")
    await objects.add(source)
    say("added")
    write_immutable(directory / "plans" / "p.json", b"{}")
    say("planned")
    database.close()
    objects.close()


asyncio.run(main(Path(sys.argv[1])))
