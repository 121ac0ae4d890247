"""
Which tests ask for which clause.

They are read as text: the tests' source is not imported, so that the specification
can be exported where pytest is missing or a test cannot be loaded.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_Marked = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@cache
def clause_tests(root: Path) -> dict[str, list[str]]:
    """Return the tests that name each clause, as ``file::test``, by clause id."""
    found: dict[str, list[str]] = {}
    for path in sorted((root / "conformance").rglob("*.py")):
        name = path.relative_to(root).as_posix()
        try:
            module = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue  # pytest says so; an export need not
        for test, clause_id in _marks(module.body, list(_module_ids(module))):
            tests = found.setdefault(clause_id, [])
            if f"{name}::{test}" not in tests:
                tests.append(f"{name}::{test}")
    return found


def _marks(
    body: list[ast.stmt], inherited: list[str], prefix: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield every test in *body* with each clause that it, or its class, names."""
    for node in body:
        if not isinstance(node, _Marked):
            continue
        named = (i for mark in node.decorator_list for i in _ids_within(mark))
        ids = [*inherited, *named]
        if isinstance(node, ast.ClassDef):
            yield from _marks(node.body, ids, f"{prefix}{node.name}::")
        elif node.name.startswith("test"):
            yield from ((prefix + node.name, clause_id) for clause_id in ids)


def _module_ids(module: ast.Module) -> Iterator[str]:
    for node in module.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "pytestmark"
            for target in node.targets
        ):
            yield from _ids_within(node.value)


def _ids_within(mark: ast.expr) -> Iterator[str]:
    """Yield the ids that *mark* names, or that a mark within it does.

    A test may name a clause for one of its parameters: ``param(..., marks=...)``.
    """
    for inner in ast.walk(mark):
        if isinstance(inner, ast.expr):
            yield from _ids(inner)


def _ids(mark: ast.expr) -> Iterator[str]:
    """Yield the ids in ``pytest.mark.clause("...", "...")``."""
    if not isinstance(mark, ast.Call) or not isinstance(mark.func, ast.Attribute):
        return
    if mark.func.attr != "clause":
        return
    for argument in mark.args:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            yield argument.value
