"""Providers come from entry points; a broken one is reported and never stops the others."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from schemaxis_server.native.contract import HostProgram
from schemaxis_server.providers.occt.provider import PROVIDER, VERSION, has_library
from schemaxis_server.providers.registry import GROUP, load

_OCCT = EntryPoint("occt", "schemaxis_server.providers.occt.provider:PROVIDER", GROUP)

_BROKEN = {
    "absent": ("no_such_module:PROVIDER", "ModuleNotFoundError"),
    "raising": ("raising_provider:PROVIDER", "ZeroDivisionError"),
    "bare": ("bare_provider:PROVIDER", "lacks manifest"),
    "posing": ("schemaxis_server.providers.occt.provider:PROVIDER", "says occt"),
}


def test_a_good_provider_is_loaded_by_name_and_version() -> None:
    registry = load([_OCCT])
    assert list(registry) == ["occt"]
    assert registry["occt"] is PROVIDER
    assert registry.for_version(VERSION) is PROVIDER
    assert registry.for_version("schemaxis.other/1") is None
    assert not registry.broken


def test_broken_ones_are_reported_and_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "raising_provider.py").write_text("PROVIDER = 1 / 0\n")
    (tmp_path / "bare_provider.py").write_text("PROVIDER = object()\n")
    monkeypatch.syspath_prepend(tmp_path)
    points = [EntryPoint(name, target, GROUP) for name, (target, _) in _BROKEN.items()]
    with caplog.at_level(logging.WARNING):
        registry = load([*points, _OCCT])
    assert list(registry) == ["occt"]
    assert {one.name for one in registry.broken} == set(_BROKEN)
    for one in registry.broken:
        assert _BROKEN[one.name][1] in one.problem
        assert any(one.name in record.getMessage() for record in caplog.records)


def test_a_name_is_taken_once() -> None:
    registry = load([_OCCT, _OCCT])
    assert list(registry) == ["occt"]
    assert len(registry.broken) == 1


def _python(code: str, *flags: str) -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path.endswith("server")),
        # As every host is started.
        "OPENBLAS_NUM_THREADS": "1",
    }
    done = subprocess.run(
        [sys.executable, *flags, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout


def test_planning_imports_no_engine() -> None:
    code = (
        "import sys, json\n"
        "from schemaxis_server.providers.occt.provider import PROVIDER\n"
        "for operation in PROVIDER.manifest.operations: PROVIDER.plan(operation.example)\n"
        "PROVIDER.engine(None); PROVIDER.schema()\n"
        "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    )
    assert not {"OCP", "numpy", "manifold3d", "jsonschema", "grpc"} & set(json.loads(_python(code)))


def test_the_producer_imports_its_engine_and_little_more() -> None:
    code = (
        "import sys, json\n"
        "import schemaxis_server.providers.occt.host, schemaxis_server.providers.occt.warm\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    loaded = json.loads(_python(code).splitlines()[-1])
    assert not {"numpy", "manifold3d", "asyncio", "grpc"} & {name.split(".")[0] for name in loaded}
    ours = {name for name in loaded if name.startswith("schemaxis_server.")}
    assert all(name.startswith(("schemaxis_server.providers", "schemaxis_server.native")) for name in ours)


def test_a_missing_package_says_what_to_install() -> None:
    # Without site-packages there is no kernel.
    code = (
        "from schemaxis_server.providers.occt.provider import PROVIDER\n"
        "engine = PROVIDER.engine(None)\n"
        "print(engine.available, engine.problem, engine.install, sep='|')"
    )
    available, problem, install = _python(code, "-S").strip().split("|")
    assert available == "False"
    assert "not installed" in problem
    assert "pip install" in install


def test_libraries_are_found_without_loading_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache"
    cache.write_bytes(b"glibc-ld.so.cache\0/opt/lib/libThere.so.1\0")
    assert has_library("libThere.so.1", cache)
    assert not has_library("libThere.so", cache)
    assert not has_library("libElsewhere.so.1", tmp_path / "no cache")
    (tmp_path / "libElsewhere.so.1").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    assert has_library("libElsewhere.so.1", tmp_path / "no cache")


@pytest.mark.parametrize(
    "program",
    [PROVIDER.producer(PROVIDER.engine(None)), PROVIDER.verifier({})],
    ids=lambda one: str(one.name),
)
def test_a_loaded_host_has_one_thread(program: HostProgram) -> None:
    # Only a process without other threads can be forked for each job.
    code = "import importlib, os\n" + "".join(
        f"importlib.import_module({name!r})\n" for name in program.preload
    )
    assert (
        _python(code + "print('threads', len(os.listdir('/proc/self/task')))").splitlines()[-1] == "threads 1"
    )
