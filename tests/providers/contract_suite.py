"""What every provider must do, whatever its engine.

A provider's test module subclasses :class:`ProviderContract`, names its provider and two documents
that look alike, and runs the whole suite.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import jsonschema
import pytest
from schemaxis_server.faults import Fault
from schemaxis_server.providers.contract import JsonObject, Operation, Provider

from providers.hosts import Bench, Produced, failures, is_verified
from providers.mutations import HOSTILE, mutated

_MUTATIONS = 40


class ProviderContract:
    """``lookalikes`` are two documents whose results differ by little, and whose files must not be mixed up."""

    provider: ClassVar[Provider]
    lookalikes: ClassVar[tuple[JsonObject, JsonObject]]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "operation" in metafunc.fixturenames:
            operations = metafunc.cls.provider.manifest.operations
            metafunc.parametrize("operation", operations, ids=[one.name for one in operations])

    @pytest.fixture(scope="class")
    @classmethod
    def bench(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
        with Bench(cls.provider, tmp_path_factory.mktemp("bench")) as bench:
            yield bench

    @pytest.fixture(scope="class")
    @classmethod
    def original(cls, bench: Bench) -> Produced:
        return bench.produce(cls.lookalikes[0])

    @pytest.fixture(scope="class")
    @classmethod
    def other(cls, bench: Bench) -> Produced:
        return bench.produce(cls.lookalikes[1])

    @pytest.fixture(scope="class")
    @classmethod
    def validator(cls) -> jsonschema.Draft202012Validator:
        return jsonschema.Draft202012Validator(dict(cls.provider.schema()))

    def bindings(self, operation: Operation, other: Produced) -> Mapping[str, str]:
        """A file of an accepted kind for each file option of an operation's example."""
        return {
            f"/nodes/{index}/options/{option}": str(other.path(accepted[0]))
            for index, node in enumerate(operation.example["nodes"])
            if node["filter"] == operation.name
            for option, accepted in operation.file_options.items()
        }

    # What it says of itself

    def test_manifest_names_are_its_own(self) -> None:
        manifest = self.provider.manifest
        assert manifest.version.startswith(f"schemaxis.{manifest.name}/")
        names = [one.name for one in manifest.operations]
        assert len(set(names)) == len(names) > 0
        assert all(one.scope.startswith(manifest.scope) for one in manifest.operations)
        assert len({one.kind for one in manifest.publishes}) == len(manifest.publishes)
        assert manifest.title
        assert manifest.summary
        assert manifest.verification

    def test_operations_explain_themselves(self, operation: Operation) -> None:
        assert operation.title
        assert len(operation.purpose) > 20
        assert operation.keywords
        assert operation.verification
        assert bool(operation.input_purpose) == (operation.max_inputs != 0)
        for name, schema in operation.options["properties"].items():
            assert schema.get("description"), name
            assert ("default" in schema) != (name in operation.options["required"]), name
        assert set(operation.file_options) <= set(operation.options["properties"])

    def test_engine_is_found_without_importing_it(self) -> None:
        engine = self.provider.engine(None)
        assert engine.available, engine.problem
        assert engine.version
        assert Path(engine.path).exists()

    # Planning

    def test_schemas_are_schemas(self) -> None:
        jsonschema.Draft202012Validator.check_schema(dict(self.provider.schema()))

    def test_schema_of_an_operation_accepts_its_node(self, operation: Operation) -> None:
        schema = self.provider.schema(operation.name)
        jsonschema.Draft202012Validator.check_schema(dict(schema))
        node = next(one for one in operation.example["nodes"] if one["filter"] == operation.name)
        jsonschema.validate(node, dict(schema))

    def test_unknown_operation_has_no_schema(self) -> None:
        with pytest.raises(Fault) as refused:
            self.provider.schema("no-such-operation")
        assert refused.value.code == "NOT_FOUND"

    def test_example_plans(self, operation: Operation, validator: jsonschema.Draft202012Validator) -> None:
        authored = copy.deepcopy(operation.example)
        validator.validate(authored)
        resolved = self.provider.plan(authored)
        assert authored == operation.example, "planning changed its input"
        assert set(resolved.operations) == {node["id"] for node in authored["nodes"]}
        validator.validate(resolved.document)

    def test_planning_is_deterministic_and_settled(self, operation: Operation) -> None:
        resolved = self.provider.plan(operation.example)
        reordered = {key: operation.example[key] for key in reversed(list(operation.example))}
        assert self.provider.plan(reordered) == resolved
        assert self.provider.plan(resolved.document) == resolved

    def test_defaults_are_written_out(self, operation: Operation) -> None:
        resolved = self.provider.plan(operation.example).document
        for node in resolved["nodes"]:
            if node["filter"] == operation.name:
                assert set(node["options"]) == set(operation.options["properties"])
                assert "inputs" in node

    def test_what_the_schema_refuses_planning_refuses(
        self, operation: Operation, validator: jsonschema.Draft202012Validator
    ) -> None:
        dice = random.Random(operation.name)
        refused = 0
        for _ in range(_MUTATIONS):
            document = mutated(operation.example, dice)
            code = self.planning_code(document)
            assert code in ("", "INVALID_DOCUMENT")
            assert code or validator.is_valid(document), document
            refused += bool(code)
        assert refused > _MUTATIONS // 4

    def planning_code(self, document: JsonObject) -> str:
        """The code of the fault that planning raises, or nothing."""
        try:
            self.provider.plan(document)
        except Fault as fault:
            return fault.code
        return ""

    @pytest.mark.parametrize("document", HOSTILE, ids=range(len(HOSTILE)))
    def test_hostile_documents_get_one_bounded_fault(self, document: Any) -> None:
        if isinstance(document, dict) and document.get("version") == "VERSION":
            document = {**document, "version": self.provider.manifest.version}
        with pytest.raises(Fault) as refused:
            self.provider.plan(document)
        record = refused.value.record
        assert record.code == "INVALID_DOCUMENT"
        assert 1 <= len(record.details["problems"]) <= record.details["total"]
        assert all(
            set(problem) == {"pointer", "message", "expected", "nearest"}
            for problem in record.details["problems"]
        )
        sent = json.dumps([record.message, record.pointer, record.details]).encode()
        assert len(sent) <= 4096 - 256

    def test_misspelt_operation_is_recognised(self, operation: Operation) -> None:
        document = copy.deepcopy(dict(operation.example))
        node = next(one for one in document["nodes"] if one["filter"] == operation.name)
        node["filter"] = operation.name + "x"
        with pytest.raises(Fault) as refused:
            self.provider.plan(document)
        assert refused.value.record.details["problems"][0]["nearest"] == operation.name

    # Running and verifying

    def test_example_runs_and_verifies(self, operation: Operation, bench: Bench, other: Produced) -> None:
        produced = bench.produce(operation.example, self.bindings(operation, other))
        self.has_the_shape_of_a_result(produced)
        assert produced.result["warnings"] == []
        report = bench.verify(produced, pictures=True)
        assert is_verified(report), failures(report)
        self.has_the_shape_of_a_report(report)

    def test_a_node_without_use_is_a_warning_and_no_error(self, bench: Bench, original: Produced) -> None:
        document = copy.deepcopy(dict(self.lookalikes[0]))
        document["nodes"].append({**document["nodes"][0], "id": "spare"})
        produced = bench.produce(document)
        (warning,) = produced.result["warnings"]
        assert warning.startswith(f"/nodes/{len(document['nodes']) - 1}: spare ")
        assert produced.result["outputs"] == original.result["outputs"]
        report = bench.verify(produced)
        assert is_verified(report), failures(report)

    def has_the_shape_of_a_result(self, produced: Produced) -> None:
        manifest = self.provider.manifest
        result = produced.result
        assert set(result) == {"outputs", "publications", "engine", "warnings"}
        assert list(result["outputs"]) == produced.document["outputs"]
        quantities = {one.name: one.unit for one in manifest.quantities}
        for measured in result["outputs"].values():
            assert {name: entry["unit"] for name, entry in measured.items()} == quantities
        kinds = {one.kind: one.media_type for one in manifest.publishes}
        names = [one["name"] for one in result["publications"]]
        assert len(set(names)) == len(names) > 0
        for one in result["publications"]:
            assert set(one) == {"name", "file", "kind", "mediaType", "operation", "units"}
            assert kinds[one["kind"]] == one["mediaType"]
            assert one["operation"] in produced.document["outputs"]
            file = produced.directory / one["file"]
            assert file.resolve().is_relative_to(produced.directory / "publications")
            assert file.stat().st_size > 0
        assert result["engine"]["version"]

    def has_the_shape_of_a_report(self, report: JsonObject) -> None:
        for check in report["checks"]:
            assert set(check) == {"name", "scope", "engine", "passed", "expected", "observed", "tolerance"}
            assert all(isinstance(check[key], str) and check[key] for key in ("name", "scope", "engine"))
            assert isinstance(check["tolerance"], str)
        assert len({check["name"] for check in report["checks"]}) == len(report["checks"])
        assert report["notCovered"]
        for one in report["pictures"]:
            assert set(one) == {"name", "file", "kind", "mediaType", "operation", "derivedFrom"}
            head = (Path(report["directory"]) / one["file"]).read_bytes()[:8]
            assert one["mediaType"] != "image/png" or head == b"\x89PNG\r\n\x1a\n"

    # Catching what is wrong

    def test_a_changed_number_is_caught(self, bench: Bench, original: Produced) -> None:
        changed = 0
        for path, value in _numbers(original.result["outputs"]):
            wrong = copy.deepcopy(original.result["outputs"])
            _put(wrong, path, value * (1 + 1e-6) if isinstance(value, float) and value else value + 1)
            report = bench.verify(original, outputs=wrong)
            assert not is_verified(report), path
            changed += 1
        assert changed > 0

    def test_a_missing_output_is_caught(self, bench: Bench, original: Produced) -> None:
        assert not is_verified(bench.verify(original, outputs={}))

    def test_files_of_another_job_are_caught(self, bench: Bench, original: Produced, other: Produced) -> None:
        assert [one["name"] for one in original.result["publications"]] == [
            one["name"] for one in other.result["publications"]
        ]
        for one in original.result["publications"]:
            report = bench.verify(original, files={one["name"]: other.directory / one["file"]})
            assert not is_verified(report), one["name"]

    def test_a_wrong_job_is_caught_though_it_agrees_with_itself(
        self, bench: Bench, original: Produced, other: Produced
    ) -> None:
        assert is_verified(bench.verify(other))
        assert not is_verified(bench.verify(other, document=original.document))

    def test_missing_and_damaged_files_are_caught(
        self, bench: Bench, original: Produced, tmp_path: Path
    ) -> None:
        for one in original.result["publications"]:
            assert not is_verified(bench.verify(original, files={one["name"]: Path()})), (
                f"without {one['name']}"
            )
            whole = (original.directory / one["file"]).read_bytes()
            for label, damaged in (
                ("empty", b""),
                ("half", whole[: len(whole) // 2]),
                ("nul", bytes(len(whole))),
            ):
                file = tmp_path / f"{label}-{one['name']}"
                file.write_bytes(damaged)
                assert not is_verified(bench.verify(original, files={one["name"]: file})), file.name


def _numbers(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], float]]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from _numbers(member, (*path, name))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _numbers(member, (*path, index))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value


def _put(value: Any, path: tuple[str | int, ...], new: float) -> None:
    for step in path[:-1]:
        value = value[step]
    value[path[-1]] = new
