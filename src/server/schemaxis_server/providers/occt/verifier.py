"""The verifier host: judges a result from the document and the published bytes.

It runs in a process of its own. Formulas and the second kernel judge the geometry, a fresh reading of
STEP and BREP and an integration of the STL judge the files. What only the producer's own kernel can
repeat is repeated, and named as the weak check that it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from schemaxis_server.native.hostkit import Kit, UnsupportedInput
from schemaxis_server.providers.geometry import closed_form, picture, second_kernel, verification
from schemaxis_server.providers.geometry.checks import (
    INDEPENDENT,
    NO_KERNEL,
    QUANTITIES,
    SAME_FAMILY,
    Tolerances,
    check,
    failed,
    plain,
)
from schemaxis_server.providers.geometry.deflection import mesh_deflection
from schemaxis_server.providers.geometry.mesh import Mesh
from schemaxis_server.providers.geometry.vocabulary import QUANTITIES as RESULT
from schemaxis_server.providers.occt import exchange, host, measure
from schemaxis_server.providers.occt.failures import KERNEL_FAILURES
from schemaxis_server.providers.occt.topology import Shape

Check = dict[str, Any]
Reader = Callable[[Path], Shape | None]

_PURPOSE = "Whether the part serves its purpose: fit, strength and manufacture were not looked at."
# A STEP file carries the free edges where round faces meet as approximations; over 400 random documents
# they moved volume and area by up to 5e-8, and by 4.6e-7 where spheres meet a torus. Circles and ellipses
# on round faces are exact in space but not always on the face: of 850 random documents, four were moved by
# more than 1e-9, by 6.4e-9 at most. Flat faces are held to the exact figure, and the BREP file of any shape.
_FREE_EDGES = 3e-6
_CONIC_EDGES = 5e-8
_UNREADABLE: tuple[type[Exception], ...] = (*KERNEL_FAILURES, RuntimeError)


def run(request: Mapping[str, Any], kit: Kit) -> dict[str, Any]:
    """Verify every output; see the provider contract for the shapes of both dictionaries."""
    return judged(Report(request, kit))


def judged(report: Report) -> dict[str, Any]:
    """The verifier's result, of a report that has judged nothing yet."""
    host.silence()
    document, kit = report.document, report.kit
    forms = closed_form.forms(document)
    for index, output in enumerate(document["outputs"]):
        kit.progress(index / len(document["outputs"]), f"verify {output}")
        report.judge(output, forms[output])
    report.judge_names()
    return {
        "checks": report.checks,
        "notCovered": [*report.not_covered, _PURPOSE],
        "pictures": report.pictures,
        "warnings": report.warnings,
    }


