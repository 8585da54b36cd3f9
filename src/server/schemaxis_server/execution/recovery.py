"""Opening a workspace after an unclean exit: what was unfinished is told to be interrupted.

Nothing is resumed and nothing is repeated. What an attempt left behind stays observable,
marked partial; nothing that it published becomes a resource.
"""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from schemaxis_server.execution.hosts import MAX_RESULT_BYTES
from schemaxis_server.execution.ledger import JOB_SHELF, PLAN_SHELF, TASK_SHELF
from schemaxis_server.execution.records import FaultView, Job, JobState, NativeState
from schemaxis_server.execution.transitions import Ending, finish
from schemaxis_server.store.damage import Corrupt
from schemaxis_server.store.database import Database, Transaction
from schemaxis_server.store.files import read_regular

log = logging.getLogger(__name__)


def recover(database: Database, jobs_directory: Path) -> int:
    """End every unfinished job as interrupted; returns how many there were."""
    rows = database.reader.execute("SELECT id FROM jobs WHERE unfinished = 1").fetchall()
    for (job_id,) in rows:
        try:
            database.write_blocking(partial(_interrupt, job_id=job_id, jobs_directory=jobs_directory))
        except Corrupt as damage:
            # It was set aside and named; the rest of the workspace is usable.
            log.error("an unfinished job is damaged", extra={"job": job_id, "problem": damage.reason})
    if rows:
        log.warning("unfinished jobs were interrupted", extra={"jobs": len(rows)})
    return len(rows)


def _interrupt(tx: Transaction, *, job_id: str, jobs_directory: Path) -> Job:
    job = JOB_SHELF.get(tx.connection, job_id)
    started = job.native_state is not NativeState.NOT_STARTED or (jobs_directory / job_id).is_dir()
    fault = FaultView(
        code="INTERRUPTED",
        message=(
            "The service stopped while the job was "
            f"{job.state}; its native state is {'unknown' if started else 'not-started'}. "
            "Execute the plan again if budget is left."
        ),
        retryable=True,
    )
    return finish(
        tx,
        job_id,
        Ending(
            state=JobState.INTERRUPTED,
            fault=fault,
            engine_started=started,
            elapsed_seconds=_charged(tx, job),
            sections={"result": _partial(tx, job, jobs_directory / job_id)},
        ),
    )


def _charged(tx: Transaction, job: Job) -> float:
    """Seconds from the job's start to its last event: what is known to have been spent.

    The clock may have been set between the two, so it is no more than an attempt may take.
    """
    if job.start_time is None:
        return 0.0
    rows = tx.connection.execute("SELECT time FROM streams WHERE stream = ?", (job.job_id,)).fetchall()
    spent = max(0.0, rows[0][0] - job.start_time.timestamp()) if rows else 0.0
    try:
        return min(spent, TASK_SHELF.get(tx.connection, job.task_id).budget.max_attempt_seconds)
    except Corrupt:
        return spent


def _partial(tx: Transaction, job: Job, directory: Path) -> dict[str, Any]:
    """What the operations had reported by then, as far as it can be read."""
    outputs: dict[str, Any] = {}
    try:
        operations = PLAN_SHELF.get(tx.connection, job.plan_id).operations
    except Corrupt:
        operations = ()
    for operation in operations:
        path = directory / operation.operation_id / "result.json"
        try:
            text = read_regular(path, MAX_RESULT_BYTES)
            reported = msgspec.json.decode(text, type=dict[str, Any]).get("outputs")
        except (OSError, msgspec.DecodeError, RecursionError):
            continue
        outputs.update(reported if isinstance(reported, dict) else {})
    return {"outputs": outputs}
