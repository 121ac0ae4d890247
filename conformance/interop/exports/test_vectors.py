"""
Tests in docs/vectors.md read the vectors, run by the tools of Go and Rust.

A missing tool is an error, not a skip: these tests prove that the page is right.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "vectors.md"
VECTORS = ROOT / "fixtures" / "vectors"
DEADLINE_S = 300.0
GO_MODULE = "module vectors\n\ngo 1.21\n"
CARGO = """\
[package]
name = "vectors"
version = "0.0.0"
edition = "2021"

[dependencies]
"""


def program_of(language: str) -> str:
    """Return the program in *language* that the page shows."""
    text = PAGE.read_text(encoding="utf-8")
    (found,) = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    assert isinstance(found, str)
    return found


def tool(name: str) -> str:
    """Return the path of the tool *name*."""
    found = shutil.which(name)
    assert found is not None, f"no {name} on the PATH"
    return found


def write_go(folder: Path) -> list[str]:
    """Write Go's module into *folder*; return what tests it."""
    (folder / "go.mod").write_text(GO_MODULE, encoding="utf-8")
    (folder / "vectors_test.go").write_text(program_of("go"), encoding="utf-8")
    return [tool("go"), "test", "-count=1", "./..."]


def write_rust(folder: Path) -> list[str]:
    """Write Rust's package into *folder*; return what tests it."""
    page = PAGE.read_text(encoding="utf-8")
    crates = re.findall(r'`(\w+ = "[\d.]+")`', page)
    manifest = CARGO + "".join(f"{one}\n" for one in crates)
    (folder / "Cargo.toml").write_text(manifest, encoding="utf-8")
    (folder / "src").mkdir()
    (folder / "src" / "lib.rs").write_text("", encoding="utf-8")
    (folder / "tests").mkdir()
    program = program_of("rust")
    (folder / "tests" / "vectors.rs").write_text(program, encoding="utf-8")
    return [tool("cargo"), "test", "--quiet", "--test", "vectors"]


def outcome(words: list[str], folder: Path, vectors: Path) -> tuple[bool, str]:
    """Return whether the tests in *folder* pass on *vectors*, and what they print."""
    done = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, "VECTORS": str(vectors)},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    return done.returncode == 0, done.stdout + done.stderr


def corrupted(folder: Path, file: str, result: dict[str, Any]) -> Path:
    """Return a copy of the vectors with *result* in the first test of *file*."""
    shutil.copytree(VECTORS, folder)
    found = json.loads((folder / file).read_text(encoding="utf-8"))
    found["testGroups"][0]["tests"][0] |= result
    (folder / file).write_text(json.dumps(found), encoding="utf-8")
    return folder


CASES: dict[str, tuple[Callable[[Path], list[str]], str, dict[str, Any]]] = {
    "go": (write_go, "hashes.json", {"hash": 7}),
    "rust": (write_rust, "records.json", {"result": "invalid"}),
}


@pytest.mark.parametrize("language", CASES)
def test_the_page_s_program_reads_the_vectors(language: str, tmp_path: Path) -> None:
    write, file, result = CASES[language]
    folder = tmp_path / language
    folder.mkdir()
    words = write(folder)
    passed, printed = outcome(words, folder, VECTORS)
    assert passed, printed
    wrong = corrupted(tmp_path / "corrupted", file, result)
    passed, printed = outcome(words, folder, wrong)
    assert not passed, "a wrong vector goes unnoticed"
