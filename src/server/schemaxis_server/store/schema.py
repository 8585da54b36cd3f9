"""The numbered migrations and the version that a database file is at."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources

APPLICATION_ID = 0x53435841
"""Written into the file's header, so that another program's database is told apart."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema. ``version`` counts from 1 without a gap."""

    version: int
    script: str


def migrations() -> tuple[Migration, ...]:
    """All migrations in order, read from the package's ``migrations/NNNN_*.sql``."""
    folder = resources.files("schemaxis_server.store") / "migrations"
    files = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda e: e.name)
    steps = tuple(Migration(int(entry.name[:4]), entry.read_text("utf-8")) for entry in files)
    if [step.version for step in steps] != list(range(1, len(steps) + 1)):
        raise RuntimeError(
            f"the migrations are not numbered from 1 without a gap: {[s.version for s in steps]}"
        )
    return steps


def version_of(connection: sqlite3.Connection) -> int:
    """The schema version that the file says it is at; 0 for an empty one."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def migrate(connection: sqlite3.Connection, steps: tuple[Migration, ...]) -> None:
    """Bring the database to the last of ``steps``, each in a transaction of its own."""
    for step in steps[version_of(connection) :]:
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement in _statements(step.script):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {step.version}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _statements(script: str) -> Iterator[str]:
    # Connection.executescript commits before it starts, which would tear a migration apart.
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if any(line.strip() and not line.lstrip().startswith("--") for line in statement.splitlines()):
        raise RuntimeError(f"a migration ends within a statement: {statement.strip()[:80]!r}")
