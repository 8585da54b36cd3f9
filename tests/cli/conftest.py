"""A running service and a document for the tests of the command."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from schemaxis.process import ServerProcess

from cli.commands import BOX, schemaxis


@pytest.fixture(scope="package")
def served() -> Iterator[Path]:
    """A workspace whose server runs all the time."""
    with tempfile.TemporaryDirectory(prefix="sx-") as directory:
        workspace = Path(directory) / "w"
        with ServerProcess(workspace):
            yield workspace


@pytest.fixture(scope="package")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("documents") / "box.json"
    path.write_text(json.dumps(BOX))
    return path


@pytest.fixture(scope="package")
def finished(served: Path, document: Path) -> Any:
    """A finished job with everything that ``run --json`` says of it."""
    done = schemaxis(served, "run", str(document), "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def nowhere() -> Iterator[Path]:
    """A workspace that does not exist and must not come into being."""
    with tempfile.TemporaryDirectory(prefix="sx-") as directory:
        yield Path(directory) / "w"
        assert os.listdir(directory) == []
