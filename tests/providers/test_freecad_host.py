"""FreeCAD under supervision: found, warm, contained, and honest about how it ended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from native.watching import Job
from schemaxis_server.native.contract import End, HostProgram
from schemaxis_server.native.pool import HostPool
from schemaxis_server.providers.freecad import installation
from schemaxis_server.providers.freecad.provider import PROVIDER, VERSION

from providers.engines import needs

pytestmark = needs(PROVIDER)

_TESTS = Path(__file__).parents[1]
_SOURCES = Path(installation.__file__).parents[3]
_PROGRAM = PROVIDER.producer(PROVIDER.engine(None))
_BOX = PROVIDER.plan(
    {
        "version": VERSION,
        "nodes": [{"id": "b", "filter": "box", "options": {"length": 3, "width": 2, "height": 1}}],
        "output": "b",
    }
).document


def _entry(name: str) -> HostProgram:
    """FreeCAD's own program with another entry."""
    environment = {**_PROGRAM.environment, "PYTHONPATH": str(_TESTS)}
    return replace(_PROGRAM, entry=f"providers.freecad_entries:{name}", environment=environment)


@pytest.fixture
async def pool(tmp_path: Path) -> AsyncIterator[HostPool]:
    pool = HostPool(tmp_path / "run", f"test-{tmp_path.name}")
    yield pool
    await pool.close()


async def test_it_works_warm_in_the_systems_interpreter_alone(pool: HostPool, tmp_path: Path) -> None:
    first = Job(tmp_path / "first", _PROGRAM, {"document": _BOX})
    assert (await first.on(pool)).exit_code == 0
    second = Job(tmp_path / "second", _PROGRAM, {"document": _BOX})
    outcome = await second.on(pool)
    # A host whose preload had started threads could not be forked, and would not be warm.
    assert (outcome.exit_code, outcome.warm, outcome.tree_empty) == (0, True, True)
    assert second.json()["outputs"]["b"]["volume"]["value"] == pytest.approx(6)
    assert first.json() == second.json()
    assert second.json()["engine"] == {"name": "FreeCAD", "version": PROVIDER.engine(None).version}
    assert second.listener.states[-1] == (1.0, "done")
    assert second.listener.text("stdout") == []


async def test_a_job_keeps_to_its_own_folders_and_to_the_standard_library(
    pool: HostPool, tmp_path: Path
) -> None:
    job = Job(tmp_path / "job", replace(_entry("surroundings"), preload=_PROGRAM.preload), {})
    assert (await job.on(pool)).exit_code == 0
    found = job.json()
    assert found["home"] == str(tmp_path / "job" / "home")
    assert found["loaded"] == found["foreign"] == []
    assert found["threads"] == 1
    assert found["python"] == _PROGRAM.python
    # FreeCAD decided on its folders when it was loaded, so that the host has to tell it of each job's.
    produced = Job(tmp_path / "produced", _PROGRAM, {"document": _BOX})
    await produced.on(pool)
    assert list((tmp_path / "produced" / "tmp").glob("FreeCAD_Doc_*"))


@pytest.mark.parametrize("real", [False, True])
async def test_a_segmentation_fault_is_one(real: bool, pool: HostPool, tmp_path: Path) -> None:
    """FreeCAD's own handler would make an exit of it."""
    job = Job(tmp_path / "job", _entry("segmentation_fault"), {"real": real})
    outcome = await job.on(pool)
    assert (outcome.end, outcome.signal, outcome.exit_code) == (End.EXITED, signal.SIGSEGV, None)
    assert not job.has("result.json")


async def test_a_hang_ends_at_its_deadline(pool: HostPool, tmp_path: Path) -> None:
    await pool.warm(_entry("hang"))
    outcome = await Job(tmp_path / "job", _entry("hang"), {}, deadline_seconds=0.5).on(pool)
    assert (outcome.end, outcome.tree_empty) == (End.DEADLINE, True)
    assert outcome.wall_seconds < 3


async def test_a_boolean_is_stopped_at_once(pool: HostPool, tmp_path: Path) -> None:
    job = Job(tmp_path / "job", _entry("long_boolean"), {}, grace_seconds=20.0)
    running = job.begin(pool)
    await job.listener.line("uniting")
    job.cancel.set()
    began = time.monotonic()
    outcome = await running
    # TERM was enough: the grace was not waited for.
    assert time.monotonic() - began < 5
    assert (outcome.end, outcome.signal, outcome.tree_empty) == (End.CANCELLED, signal.SIGTERM, True)


