"""The verifier host: judges what FreeCAD published, from the document and the bytes, without FreeCAD.

The checks are those of ``occt``, which share no process and no release of a kernel with FreeCAD, and those
of the FCStd.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from schemaxis_server.native.hostkit import Kit
from schemaxis_server.providers.freecad import fcstd, parameters
from schemaxis_server.providers.geometry import closed_form, second_kernel, verification
from schemaxis_server.providers.geometry.checks import NO_KERNEL, failed
from schemaxis_server.providers.occt import exchange, measure
from schemaxis_server.providers.occt.topology import Shape
from schemaxis_server.providers.occt.verifier import Reader, Report, judged

_FCSTD = "geometry/fcstd"
# Where round faces meet in free edges the two releases of the kernel approximate them each in its own way.
_FREE_EDGES = 3e-6
_SHOWN = 5


def run(request: Mapping[str, Any], kit: Kit) -> dict[str, Any]:
    """Verify every output; see the provider contract for the shapes of both dictionaries."""
    return judged(_FreecadReport(request, kit))


class _FreecadReport(Report):
    kinds = (*Report.kinds, _FCSTD)
    always_rebuilds = True

    def readers(self, output: str) -> Sequence[tuple[str, Reader]]:
        return (*super().readers(output), (_FCSTD, lambda path: self._stored_shape(path, output)))

    def agreement(self, shape: Shape) -> float:
        return _FREE_EDGES if measure.has_free_edges(shape) else verification.EXACT

    def warn(self, doubt: str) -> None:
        self.warnings.append(doubt)

    def judge(self, output: str, form: closed_form.Form | None) -> None:
        super().judge(output, form)
        self._judge_model(output)
        self.not_covered.append(
            f"{output}: whether FreeCAD, when it recomputes the FCStd, makes of its objects the shape that they were "
            "stored with; their types, links and sizes were compared with the document, profiles, places and "
            "selected edges were not."
        )

    def _stored_shape(self, path: Path, output: str) -> Shape | None:
        found = fcstd.objects(path)
        # A link stores no shape of its own.
        entry = found.get(f"shape of {output}") or found.get(output)
        if entry is None or not entry.shape:
            raise fcstd.UnreadableError(f"it holds no shape of {output}")
        folder = self.kit.directory / "tmp"
        folder.mkdir(exist_ok=True)
        file = folder / "stored.brep"
        fcstd.extract(path, entry.shape, file)
        return exchange.read_brep(file)

    def _judge_model(self, output: str) -> None:
        """The objects of the FCStd against the nodes of the document."""
        name = f"objects in the FCStd of {output}"
        scope = f"{NO_KERNEL}: each node is an object of its type, with the document's sizes and inputs."
        wanted = parameters.expected(second_kernel.ancestry(self.document, output))
        told = f"{len(wanted)} objects as the document has them"
        path = self.published.get((output, _FCSTD))
        try:
            if path is None:
                raise fcstd.UnreadableError("none published")
            wrong = parameters.differences(wanted, fcstd.objects(path))
        except fcstd.UnreadableError as reason:
            self.checks.append(failed(name, scope, "schemaxis", told, str(reason)[:200]))
            return
        shown = "; ".join(wrong[:_SHOWN]) + (f"; {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else "")
        self.checks.append(
            {
                "name": name,
                "scope": scope,
                "engine": "schemaxis",
                "passed": not wrong,
                "expected": told,
                "observed": shown[:1000] or told,
                "tolerance": "1e-12 of each size",
            }
        )
