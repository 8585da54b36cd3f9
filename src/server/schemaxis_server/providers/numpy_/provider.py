"""The ``numpy`` provider: NumPy and SciPy, embedded, behind the provider contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from schemaxis_server.native.contract import HostProgram
from schemaxis_server.providers.contract import Engine, JsonObject, Manifest, ResolvedDocument
from schemaxis_server.providers.numerics import rules, vocabulary
from schemaxis_server.providers.numerics.descriptions import SCOPE
from schemaxis_server.providers.octave.reverse import verifier as octave_verifier
from schemaxis_server.providers.schema import document_schema, operation_schema

VERSION = "schemaxis.numpy/1"
_ENGINE = "NumPy and SciPy"
_PACKAGES = {"numpy": "numpy>=2.2", "scipy": "scipy>=1.15", "matplotlib": "matplotlib>=3.10"}

MANIFEST = Manifest(
    name="numpy",
    version=VERSION,
    title="Numerics with NumPy and SciPy",
    summary=vocabulary.SUMMARY,
    scope=SCOPE,
    operations=vocabulary.operations(VERSION),
    quantities=vocabulary.QUANTITIES,
    publishes=vocabulary.PUBLISHES,
    verification="The document is computed again from its source data: by GNU Octave where that is installed, otherwise "
    "by a second formulation in extended precision (transforms by definition, fits by other equations, linear systems "
    "in fractions), which each check names. The published CSV and JSON, read by other parsers, and each quantity are "
    "held to it at 1e-9. A plot is drawn from the verified CSV.",
)

_FOLDER = "schemaxis_server.providers.numpy_"

PRODUCER = HostProgram(
    name="numpy",
    entry=f"{_FOLDER}.host:run",
    preload=(f"{_FOLDER}.host", f"{_FOLDER}.warm"),
)
VERIFIER = HostProgram(
    name="numpy-verifier",
    entry=f"{_FOLDER}.verifier:run",
    preload=(f"{_FOLDER}.verifier", f"{_FOLDER}.warm_verifier"),
)


@dataclass(frozen=True, slots=True)
class NumpyProvider:
    """Implements :class:`schemaxis_server.providers.contract.Provider`."""

    manifest: Manifest = MANIFEST

    def producer(self, engine: Engine) -> HostProgram:
        return PRODUCER

    def verifier(self, engines: Mapping[str, Engine]) -> HostProgram:
        """Octave where there is one, which is another engine; otherwise the second formulation."""
        octave = engines.get("octave")
        return octave_verifier(octave) if octave is not None and octave.available else VERIFIER

    def engine(self, location: str | None = None) -> Engine:
        """The packages, found without importing them. They are embedded: ``location`` has no meaning."""
        versions = {}
        for package, wanted in _PACKAGES.items():
            install = f"python -m pip install '{wanted}'"
            try:
                versions[package] = version(package)
            except PackageNotFoundError:
                problem = f"the Python package {package} is not installed"
                return Engine(_ENGINE, "", "", False, problem, install)
        spec = find_spec("numpy")
        if spec is None:
            problem = "the Python package numpy cannot be imported"
            return Engine(_ENGINE, "", "", False, problem, f"python -m pip install '{_PACKAGES['numpy']}'")
        path = next(iter(spec.submodule_search_locations or ()), spec.origin or "")
        return Engine(_ENGINE, f"{versions['numpy']} and {versions['scipy']}", path, True)

    def plan(self, document: JsonObject) -> ResolvedDocument:
        """Raises ``Fault("INVALID_DOCUMENT")`` with all problems."""
        return rules.resolve(document, self.manifest)

    def schema(self, operation: str | None = None) -> JsonObject:
        """Raises ``Fault("NOT_FOUND")`` for an operation that there is not."""
        if operation is None:
            return document_schema(self.manifest)
        return operation_schema(self.manifest, operation)


PROVIDER = NumpyProvider()
