"""Opening: a damaged, foreign or lost database is refused in words, and never replaced by an empty one."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from schemaxis_server.faults import Fault
from schemaxis_server.store import opening
from schemaxis_server.store.connection import connect
from schemaxis_server.store.database import Database, Transaction
from schemaxis_server.store.records import TASKS
from schemaxis_server.store.schema import Migration, migrate, migrations, version_of


def encode(sequence: int, time: float, event: object) -> bytes:
    return b""


@pytest.fixture
def used(directory: Path) -> Path:
    """A workspace that was in use and is closed; returns its database file."""
    database = Database.open(directory, encode_event=encode)
    database.write_blocking(fill)
    database.close()
    return directory / "schemaxis.db"


def fill(tx: Transaction) -> None:
    for number in range(50):
        TASKS.put(tx.connection, f"t{number}", bytes(500))


def refusal(directory: Path) -> Fault:
    before = snapshot(directory)
    with pytest.raises(Fault) as refused:
        Database.open(directory, encode_event=encode)
    assert snapshot(directory) == before, "a refused workspace was changed"
    return refused.value


def snapshot(directory: Path) -> dict[str, bytes | None]:
    # SQLite keeps its shared-memory index there while it looks; it holds nothing.
    return {
        path.name: path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in directory.glob("*")
        if not path.name.endswith("-shm")
    }


def test_a_workspace_keeps_its_id_and_its_records(reopen: Callable[[], Database], directory: Path) -> None:
    first = reopen()
    first.write_blocking(lambda tx: TASKS.put(tx.connection, "t", b"body"))
    id = first.workspace_id
    again = reopen()
    assert again.workspace_id == id
    assert TASKS.get(again.reader, "t") == b"body"
    assert directory.stat().st_mode & 0o777 == 0o700
    assert (directory / "schemaxis.db").stat().st_mode & 0o777 == 0o600


def empty(path: Path) -> None:
    path.write_bytes(b"")


def nul(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def text(path: Path) -> None:
    path.write_bytes(b"# my notes\n" * 1000)


def short_header(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:60])


def half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def removed(path: Path) -> None:
    path.unlink()


def a_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))
    path.symlink_to("elsewhere.db")


def foreign(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE songs (name TEXT)")
    connection.close()


def newer(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def scrambled_root(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[100:4096] = os.urandom(3996)
    path.write_bytes(content)


def another_workspace(path: Path) -> None:
    other = path.parent.parent / "other"
    Database.open(other, encode_event=encode).close()
    shutil.copy(other / "schemaxis.db", path)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (empty, "is empty"),
        (nul, "NUL bytes"),
        (text, "not a database"),
        (short_header, "not a database"),
        (half, "is cut short"),
        (removed, "is missing"),
        (a_directory, "not a regular file"),
        (a_link, "not a regular file"),
        (foreign, "another program"),
        (newer, "newer schemaxis"),
        (scrambled_root, "damaged"),
        (another_workspace, "another workspace"),
    ],
)
def test_damage_is_refused_in_words(used: Path, damage: Callable[[Path], None], words: str) -> None:
    damage(used)
    fault = refusal(used.parent)
    assert fault.code == "WORKSPACE_CORRUPT"
    assert words in fault.record.message
    assert str(used) in fault.record.message


@pytest.mark.parametrize("sign", ["plans/p.json", "jobs/j/result.json", "objects/ab/x", "schemaxis.db-wal"])
def test_a_lost_database_is_known_by_what_it_leaves(directory: Path, sign: str) -> None:
    (directory / sign).parent.mkdir(parents=True)
    (directory / sign).write_bytes(b"content")
    assert "is missing" in refusal(directory).record.message


def test_empty_folders_are_no_sign_of_a_database(directory: Path) -> None:
    for name in ("plans", "jobs", "objects"):
        (directory / name).mkdir(parents=True)
    Database.open(directory, encode_event=encode).close()


def test_an_interrupted_creation_is_begun_anew(directory: Path) -> None:
    directory.mkdir()
    (directory / "schemaxis.db.new").write_bytes(b"SQLite for")
    (directory / "schemaxis.db.new-journal").write_bytes(b"half")
    Database.open(directory, encode_event=encode).close()
    assert {path.name for path in directory.iterdir()} == {"schemaxis.db", "schemaxis.format"}


@pytest.mark.parametrize("content", [None, b"", b"\0\0\0", b"[]"])
def test_a_lost_marker_is_written_anew(used: Path, content: bytes | None) -> None:
    marker = used.with_name("schemaxis.format")
    before = marker.read_bytes()
    marker.unlink()
    if content is not None:
        marker.write_bytes(content)
    Database.open(used.parent, encode_event=encode).close()
    assert marker.read_bytes() == before


def test_a_damaged_page_is_a_fault_when_it_is_read(used: Path) -> None:
    content = bytearray(used.read_bytes())
    # Everything behind the schema: the trees of the tables and their indices.
    content[3 * 4096 :] = bytes(len(content) - 3 * 4096)
    used.write_bytes(content)
    with (
        pytest.raises(Fault) as refused,
        closing(Database.open(used.parent, encode_event=encode)) as database,
    ):
        TASKS.get(database.reader, "t7")
    assert refused.value.code == "WORKSPACE_CORRUPT"


def test_a_missing_parent_is_refused(directory: Path) -> None:
    with pytest.raises(Fault) as refused:
        Database.open(directory / "a" / "b", encode_event=encode)
    assert refused.value.code == "INVALID_REQUEST"


_OPEN_AS_NOBODY = """
import os, sys
from pathlib import Path
from schemaxis_server.faults import Fault
from schemaxis_server.store.database import Database, Transaction
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    Database.open(Path(sys.argv[1]), encode_event=lambda sequence, time, event: b"")
except Fault as fault:
    print(fault)
