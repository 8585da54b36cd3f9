"""One running Octave: requests in, answers out, as binary doubles over pipes. Standard library only.

Octave runs the fixed scripts of ``scripts/`` and never a text from a document. What it says on its own
outputs, warnings among them, goes to this process's stderr. Its exit status is never asked: it is 0 after
many a failure. What counts are whole answers.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from schemaxis_server.native.hostkit import Kit, UnsupportedInput

PROGRAM_VARIABLE = "SCHEMAXIS_OCTAVE"
"""The environment variable that tells a host the path of ``octave-cli``."""

SCRIPTS = Path(__file__).with_name("scripts")

_ANSWERS_VARIABLE = "SCHEMAXIS_ANSWERS"
_FLAGS = (
    *("--norc", "--no-history", "--quiet", "--no-gui", "--no-window-system", "--no-line-editing"),
    *("--eval", "sx_serve"),
)
_MARK = 20241231.0
_DOUBLE = 8
_MOST_ARRAYS = 64
_MOST_DOUBLES = 16_000_000
_START_SECONDS = 60.0
_CHUNK = 1 << 16

Argument = str | float | Sequence[float]


class OctaveFailed(Exception):
    """Octave ended, or answered something that is no answer; the message says what is known."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The results of an operation, and warnings, Octave's own among them."""

    results: list[array[float]]
    warnings: list[str]


class Session:
    """An Octave that waits for requests. Raises ``OctaveFailed`` if it does not come up.

    ``folders`` hold the scripts; a test adds one with operations of its own.
    """

    def __init__(self, program: str, folders: Sequence[Path] = (SCRIPTS,)) -> None:
        paths = [part for folder in folders for part in ("--path", str(folder))]
        self._answers, answers = os.pipe()
        self._said, said = os.pipe()
        self.version = ""
        try:
            self._process = subprocess.Popen(  # noqa: S603, RUF100
                [program, *paths, *_FLAGS],
                stdin=subprocess.PIPE,
                stdout=said,
                stderr=said,
                pass_fds=(answers,),
                env={**os.environ, _ANSWERS_VARIABLE: str(answers)},
                bufsize=0,
            )
        except BaseException:
            os.close(self._answers)
            os.close(self._said)
            raise
        finally:
            os.close(answers)
            os.close(said)
        assert self._process.stdin is not None
        self._requests = self._process.stdin.fileno()
        for descriptor in (self._answers, self._said, self._requests):
            os.set_blocking(descriptor, False)
        try:
            _, version = self._exchange(b"", time.monotonic() + _START_SECONDS)
        except BaseException:
            self.close()
            raise
        self.version = _text(version)

    @property
    def pid(self) -> int:
        return self._process.pid

    def alive(self) -> bool:
        return self._process.poll() is None

    def call(self, operation: str, *arguments: Argument) -> Answer:
        """Run the script ``sx_op_<operation>``.

        A string goes as its bytes, a number as an array of one. Raises ``UnsupportedInput`` for what the
        script refuses, with a pointer relative to the node, and ``OctaveFailed``.
        """
        arrays = [_array(argument) for argument in (operation, *arguments)]
        head = array("d", [_MARK, len(arrays), *map(len, arrays)])
        kind, text, *results = self._exchange(b"".join(one.tobytes() for one in (head, *arrays)))
        said = _text(text)
        if list(kind) == [1.0]:
            pointer, _, message = said.partition("\n")
            raise UnsupportedInput(message, pointer)
        if list(kind) != [0.0]:
            raise OctaveFailed(f"{operation} failed in Octave: {said or 'it does not say why'}"[:500])
        return Answer(results, said.splitlines())

    def close(self) -> None:
        """End Octave at once; it has nothing to tidy up."""
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):
            self._listen()
        if self._process.stdin is not None:
            self._process.stdin.close()
        os.close(self._answers)
        os.close(self._said)

    def _exchange(self, request: bytes, until: float = float("inf")) -> list[array[float]]:
        """Send a request and wait for the whole of its answer."""
        answer = _Parts()
        left = memoryview(request)
        with selectors.DefaultSelector() as selector:
            selector.register(self._answers, selectors.EVENT_READ)
            selector.register(self._said, selectors.EVENT_READ)
            if left:
                selector.register(self._requests, selectors.EVENT_WRITE)
            while not answer.whole():
                wait = None if until == float("inf") else until - time.monotonic()
                if wait is not None and wait <= 0:
                    raise OctaveFailed(f"Octave was not ready within {_START_SECONDS:g} s.")
                for key, _ in selector.select(wait):
                    if key.fd == self._said:
                        if not self._listen():
                            selector.unregister(self._said)
                    elif key.fd == self._answers:
                        data = os.read(self._answers, _CHUNK)
                        if not data:
                            raise OctaveFailed(f"Octave ended before its answer was whole{self._how()}.")
                        answer.take(data)
                    else:
                        try:
                            left = left[os.write(self._requests, left[:_CHUNK]) :]
                        except BrokenPipeError:
                            left = left[:0]
                        if not left:
                            selector.unregister(self._requests)
        with contextlib.suppress(OSError):
            self._listen()
        return answer.arrays()

    def _listen(self) -> bool:
        """Pass on what Octave said; False once it can say no more."""
        try:
            data = os.read(self._said, _CHUNK)
        except BlockingIOError:
            return True
        if data:
            sys.stderr.write(data.decode("utf-8", "replace"))
        return bool(data)

    def _how(self) -> str:
        with contextlib.suppress(OSError):
            self._listen()
        try:
            status = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return ""
        if status < 0:
            return f" (signal {signal.Signals(-status).name})"
        return f" (exit status {status}, which tells nothing)"