class Report:
    """Collects what the checks of all outputs found.

    A provider of the same vocabulary extends it: by ``kinds`` of files, each of which has one of
    ``readers``; and by ``always_rebuilds``, where the producer is not this kernel itself.
    """

    kinds: tuple[str, ...] = ("geometry/step", "geometry/brep", "geometry/stl")
    always_rebuilds = False

    def __init__(self, request: Mapping[str, Any], kit: Kit) -> None:
        self.document: Mapping[str, Any] = request["document"]
        self.results: Mapping[str, Any] = request["outputs"]
        self.bindings: Mapping[str, str] = request.get("bindings", {})
        self.draws = bool(request.get("pictures", False))
        self.kit = kit
        self.published = {
            (one["operation"], one["kind"]): Path(one["path"]) for one in request["publications"]
        }
        self.count = len(request["publications"])
        self.engine = " ".join(host.engine().values())
        self.rebuilt: dict[str, Shape] | str | None = None
        self.checks: list[Check] = []
        self.not_covered: list[str] = []
        self.pictures: list[dict[str, str]] = []
        self.warnings: list[str] = []

    def judge(self, output: str, form: closed_form.Form | None) -> None:
        """All checks of one output."""
        reported = self.results.get(output)
        result = reported if isinstance(reported, Mapping) else {}
        claims = plain(result)
        needed = second_kernel.ancestry(self.document, output)
        lone = second_kernel.unsupported(self.document, output)
        imported = any(node["filter"] == "importSTEP" for node in needed.values())
        flat = second_kernel.is_flat(needed) and not imported
        self.checks.append(_form_check(result, output))
        if form is not None:
            self.checks.append(verification.closed_form_check(form, claims, output))
        if not lone:
            self.checks.append(verification.second_kernel_check(self.document, claims, output))
        weak = form is None and (lone or not flat)
        if weak or self.always_rebuilds:
            self.checks.append(self._same_kernel_check(claims, output))
        if weak:
            self.not_covered += _weaknesses(output, lone)
        for kind, read in self.readers(output):
            self.checks.append(self._read_again(kind, read, claims, output))
        surface = self._stl(claims, output, flat)
        self.not_covered.append(
            f"{output}: validity (a shape free of self-intersections) is the kernel's own judgement, asked "
            "again in a fresh process."
        )
        if surface is not None and self.draws:
            self._draw(surface, output)

    def readers(self, output: str) -> Sequence[tuple[str, Reader]]:
        """The kinds of files that hold a shape, and what reads each."""
        return (("geometry/step", exchange.read_step), ("geometry/brep", exchange.read_brep))

    def agreement(self, shape: Shape) -> float:
        """Within which part of them the quantities of a shape that was built again are the result's."""
        return verification.EXACT

    def warn(self, doubt: str) -> None:
        """Take a doubt that came up when the document was built again; the producer has told its own."""

    def judge_names(self) -> None:
        """Exactly one file of each kind for each output, and no other."""
        wanted = {(output, kind) for output in self.document["outputs"] for kind in self.kinds}
        if set(self.published) != wanted or self.count != len(wanted):
            found = ", ".join(f"{kind} of {output}" for output, kind in sorted(self.published)) or "nothing"
            names = ", ".join(kind.rsplit("/", 1)[1].upper() for kind in self.kinds)
            scope = f"{NO_KERNEL}: {names} of each output and nothing else."
            row = failed(
                "published files", scope, "schemaxis", f"{len(wanted)} files", f"{self.count}: {found}"
            )
            self.checks.append(row)

    def _same_kernel_check(self, claims: Mapping[str, Any], output: str) -> Check:
        name = f"same kernel family, {output} rebuilt"
        scope = f"{SAME_FAMILY}: the document built again in a fresh process, a weak check."
        if self.rebuilt is None:
            try:
                self.rebuilt = host.build_all(self.document, self.bindings, lambda *_: None, self.warn)
            except UnsupportedInput as reason:
                self.rebuilt = reason.message
        if isinstance(self.rebuilt, str):
            return failed(name, scope, self.engine, "a shape", self.rebuilt)
        expected = plain(measure.measure(self.rebuilt[output]))
        return check(
            name,
            scope,
            self.engine,
            expected=expected,
            observed=claims,
            quantities=QUANTITIES,
            tolerances=Tolerances.relative(expected, self.agreement(self.rebuilt[output])),
        )

    def _read_again(self, kind: str, read: Reader, claims: Mapping[str, Any], output: str) -> Check:
        suffix = kind.rsplit("/", 1)[1].upper()
        name = f"{suffix} of {output}"
        scope = (
            f"{SAME_FAMILY}: the published {suffix} read in a fresh process measures what the result says."
        )
        path = self.published.get((output, kind))
        if path is None:
            return failed(name, scope, self.engine, f"a {suffix} file", "none published")
        try:
            shape = read(path)
            found = {} if shape is None else plain(measure.measure(shape))
        except _UNREADABLE as reason:
            return failed(name, scope, self.engine, "a readable file", str(reason)[:200])
        if shape is None:
            return failed(name, scope, self.engine, "a readable file", "the reader found no shape in it")
        part = _moved_by_step(shape) if kind == "geometry/step" else verification.EXACT
        return check(
            name,
            scope,
            self.engine,
            expected=claims,
            observed=found,
            quantities=QUANTITIES,
            tolerances=Tolerances.relative(found, part),
        )

    def _stl(self, claims: Mapping[str, Any], output: str, flat: bool) -> Mesh | None:
        path = self.published.get((output, "geometry/stl"))
        if path is None:
            scope = f"{INDEPENDENT}: the published triangles."
            row = failed(f"STL of {output}", scope, "schemaxis", "an STL file", "none published")
            self.checks.append(row)
            return None
        row, surface = verification.stl_check(path, claims, output, flat=flat, deflection_of=mesh_deflection)
        self.checks.append(row)
        if not flat:
            self.not_covered.append(
                f"{output}: how far each triangle of the STL lies from the round surface; its closure, "
                "volume and bounds were checked."
            )
        return surface

    def _draw(self, surface: Mesh, output: str) -> None:
        """A preview from the verified triangles; without one the result is as good."""
        name = f"{output}.png"
        try:
            (self.kit.publications / name).write_bytes(picture.preview(surface))
        except Exception as reason:
            self.warnings.append(
                f"No preview of {output} could be drawn: {type(reason).__name__}: {reason}"[:300]
            )
            return
        self.pictures.append(
            {
                "name": name,
                "file": f"publications/{name}",
                "kind": "picture/preview",
                "mediaType": "image/png",
                "operation": output,
                "derivedFrom": f"{output}.stl",
            }
        )


def _moved_by_step(shape: Shape) -> float:
    """How far writing and reading a STEP file may move a shape, as a part of each quantity."""
    if measure.is_flat(shape):
        return verification.EXACT
    return _FREE_EDGES if measure.has_free_edges(shape) else _CONIC_EDGES


def _form_check(result: Mapping[str, Any], output: str) -> Check:
    """Every quantity is there with its unit, and the extents are those of the corners."""
    wanted = {one.name: one.unit for one in RESULT}
    found = {
        name: entry.get("unit") if isinstance(entry, Mapping) else None for name, entry in result.items()
    }
    consistent = found == wanted and _extents_fit(result["boundingBox"].get("value"))
    return {
        "name": f"form of the result of {output}",
        "scope": f"{NO_KERNEL}: each quantity with its unit; the box's size is the difference of its corners.",
        "engine": "schemaxis",
        "passed": consistent,
        "expected": wanted,
        "observed": found,
        "tolerance": "exact",
    }


def _extents_fit(box: Any) -> bool:
    try:
        return all(
            abs(high - low - size) <= 1e-9 * max(abs(high), abs(low), abs(size))
            for low, high, size in zip(box["min"], box["max"], box["size"], strict=True)
        )
    except (KeyError, TypeError, ValueError):
        return False


def _weaknesses(output: str, lone: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What no independent check reaches in this output; ``lone`` are the nodes that no other kernel builds."""
    said = []
    for operation in sorted({node["filter"] for node in lone.values()}):
        names = ", ".join(name for name, node in lone.items() if node["filter"] == operation)
        if operation == "importSTEP":
            said.append(
                f"{output}: whether the bound file of {names} was read rightly; only the same kernel read it."
            )
        else:
            said.append(
                f"{output}: the {operation} of {names} by an independent kernel; only the same kernel family "
                "rebuilt it."
            )
    if not lone:
        said.append(
            f"{output}: its round faces beyond the stated tolerance of the second kernel; down to 1e-9 only "
            "the same kernel family rebuilt it."
        )
    return said