@pytest.mark.parametrize(
    ("missing", "how"),
    [(("HOME",), "unset"), (("TMPDIR",), "no such folder"), (("HOME", "TMPDIR"), "unset")],
)
def test_it_starts_without_a_home_or_a_place_for_temporary_files(
    missing: tuple[str, ...], how: str, tmp_path: Path
) -> None:
    environment = {
        "PATH": os.defpath,
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
        "PYTHONPATH": str(_SOURCES),
        **_PROGRAM.environment,
    }
    for name in missing:
        if how == "unset":
            del environment[name]
        else:
            environment[name] = str(tmp_path / "none")
    before = set(os.listdir("/"))
    code = (
        "import json, sys\n"
        "from pathlib import Path\n"
        "from schemaxis_server.native.hostkit import Kit\n"
        "from schemaxis_server.providers.freecad import host\n"
        "made = host.run(json.load(sys.stdin), Kit(Path(sys.argv[1])))\n"
        "Path(sys.argv[1], 'made.json').write_text(json.dumps(made))\n"
    )
    run = tmp_path / "run"
    run.mkdir()
    done = subprocess.run(
        [_PROGRAM.python, "-s", "-c", code, run],
        input=json.dumps({"document": _BOX}),
        env=environment,
        cwd=run,
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((run / "made.json").read_text())["outputs"]["b"]["volume"]["value"] == pytest.approx(6)
    assert set(os.listdir("/")) == before


# Finding it


@pytest.mark.parametrize(
    "location", ["/usr", "/usr/lib/freecad-python3", "/usr/lib/freecad-python3/lib", "/usr/bin/freecadcmd"]
)
def test_any_way_to_name_an_installation_leads_to_it(location: str) -> None:
    if not Path(location).exists():
        pytest.skip(f"{location} is not how this FreeCAD was installed")
    assert PROVIDER.engine(location) == PROVIDER.engine(None)


def test_where_there_is_none_it_says_what_to_install(tmp_path: Path) -> None:
    engine = PROVIDER.engine(str(tmp_path))
    assert not engine.available
    assert str(tmp_path) in engine.problem
    assert engine.install == "apt-get install freecad-python3"


def test_the_version_is_that_of_the_package_and_what_freecad_says() -> None:
    engine = PROVIDER.engine(None)
    said, problem = installation._asked_version(installation.of(engine.path))
    assert (said, problem) == (engine.version, "")


def test_looking_loads_nothing_and_is_quick() -> None:
    installation._versions.clear()
    PROVIDER.engine(None)
    began = time.perf_counter()
    PROVIDER.engine(None)
    assert time.perf_counter() - began < 0.05
    code = (
        "import sys\n"
        "from schemaxis_server.providers.freecad.provider import PROVIDER\n"
        "assert PROVIDER.engine(None).available\n"
        "assert not {'FreeCAD', 'OCP', 'numpy', 'Part'} & set(sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=60)


def test_a_copy_elsewhere_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No package tells the version of what lies outside of one, so FreeCAD is started, once for each state."""
    asked: list[str] = []
    real = installation._asked_version

    def counted(found: installation.Installation) -> tuple[str, str]:
        asked.append(found.library)
        return real(found)

    monkeypatch.setattr(installation, "_asked_version", counted)
    source = Path(PROVIDER.engine(None).path).parent
    library = tmp_path / "lib"
    library.mkdir()
    for one in source.iterdir():
        if one.name != "FreeCAD.so":
            (library / one.name).symlink_to(one)
    shutil.copy2(source / "FreeCAD.so", library)
    first, second = PROVIDER.engine(str(tmp_path)), PROVIDER.engine(str(library))
    assert first == second
    assert first.available, first.problem
    assert first.version == PROVIDER.engine(None).version
    assert asked == [str(library)]
    (library / "FreeCAD.so").touch()
    assert PROVIDER.engine(str(library)).available
    assert len(asked) == 2


def test_a_broken_copy_says_why(tmp_path: Path) -> None:
    (tmp_path / "FreeCAD.so").write_bytes(b"\x7fELF no more")
    engine = PROVIDER.engine(str(tmp_path))
    assert not engine.available
    assert "cannot load it" in engine.problem
