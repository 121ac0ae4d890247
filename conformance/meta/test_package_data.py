"""
Files of the packages get into the wheel, by the patterns of pyproject.toml.

`tox -e package` builds a real wheel; this check is fast enough for every run.
"""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

import pytest

from conformance.harness.header_tables import TABLES
from conformance.harness.report.evidence.request_coverage import ENTRIES_FILE
from conformance.harness.targets.started.embedded import SOURCES
from conformance.interop.tools.installed_wheel import NAME, is_shipped, tracked_files

PROJECT = tomllib.loads((SOURCES / "pyproject.toml").read_text(encoding="utf-8"))


def is_included(name: str) -> bool:
    """Return whether setuptools, by its settings, includes the file of this path."""
    path = PurePosixPath(name)
    package = ".".join(path.parent.parts)
    if package == NAME:
        return path.suffix == ".py"
    packages = PROJECT["tool"]["distribution"]["packages"]
    if "tests" in path.parts:
        return False  # as setup.py does
    if not any(fnmatchcase(package, one) for one in packages):
        return False
    data = PROJECT["tool"]["setuptools"]["package-data"]
    inner = f"{NAME}.packages.{package}"
    patterns = ["*.py", *data["*"], *data.get(inner, ())]
    return any(fnmatchcase(path.name, pattern) for pattern in patterns)


@pytest.mark.skipif(
    not (SOURCES / ".git").exists(), reason="this is no checkout: git knows no files"
)
def test_files_that_commands_read_are_installed() -> None:
    read = [ENTRIES_FILE, *TABLES.glob("*.json")]
    assert all(is_included(str(one.relative_to(SOURCES))) for one in read)


def test_every_file_of_a_room_is_installed_and_nothing_else() -> None:
    names = tracked_files()
    left_out = [name for name in names if is_shipped(name) and not is_included(name)]
    assert left_out == [], "pyproject.toml, package-data: no pattern takes these"
    too_many = [name for name in names if is_included(name) and not is_shipped(name)]
    assert too_many == []
