"""The provider contract, kept by GNU Octave."""

from __future__ import annotations

import copy
from pathlib import Path

from schemaxis_server.providers.contract import Operation
from schemaxis_server.providers.numpy_.provider import PROVIDER as NUMPY
from schemaxis_server.providers.octave.provider import PROVIDER, VERSION

from providers import test_numpy_contract
from providers.contract_suite import ProviderContract
from providers.engines import needs
from providers.hosts import Bench, Produced, failures, is_verified


@needs(PROVIDER)
class TestOctave(ProviderContract):
    provider = PROVIDER
    lookalikes = (
        {**test_numpy_contract.TestNumpy.lookalikes[0], "version": VERSION},
        {**test_numpy_contract.TestNumpy.lookalikes[1], "version": VERSION},
    )

    def test_the_same_document_runs_on_numpy(self, operation: Operation) -> None:
        document = {**copy.deepcopy(dict(operation.example)), "version": NUMPY.manifest.version}
        resolved = PROVIDER.plan(operation.example).document
        assert {**NUMPY.plan(document).document, "version": VERSION} == resolved

    def test_a_bound_file_is_all_that_a_reading_document_needs(
        self, bench: Bench, other: Produced, tmp_path: Path
    ) -> None:
        authored = {
            "version": "schemaxis.octave/1",
            "nodes": [
                {"id": "data", "filter": "readCSV", "options": {"file": None, "xColumn": "x", "yColumn": "y"}}
            ],
            "outputs": ["data"],
        }
        source = tmp_path / "source.csv"
        source.write_bytes(b"y,x\r\n0.1,1\r\nNaN,2\r\n-Infinity,3.5\r\n")
        produced = bench.produce(authored, {"/nodes/0/options/file": str(source)})
        assert produced.path("series/csv").read_bytes() == b"x,y\r\n1.0,0.1\r\n2.0,NaN\r\n3.5,-Infinity\r\n"
        report = bench.verify(produced)
        assert is_verified(report), failures(report)
        assert any(check["engine"].startswith("NumPy ") for check in report["checks"])
