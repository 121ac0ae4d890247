"""
Sources of the suites: limits and times are literal numbers, and failures name clauses.

An imported constant of the specification would follow a wrong specification, and so
would the reference: the test of the clause would still pass. A failure without a clause
would be an error of the harness.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.meta.clauses.suite_files import suite_files

LIMIT = ("_MAX", "_MS", "_S", "_MAGIC")
"""Ends of the names of limits, times and magics."""
ANY_INTEGER = "spec.integers"
ROOT = Path(__file__).parents[2]
SUITES = "wire", "routing", "messaging", "store", "security", "tls", "recovery"


def imported_limits(file: Path) -> Iterator[str]:
    """Yield the limits that *file* imports from the specification."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if not isinstance(node, ast.ImportFrom) or node.module == ANY_INTEGER:
            continue
        if (node.module or "").startswith("spec."):
            names = [name.name for name in node.names]
            yield from (f"{file.name}: {one}" for one in names if one.endswith(LIMIT))


def test_no_test_imports_a_limit_from_the_specification() -> None:
    tests = [file for file in suite_files() if file.name.startswith("test_")]
    assert [one for file in tests for one in imported_limits(file)] == []


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize(
    "call", ["pytest.raises(", "pytest.fail(", "(record_property:"]
)
def test_no_test_of_a_suite_fails_without_a_clause(suite: str, call: str) -> None:
    files = [*(ROOT / suite).rglob("*.py")]
    assert files
    assert [one for one in files if call in one.read_text(encoding="utf-8")] == []
