"""The log of a server is passed on, and a reader that never comes holds nobody up."""

from __future__ import annotations

import os
import re
import select
import threading
import time

from schemaxis.bridge.logs import LogForwarder


def test_what_is_read_is_passed_on_whole() -> None:
    ours, theirs = os.pipe()
    forwarder = LogForwarder(theirs)
    os.write(forwarder.descriptor, b'{"message":"ready"}\n')
    forwarder.close()
    os.close(theirs)
    assert os.read(ours, 65536) == b'{"message":"ready"}\n'
    os.close(ours)


def test_a_log_that_nobody_reads_does_not_stop_the_server() -> None:
    ours, theirs = os.pipe()
    forwarder = LogForwarder(theirs)
    server = threading.Thread(
        target=lambda: [os.write(forwarder.descriptor, b"x" * 1024) for _ in range(4096)], daemon=True
    )
    server.start()
    server.join(20)
    assert not server.is_alive()
    received = b""
    # Until it stands still the forwarder fills the room that is made here.
    while select.select([ours], [], [], 0.5)[0]:
        received += os.read(ours, 1024 * 1024)
    os.write(forwarder.descriptor, b"later\n")
    forwarder.close()
    os.close(theirs)
    while chunk := os.read(ours, 65536):
        received += chunk
    os.close(ours)
    assert b"bytes of log were dropped" in received
    assert received.endswith(b"later\n")


def test_every_byte_arrives_or_is_counted() -> None:
    ours, theirs = os.pipe()
    forwarder = LogForwarder(theirs)
    sent, received = 0, b""
    for size in (200_000, 1, 70_000, 4096, 100_000, 5000):
        os.write(forwarder.descriptor, b"x" * size)
        sent += size
        # Until it stands still the forwarder may put more behind what is read here.
        time.sleep(0.05)
        received += os.read(ours, 1024 * 1024)
    forwarder.close()
    os.close(theirs)
    while chunk := os.read(ours, 65536):
        received += chunk
    os.close(ours)
    note = re.compile(rb"\n\[(\d+) bytes of log were dropped, since nobody read them\]\n")
    dropped = sum(int(count) for count in note.findall(received))
    assert dropped > 0
    assert received.count(b"x") + dropped == sent
    assert set(note.sub(b"", received)) == set(b"x")


def test_a_closed_target_does_not_stop_the_server() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    forwarder = LogForwarder(theirs)
    for _ in range(1024):
        os.write(forwarder.descriptor, b"x" * 1024)
    forwarder.close()
    os.close(theirs)
