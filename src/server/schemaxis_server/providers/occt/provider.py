"""The ``occt`` provider: Open CASCADE, embedded, behind the provider contract."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from schemaxis_server.native.contract import HostProgram
from schemaxis_server.providers.contract import Engine, JsonObject, Manifest, ResolvedDocument
from schemaxis_server.providers.geometry import rules, vocabulary
from schemaxis_server.providers.geometry.descriptions import SCOPE
from schemaxis_server.providers.schema import document_schema, operation_schema

VERSION = "schemaxis.occt/1"
_PACKAGE = "cadquery-ocp-novtk"
_ENGINE = "Open CASCADE"

MANIFEST = Manifest(
    name="occt",
    version=VERSION,
    title="Solid modelling with Open CASCADE",
    summary="Builds exact solids from primitives, sweeps, transforms, features, patterns and booleans; measures "
    "them and publishes STEP, STL and BREP. Lengths are in mm, angles in degrees.",
    scope=SCOPE,
    operations=vocabulary.operations(VERSION),
    quantities=vocabulary.QUANTITIES,
    publishes=vocabulary.PUBLISHES,
    verification="Closed forms where there are any, a rebuild with manifold3d where it has the operations, the published "
    "STEP and BREP read again in a fresh process, the STL integrated as a mesh. Shells, imports and most fillets "
    "and chamfers are rebuilt by the same kernel family only, which each report says.",
)

_FOLDER = "schemaxis_server.providers.occt"

_LIBRARY = "libGL.so.1"
_LOADER_CACHE = Path("/etc/ld.so.cache")
_LIBRARY_FOLDERS = ("/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib")


def has_library(name: str, cache: Path = _LOADER_CACHE) -> bool:
    """Whether the dynamic loader would find a library, judged without loading it or starting a program."""
    try:
        if b"/" + name.encode() + b"\0" in cache.read_bytes():
            return True
    except OSError:
        pass
    searched = [*os.environ.get("LD_LIBRARY_PATH", "").split(":"), *_LIBRARY_FOLDERS]
    return any(folder and Path(folder, name).exists() for folder in searched)


PRODUCER = HostProgram(
    name="occt",
    entry=f"{_FOLDER}.host:run",
    preload=(f"{_FOLDER}.host", f"{_FOLDER}.warm"),
)
VERIFIER = HostProgram(
    name="occt-verifier",
    entry=f"{_FOLDER}.verifier:run",
    preload=(f"{_FOLDER}.verifier", f"{_FOLDER}.warm_verifier"),
)


@dataclass(frozen=True, slots=True)
class OcctProvider:
    """Implements :class:`schemaxis_server.providers.contract.Provider`."""

    manifest: Manifest = MANIFEST

    def producer(self, engine: Engine) -> HostProgram:
        return PRODUCER

    def verifier(self, engines: Mapping[str, Engine]) -> HostProgram:
        return VERIFIER

    def engine(self, location: str | None = None) -> Engine:
        """The kernel's package, found without importing it. It is embedded: ``location`` has no meaning."""
        spec = find_spec("OCP")
        install = f"python -m pip install '{_PACKAGE}>=8.0.1,<8.1'"
        try:
            found = version(_PACKAGE)
        except PackageNotFoundError:
            found = ""
        if spec is None or not found:
            return Engine(
                _ENGINE, found, "", False, f"the Python package {_PACKAGE} is not installed", install
            )
        path = next(iter(spec.submodule_search_locations or ()), spec.origin or "")
        if not has_library(_LIBRARY):
            problem = f"the system library {_LIBRARY} is missing"
            return Engine(_ENGINE, found, path, False, problem, "apt-get install libgl1")
        return Engine(_ENGINE, found, path, True)

    def plan(self, document: JsonObject) -> ResolvedDocument:
        """Raises ``Fault("INVALID_DOCUMENT")`` with all problems."""
        return rules.resolve(document, self.manifest)

    def schema(self, operation: str | None = None) -> JsonObject:
        """Raises ``Fault("NOT_FOUND")`` for an operation that there is not."""
        if operation is None:
            return document_schema(self.manifest)
        return operation_schema(self.manifest, operation)


PROVIDER = OcctProvider()
