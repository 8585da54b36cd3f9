"""Jobs as last read, so that asking for the same one again costs no query.

After a wake-up the processor's caches are cold, and a query of 5 µs costs the answer ten times
that. Every change of a job comes with an event, and the commit that writes it drops the job
from here before anybody is answered: a reader never sees less than it was told.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from schemaxis_server.execution.records import Job
from schemaxis_server.store.database import Database

_KEPT = 1024


class JobCache:
    """The jobs that were read most recently, each with its latest event's sequence."""

    def __init__(self, database: Database, read: Callable[[str], Job]) -> None:
        self._read = read
        self._lock = Lock()
        self._kept: OrderedDict[str, Job] = OrderedDict()
        self._commits = 0
        database.on_commit(self._changed)

    def get(self, job_id: str) -> Job:
        """The job as it is now. Raises what reading it raises."""
        with self._lock:
            job = self._kept.get(job_id)
            if job is not None:
                self._kept.move_to_end(job_id)
                return job
            commits = self._commits
        job = self._read(job_id)
        with self._lock:
            # What was read before a commit that came meanwhile may be old already.
            if commits == self._commits:
                self._kept[job_id] = job
                if len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
        return job

    def _changed(self, job_ids: set[str]) -> None:
        with self._lock:
            self._commits += 1
            for job_id in job_ids:
                self._kept.pop(job_id, None)
