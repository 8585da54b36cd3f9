"""A client that replays a job's events until it is ended, in a process of its own.

In the measuring process it would contend for that one's interpreter lock, and the figure would
be the client's.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import grpc
from schemaxis.v1 import job_pb2, job_pb2_grpc

from bench.serving import CHANNEL


@contextmanager
def replaying(socket: str, job_id: str) -> Iterator[None]:
    """Replay ``job_id`` again and again while the block runs, from its first whole replay on."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.replaying", socket, job_id], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        if not process.stdout.readline():
            raise RuntimeError("the replaying client ended early")
        yield
        if process.poll() is not None:
            raise RuntimeError("the replaying client ended while it was needed")
    finally:
        process.kill()
        process.wait()


def _replay(socket: str, job_id: str) -> None:
    stub = job_pb2_grpc.JobServiceStub(grpc.insecure_channel(f"unix:{socket}", options=CHANNEL))
    told = False
    while True:
        for _ in stub.WatchJob(job_pb2.WatchJobRequest(job_id=job_id)):
            pass
        if not told:
            print("replayed", flush=True)
            told = True


if __name__ == "__main__":
    _replay(sys.argv[1], sys.argv[2])
