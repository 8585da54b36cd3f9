"""Runs numerics documents through Octave in the test's own process, many with one Octave."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from schemaxis_server.native.hostkit import Kit, UnsupportedInput
from schemaxis_server.native.worker import plain
from schemaxis_server.providers.contract import JsonObject
from schemaxis_server.providers.numerics.verification import verify
from schemaxis_server.providers.numpy_ import host as numpy_host
from schemaxis_server.providers.octave import host as octave_host
from schemaxis_server.providers.octave import session as octave
from schemaxis_server.providers.octave.operations import operations
from schemaxis_server.providers.octave.provider import PROVIDER, VERSION
from schemaxis_server.providers.octave.reference import by_numpy, by_operations

from providers.hosts import Produced, Refused
from providers.numerics_bench import NumericsBench

_Host = Callable[[JsonObject, Kit], dict[str, Any]]


class _Called:
    """A host's function; its answer makes the way through JSON all the same."""

    def __init__(self, function: _Host) -> None:
        self._function = function

    def call(self, request: JsonObject, directory: Path) -> dict[str, Any]:
        try:
            answer = self._function(json.loads(json.dumps(request)), Kit(directory))
        except UnsupportedInput as reason:
            raise Refused(reason.message, reason.pointer) from None
        result: dict[str, Any] = json.loads(json.dumps(plain(answer), allow_nan=False))
        return result

    def close(self) -> None:
        pass


class OctaveBench(NumericsBench):
    """Octave computes, NumPy and SciPy verify."""

    def __init__(self, root: Path, session: octave.Session) -> None:
        super().__init__(root)
        self.provider = PROVIDER
        self._producer = _Called(lambda request, kit: octave_host.produce(request, kit, session))  # type: ignore[assignment]
        self._verifier = _Called(lambda request, kit: verify(request, kit, by_numpy))  # type: ignore[assignment]

    def produce(self, document: JsonObject, bindings: Mapping[str, str] | None = None) -> Produced:
        return super().produce({**document, "version": VERSION}, bindings)


class ReverseBench(NumericsBench):
    """NumPy and SciPy compute, Octave verifies."""

    def __init__(self, root: Path, session: octave.Session) -> None:
        super().__init__(root)
        engine = f"GNU Octave {session.version}"
        self._producer = _Called(numpy_host.run)  # type: ignore[assignment]
        self._verifier = _Called(  # type: ignore[assignment]
            lambda request, kit: verify(
                request,
                kit,
                lambda document, bindings: by_operations(document, bindings, operations(session), engine),
            )
        )
