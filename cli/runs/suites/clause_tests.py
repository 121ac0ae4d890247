"""
Tests by the clause that they name.

The tests' source is parsed, not imported. The specification can therefore be exported
where pytest is missing or a test cannot be loaded.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_Marked = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
MARK = ".clause("
"""Text in each file with a test that names a clause."""
READ_ONLY = "pytest.mark.read_only"
_Values = dict[str, ast.expr]


@cache
def clause_tests(root: Path) -> dict[str, list[str]]:
    """Return the tests that name each clause, as ``file::test``, by clause id."""
    found: dict[str, list[str]] = {}
    for path in sorted((root / "conformance").rglob("*.py")):
        name = path.relative_to(root).as_posix()
        try:
            text = path.read_text(encoding="utf-8")
            if MARK not in text:
                continue  # most files of the harness: parsing all takes 1 s more
            module = ast.parse(text)
        except (SyntaxError, UnicodeDecodeError):
            continue  # pytest reports it; an export need not
        values = _module_values(module)
        for test, clause_id in _marks(module.body, list(_module_ids(values)), values):
            tests = found.setdefault(clause_id, [])
            if f"{name}::{test}" not in tests:
                tests.append(f"{name}::{test}")
    return found


@cache
def read_only_tests(root: Path) -> frozenset[str]:
    """Return the tests that write nothing, as ``file::test``."""
    return frozenset(
        f"{path.relative_to(root).as_posix()}::{node.name}"
        for path in sorted((root / "conformance").rglob("test_*.py"))
        if READ_ONLY in (text := path.read_text(encoding="utf-8"))
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(mark) == READ_ONLY for mark in node.decorator_list)
    )


def _marks(
    body: list[ast.stmt], inherited: list[str], values: _Values, prefix: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield every test in *body* with each clause that it, or its class, names."""
    for node in body:
        if not isinstance(node, _Marked):
            continue
        named = (i for mark in node.decorator_list for i in _ids_within(mark, values))
        ids = [*inherited, *named]
        if isinstance(node, ast.ClassDef):
            yield from _marks(node.body, ids, values, f"{prefix}{node.name}::")
        elif node.name.startswith("test"):
            yield from ((prefix + node.name, clause_id) for clause_id in ids)


def _module_values(module: ast.Module) -> _Values:
    """Return the values of the module's assignments, by name."""
    return {
        target.id: node.value
        for node in module.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _module_ids(values: _Values) -> Iterator[str]:
    if "pytestmark" in values:
        yield from _ids_within(values["pytestmark"], {})


def _ids_within(mark: ast.expr, values: _Values) -> Iterator[str]:
    """Yield the ids that *mark* names, or that a mark within it does.

    A test may name a clause for one of its parameters: ``param(..., marks=...)``, also
    where the module has the parameters under a name.
    """
    for inner in ast.walk(mark):
        if isinstance(inner, ast.Name) and inner.id in values:
            yield from _ids_within(values[inner.id], {})
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
