"""Jobs as last read or changed, so that asking for the same one again costs no query.

After a wake-up the processor's caches are cold, and a query of 5 µs costs the answer ten times
that. The commit that changes a job, or appends to its events, renews it here before anybody is
answered: a reader never sees less than it was told.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from msgspec.structs import replace

from schemaxis_server.execution.records import Job
from schemaxis_server.store.database import Database

_KEPT = 1024


class JobCache:
    """The jobs that were read or changed most recently, each with its latest event's sequence."""

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
                self._keep(job_id, job)
        return job

    def _changed(self, tails: dict[str, int], told: dict[str, object]) -> None:
        with self._lock:
            self._commits += 1
            for job_id, tail in tails.items():
                job = told.get(job_id) or self._kept.get(job_id)
                if isinstance(job, Job):
                    self._keep(job_id, replace(job, last_sequence=tail))

    def _keep(self, job_id: str, job: Job) -> None:
        self._kept[job_id] = job
        self._kept.move_to_end(job_id)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
