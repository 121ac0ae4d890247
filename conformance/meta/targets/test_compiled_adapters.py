"""Adapters in a language with a compiler: one build for one text of the sources."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conformance.client.adapters.compiled import built, find_tool, run_tool

SUFFIXES = (".go", ".mod")


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with sources and a Python file, and use a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "go"
    (folder / "src").mkdir(parents=True)
    for name in ("go.mod", "src/main.go", "__main__.py"):
        (folder / name).write_text(name, encoding="utf-8")
    return folder


def copy_all(folder: Path, program: Path) -> None:
    """Write the names of the files in *folder* as a program."""
    names = [str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file()]
    program.write_text("\n".join(sorted(names)), encoding="utf-8")


def test_a_program_is_built_from_its_sources_alone(sources: Path) -> None:
    program = built(sources, SUFFIXES, copy_all)
    assert program.read_text("utf-8").splitlines() == ["go.mod", "src/main.go"]


def test_a_program_is_built_again_when_a_source_changes(sources: Path) -> None:
    def fail(folder: Path, _program: Path) -> None:
        raise AssertionError(f"{folder} is built again")

    program = built(sources, SUFFIXES, copy_all)
    assert built(sources, SUFFIXES, fail) == program
    (sources / "src/main.go").write_text("another", encoding="utf-8")
    assert built(sources, SUFFIXES, copy_all) != program


def test_a_failed_build_leaves_no_program(sources: Path) -> None:
    def fail(_folder: Path, program: Path) -> None:
        program.write_text("half", encoding="utf-8")
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        built(sources, SUFFIXES, fail)
    assert "src/main.go" in built(sources, SUFFIXES, copy_all).read_text("utf-8")


def test_a_tool_is_found_beside_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    tool = tmp_path / "go"
    tool.write_text("", encoding="utf-8")
    assert find_tool("go", tmp_path) is None
    tool.chmod(0o700)
    assert find_tool("go", tmp_path) == str(tool)


def test_the_output_of_a_build_is_no_line_of_the_adapter(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run_tool([sys.executable, "-c", "print('building')"], tmp_path, {})
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "building\n")
