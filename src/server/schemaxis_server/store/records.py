"""Record tables: bodies under a checksum, listed by keyset pages, counted without counting."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import Any

from schemaxis_server.faults import Fault
from schemaxis_server.store.connection import Connection, is_damage
from schemaxis_server.store.damage import Corrupt, seal

Column = str | int | None

PAGE_BYTES = 3 * 1024 * 1024
"""Bodies on a page. As messages they take no more, and a message has 4 MiB."""


@dataclass(frozen=True, slots=True)
class RecordPage:
    """One page of a list. ``records`` are bodies. ``damaged`` are the ids of records that were
    left out because their stored bytes are not what was written. ``next_after`` is the ``after_id``
    of the next page, None at the end."""

    records: tuple[bytes, ...]
    damaged: tuple[str, ...]
    next_after: str | None


class RecordTable:
    """Access to one record table. A body is whatever bytes its owner encodes, JSON as a rule;
    ``columns`` are copies of what lists can select by."""

    def __init__(self, name: str, columns: tuple[str, ...] = ()) -> None:
        self.name = name
        self.columns = columns
        names = ("id", *columns, "body", "checksum")
        updates = ", ".join(f"{column} = excluded.{column}" for column in names[1:])
        self._get = f"SELECT body, checksum FROM {name} WHERE id = ?"
        self._get_with_tail = (
            f"SELECT body, checksum, (SELECT tail FROM streams WHERE stream = ?1) FROM {name} WHERE id = ?1"
        )
        self._put = (
            f"INSERT INTO {name} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))}) "
            f"ON CONFLICT (id) DO UPDATE SET {updates}"
        )

    def get(self, connection: Connection, id: str) -> bytes | None:
        """The record's body, or None if there is no such record.

        Raises :class:`Corrupt` for a damaged one, and has it set aside.
        """
        row = self._row(connection, self._get, id)
        return None if row is None else row[0]

    def get_with_tail(self, connection: Connection, id: str) -> tuple[bytes, int] | None:
        """The record's body and the last sequence of the event stream of its id, as of one instant.

        The sequence is 0 without events. Otherwise like :meth:`get`, and costs hardly more.
        """
        row = self._row(connection, self._get_with_tail, id)
        return None if row is None else (row[0], row[2] or 0)

    def _row(self, connection: Connection, query: str, id: str) -> tuple[Any, ...] | None:
        """The row of ``id``, body and checksum first, once its checksum holds."""
        try:
            rows = connection.rows(query, (id,))
        except Fault as fault:
            if not is_damage(fault.__cause__):
                raise
            raise self._damaged(connection, id, f"its page is damaged: {fault.__cause__}") from fault
        if not rows:
            return None
        row: tuple[Any, ...] = rows[0]
        if not self._sound(id, row[0], row[1]):
            raise self._damaged(connection, id, "checksum does not match")
        return row

    def put(self, connection: Connection, id: str, body: bytes, **columns: Column) -> None:
        """Insert the record or replace it. Every column of the table is given each time."""
        if set(columns) != set(self.columns):
            raise TypeError(f"{self.name} takes the columns {self.columns}, not {tuple(columns)}")
        values = [columns[column] for column in self.columns]
        connection.execute(self._put, (id, *values, body, seal(self.name, id, body)))

    def page(
        self,
        connection: Connection,
        *,
        after_id: str | None = None,
        limit: int = 50,
        newest_first: bool = True,
        **where: Column,
    ) -> RecordPage:
        """At most ``limit`` records behind ``after_id``, by creation, whose columns equal ``where``;
        fewer where their bodies come to more than ``PAGE_BYTES``, one at least.

        Costs what the page costs, however long the list. Raises ``Fault("OUT_OF_RANGE")`` if
        ``after_id`` names no record.
        """
        unknown = set(where) - set(self.columns)
        if unknown:
            raise TypeError(f"{self.name} has no columns {sorted(unknown)}")
        conditions = [
            f"{column} IS ?" if value is None else f"{column} = ?" for column, value in where.items()
        ]
        values: list[Column] = list(where.values())
        if after_id is not None:
            conditions.append(f"position {'<' if newest_first else '>'} ?")
            values.append(self._position(connection, after_id))
        query = (
            f"SELECT id, body, checksum FROM {self.name} "
            + (f"WHERE {' AND '.join(conditions)} " if conditions else "")
            + f"ORDER BY position {'DESC' if newest_first else 'ASC'} LIMIT ?"
        )
        records: list[bytes] = []
        damaged: list[str] = []
        size, last = 0, ""
        with closing(connection.execute(query, (*values, limit + 1))) as rows:
            for id, body, checksum in rows:
                size += len(body) if isinstance(body, bytes) else 0
                if last and (size > PAGE_BYTES or len(records) + len(damaged) == limit):
                    return RecordPage(tuple(records), tuple(damaged), last)
                last = id
                if self._sound(id, body, checksum):
                    records.append(body)
                else:
                    self._damaged(connection, id, "checksum does not match")
                    damaged.append(id)
        return RecordPage(tuple(records), tuple(damaged), None)

    def _position(self, connection: Connection, id: str) -> int:
        rows = connection.rows(f"SELECT position FROM {self.name} WHERE id = ?", (id,))
        if not rows:
            raise Fault(
                "OUT_OF_RANGE",
                f"The page cursor names {id}, which is not among the {self.name}. Start the list anew.",
            )
        position: int = rows[0][0]
        return position

    def _sound(self, id: str, body: object, checksum: object) -> bool:
        return isinstance(body, bytes) and seal(self.name, id, body) == checksum

    def _damaged(self, connection: Connection, id: str, reason: str) -> Corrupt:
        if connection.report is not None:
            connection.report(self.name, id, reason)
        return Corrupt(self.name, id, reason)


TASKS = RecordTable("tasks")
PLANS = RecordTable("plans", ("task_id",))
JOBS = RecordTable("jobs", ("task_id", "plan_id", "state", "unfinished"))
RESOURCES = RecordTable("resources", ("job_id", "state"))

EVIDENCE = RecordTable("evidence", ("job_id",))

RECORD_TABLES = (TASKS, PLANS, JOBS, RESOURCES, EVIDENCE)


def count(connection: Connection, name: str) -> int:
    """A kept total; 0 if nothing was counted under that name. It is changed by ``Transaction.count``."""
    rows = connection.rows("SELECT value FROM counts WHERE name = ?", (name,))
    return rows[0][0] if rows else 0
