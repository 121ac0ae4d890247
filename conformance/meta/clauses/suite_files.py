"""The suite read as text: which clauses its tests name, what its modules import."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from conformance.harness.pytest_plugin.options import SUITES
from conformance.harness.targets.started.embedded import SOURCES

PACKAGE = SOURCES / "conformance"
UNTESTED = Path(__file__).with_name("untested.toml")
"""Clauses without a test, each with the reason."""


def suite_files(names: tuple[str, ...] = SUITES) -> list[Path]:
    """Return the Python files of the suites of these names, or all."""
    return [file for name in names for file in sorted((PACKAGE / name).rglob("*.py"))]


def named_clauses(file: Path) -> Iterator[str]:
    """Yield the ids that the clause markers in *file* name."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and _is_clause_marker(node.func):
            for argument in node.args:
                assert isinstance(argument, ast.Constant), f"{file}: {node.lineno}"
                yield str(argument.value)


def imported_modules(file: Path) -> Iterator[str]:
    """Yield the names of the modules that *file* imports."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def _is_clause_marker(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr == "clause"
