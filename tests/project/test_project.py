"""The project's own promises: its tasks, its pages and the words in its files."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/*.md")]

# What nobody outside the place where a file was written can follow.
_FOREIGN = re.compile(r"/(work|farm)/|\bissue #?\d+|\bTODO\b|\bFIXME\b|\bas an AI\b")
_THIS_FILE = "tests/project/test_project.py"


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)


def test_the_generated_pages_are_fresh() -> None:
    done = run(sys.executable, "scripts/gen_docs.py", "--check")
    assert done.returncode == 0, done.stderr


def test_the_demonstration_holds_and_saves_its_pictures(tmp_path: Path) -> None:
    done = run(sys.executable, "scripts/demo.py", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    told = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    assert ["observe", "the volume is 1500 mm³"] in told
    assert "BUDGET_EXHAUSTED" in done.stdout
    # Both parts tell what verified them and what nothing did.
    for part in ("body", "flange"):
        for start in ("  verify", "  not covered"):
            lines = [line for line in done.stdout.splitlines() if line.startswith(start) and part in line]
            assert lines, (part, start)
    for name in ("box.png", "flange.png"):
        assert (tmp_path / "demo" / name).read_bytes().startswith(b"\x89PNG")
        assert name in done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere_and_tasks_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    links = [link for link in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []
    tasks = set(re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z]+)`|^make ([a-z]+) ", text, re.MULTILINE)) <= {
        pair for task in tasks for pair in ((task, ""), ("", task))
    }


def test_named_files_exist() -> None:
    """Paths of this project in the pages, as far as they name a file of it."""
    for page in PAGES:
        for path in re.findall(
            r"`((?:tests|src|scripts|docs|bench|proto)/[\w./-]+\.\w+)`", page.read_text("utf-8")
        ):
            assert (ROOT / path).exists(), f"{page.name}: {path}"


def test_the_project_speaks_of_itself_alone() -> None:
    listed = run("git", "ls-files", "-z").stdout.split("\0")
    files = [name for name in listed if name and name != _THIS_FILE and (ROOT / name).is_file()]
    assert "README.md" in files
    found = []
    for name in files:
        data = (ROOT / name).read_bytes()
        if b"\0" not in data:
            found += [f"{name}: {hit[0]}" for hit in _FOREIGN.finditer(data.decode("utf-8", "replace"))]
    assert found == []