class _Parts:
    """An answer as it comes in."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._lengths: list[int] | None = None

    def take(self, data: bytes) -> None:
        self._data += data
        if len(self._data) > (_MOST_DOUBLES + 2 * _MOST_ARRAYS) * _DOUBLE:
            raise OctaveFailed("Octave answered more than any operation can.")

    def whole(self) -> bool:
        if self._lengths is None:
            self._lengths = self._heading()
        if self._lengths is None:
            return False
        whole = (2 + len(self._lengths) + sum(self._lengths)) * _DOUBLE
        if len(self._data) > whole:
            raise OctaveFailed("Octave answered twice.")
        return len(self._data) == whole

    def _heading(self) -> list[int] | None:
        if len(self._data) < 2 * _DOUBLE:
            return None
        mark, count = self._doubles(0, 2)
        if mark != _MARK or not 2 <= count <= _MOST_ARRAYS or count != int(count):
            raise OctaveFailed("What Octave answered is no answer.")
        if len(self._data) < (2 + int(count)) * _DOUBLE:
            return None
        lengths = self._doubles(2, int(count))
        if not all(0 <= one <= _MOST_DOUBLES and one == int(one) for one in lengths):
            raise OctaveFailed("What Octave answered is no answer.")
        return [int(one) for one in lengths]

    def arrays(self) -> list[array[float]]:
        lengths = self._lengths or []
        start = 2 + len(lengths)
        found = []
        for length in lengths:
            found.append(self._doubles(start, length))
            start += length
        return found

    def _doubles(self, start: int, count: int) -> array[float]:
        found = array("d")
        found.frombytes(bytes(self._data[start * _DOUBLE : (start + count) * _DOUBLE]))
        return found


def start() -> Session:
    """An Octave of the configured program, started ahead of its job."""
    return Session(os.environ.get(PROGRAM_VARIABLE) or "octave-cli")


def start_if_possible() -> Session | None:
    """The same for those who can do without."""
    try:
        return start()
    except (OctaveFailed, OSError):
        return None


@contextlib.contextmanager
def at_work(kit: Kit) -> Iterator[Session]:
    """The Octave that was started ahead, or a fresh one if that is gone; settled in the run's directories."""
    session = kit.ahead if isinstance(kit.ahead, Session) else start()
    try:
        try:
            _settle(session, kit.directory)
        except OctaveFailed:
            session.close()
            session = start()
            _settle(session, kit.directory)
        yield session
    finally:
        session.close()


def _settle(session: Session, directory: Path) -> None:
    places = [directory / name for name in ("home", "tmp")]
    for place in places:
        place.mkdir(mode=0o700, exist_ok=True)
    session.call("settle", *map(str, places))


def _array(argument: Argument) -> array[float]:
    if isinstance(argument, array) and argument.typecode == "d":
        return argument
    if isinstance(argument, str):
        return array("d", list(argument.encode()))
    if isinstance(argument, int | float):
        return array("d", [argument])
    return array("d", argument)


def _text(codes: Sequence[float]) -> str:
    try:
        return bytes(int(code) for code in codes).decode("utf-8", "replace")
    except (ValueError, OverflowError):
        raise OctaveFailed("What Octave answered is no answer.") from None
