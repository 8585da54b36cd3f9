"""The ``freecad`` provider: FreeCAD, as it is installed on the system, behind the provider contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from schemaxis_server.native.contract import HostProgram
from schemaxis_server.providers.contract import ArtifactKind, Engine, JsonObject, Manifest, ResolvedDocument
from schemaxis_server.providers.freecad import installation
from schemaxis_server.providers.freecad.location import LIBRARY_VARIABLE
from schemaxis_server.providers.geometry import rules, vocabulary
from schemaxis_server.providers.geometry.descriptions import SCOPE
from schemaxis_server.providers.schema import document_schema, operation_schema

VERSION = "schemaxis.freecad/1"

FCSTD = ArtifactKind(
    "geometry/fcstd",
    "application/x-extension-fcstd",
    "The whole model as a FreeCAD document: its nodes are objects that can be edited and recomputed there.",
)

MANIFEST = Manifest(
    name="freecad",
    version=VERSION,
    title="Solid modelling with FreeCAD",
    summary="Builds exact solids from primitives, sweeps, transforms, features, patterns and booleans as objects of "
    "a FreeCAD document; measures them and publishes STEP, STL, BREP and the editable FCStd. Lengths are in mm, "
    "angles in degrees. The same documents run on occt, which starts faster and has no FCStd.",
    scope=SCOPE,
    operations=vocabulary.operations(VERSION),
    quantities=vocabulary.QUANTITIES,
    publishes=(*vocabulary.PUBLISHES, FCSTD),
    verification="Closed forms where there are any, a rebuild with manifold3d where it has the operations, a rebuild "
    "with the Open CASCADE of the occt provider always; the published STEP, BREP and the shape in the FCStd read again "
    "by that, the STL integrated as a mesh. FreeCAD uses an Open CASCADE itself, an older one: where only those two "
    "agree, as on fillets, chamfers, shells and imports, each report says that this is weak.",
)

_FOLDER = "schemaxis_server.providers.freecad"

VERIFIER = HostProgram(
    name="freecad-verifier",
    entry=f"{_FOLDER}.verifier:run",
    preload=(f"{_FOLDER}.verifier", "schemaxis_server.providers.occt.warm_verifier"),
)


@dataclass(frozen=True, slots=True)
class FreecadProvider:
    """Implements :class:`schemaxis_server.providers.contract.Provider`."""

    manifest: Manifest = MANIFEST

    def producer(self, engine: Engine) -> HostProgram:
        found = installation.of(engine.path)
        return HostProgram(
            name="freecad",
            entry=f"{_FOLDER}.host:run",
            preload=(f"{_FOLDER}.host", f"{_FOLDER}.warm"),
            python=found.python,
            environment={LIBRARY_VARIABLE: found.library},
        )

    def verifier(self, engines: Mapping[str, Engine]) -> HostProgram:
        return VERIFIER

    def engine(self, location: str | None = None) -> Engine:
        """FreeCAD's library, found without loading it.

        ``location`` is the folder that holds ``FreeCAD.so``, the prefix of an installation, or its
        ``freecadcmd``.
        """
        return installation.look(location)

    def plan(self, document: JsonObject) -> ResolvedDocument:
        """Raises ``Fault("INVALID_DOCUMENT")`` with all problems."""
        return rules.resolve(document, self.manifest)

    def schema(self, operation: str | None = None) -> JsonObject:
        """Raises ``Fault("NOT_FOUND")`` for an operation that there is not."""
        if operation is None:
            return document_schema(self.manifest)
        return operation_schema(self.manifest, operation)


PROVIDER = FreecadProvider()
