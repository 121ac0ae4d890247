"""Every module of vectorised recovery has a mutant, or a reason why it has none."""

from __future__ import annotations

from pathlib import Path

from conformance.harness.targets.started.embedded import FAST_PACKAGES, SOURCES
from conformance.mutants.mutant import all_mutants

WITHOUT = {
    "columns/accelerated.py": "it chooses between a kernel and its fallback; recovery"
    " installs no kernel, and columns/tests compare the two",
    "columns/file_holes.py": "no peer shows which parts of a file are holes;"
    " reference/tests/shell and spark_checks/tests/readers/test_sparse.py test it",
}
"""Modules without a mutant. The list may only shrink."""


def test_each_fast_module_has_a_mutant() -> None:
    modules = {
        str(path.relative_to(SOURCES))
        for package in FAST_PACKAGES
        for path in (SOURCES / package).glob("*.py")
        if path.name != "__init__.py"
    }
    mutated = {str(Path(one.file)) for one in all_mutants().values()}
    assert modules - mutated == set(WITHOUT)