"""


@pytest.mark.parametrize("in_use", [False, True])
def test_a_read_only_directory_is_refused(directory: Path, tmp_path: Path, in_use: bool) -> None:
    if in_use:
        Database.open(directory, encode_event=encode).close()
    else:
        directory.mkdir()
    for path in (directory, tmp_path, *tmp_path.parents[:2]):
        path.chmod(0o555 if path == directory else 0o755)
    answer = subprocess.run(
        [sys.executable, "-c", _OPEN_AS_NOBODY, str(directory)], capture_output=True, text=True, check=True
    )
    assert answer.stdout.startswith("INVALID_REQUEST: ")
    assert "read-only" in answer.stdout
    directory.chmod(0o755)


def test_a_database_locked_by_another_program(used: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schemaxis_server.store.connection.BUSY_TIMEOUT_SECONDS", 0.05)
    other = sqlite3.connect(used, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    try:
        assert refusal(used.parent).code == "WORKSPACE_LOCKED"
    finally:
        other.close()


def test_an_older_schema_is_brought_up(directory: Path) -> None:
    directory.mkdir()
    path = directory / "schemaxis.db"
    path.touch()
    connection = connect(path, writes=True)
    steps = (
        *migrations(),
        Migration(
            len(migrations()) + 1, "CREATE TABLE more (a TEXT); -- a; b\nINSERT INTO more VALUES ('x;y');"
        ),
    )
    migrate(connection, migrations())
    migrate(connection, steps)
    assert connection.execute("SELECT a FROM more").fetchall() == [("x;y",)]
    assert version_of(connection) == len(steps)

    failing = (*steps, Migration(len(steps) + 1, "CREATE TABLE last (a TEXT);\nCREATE TABLE more (a TEXT);"))
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, failing)
    assert version_of(connection) == len(steps)
    assert connection.execute("SELECT name FROM sqlite_master WHERE name = 'last'").fetchall() == []
    connection.close()


def test_the_schema_that_is_shipped_matches_its_number() -> None:
    assert [step.version for step in migrations()] == list(range(1, len(migrations()) + 1))
    assert opening.DATABASE == "schemaxis.db"
