"""
The fields that the reference and the suites read and write exist in the header table.

Both are read as text: this package imports neither. A name without a release is a
misspelling, which a peer would ignore silently.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from spec.tests.wire.header_tables import FOLDER, RELEASES, kept_table
from spec.wire.headers.header_history import merge
from spec.wire.headers.header_table import HeaderTable

ROOT = FOLDER.parents[1]
REQUEST_MODULES = sorted(
    (ROOT / "conformance" / "harness" / "client" / "requests").glob("*.py")
)
HANDLERS = sorted(
    file
    for package in ("broker", "name_server")
    for file in (ROOT / "reference" / "core" / package).rglob("*.py")
)
HISTORY = merge(kept_table(release) for release in RELEASES)


def nodes(module: Path) -> Iterator[ast.AST]:
    """Yield everything that *module* is made of."""
    return ast.walk(ast.parse(module.read_text(encoding="utf-8")))


def keys(node: ast.AST | None) -> set[str]:
    """Return the keys that a dictionary's source spells out."""
    found = node.keys if isinstance(node, ast.Dict) else []
    return {str(key.value) for key in found if isinstance(key, ast.Constant)}


def fields_given(module: Path) -> list[tuple[str, set[str]]]:
    """Return request codes and the names of fields that calls in *module* give them."""
    found = []
    for node in nodes(module):
        if isinstance(node, ast.Call):
            texts = [ast.unparse(one) for one in node.args]
            codes = [one[12:] for one in texts if one.startswith("RequestCode.")]
            names = set().union(*(keys(one) for one in node.args))
            found += [(code, names) for code in codes]
    return found


@pytest.mark.parametrize("module", REQUEST_MODULES, ids=lambda one: str(one.stem))
def test_the_suites_write_fields_that_the_request_has(module: Path) -> None:
    for code, names in fields_given(module):
        request = HISTORY.find(code)
        assert request is not None, code
        headers = [HISTORY.headers[name] for name in request.request_headers]
        known = {field.name for header in headers for field in header.fields}
        known |= {name for _, one in request.versions for name in one.extra_fields}
        assert not names - known, f"{code} has no field {names - known}"


def test_the_fields_that_the_suites_write_are_found() -> None:
    found = [
        one for module in REQUEST_MODULES for one in fields_given(module) if one[1]
    ]
    assert ("DELETE_TOPIC_IN_BROKER", {"topic"}) in found
    assert len(found) > 20


def read_by(module: Path) -> set[str]:
    """Return the names of the request fields that a handler reads."""
    return {
        str(node.args[0].value)
        for node in nodes(module)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and ast.unparse(node.func.value) == "request"
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }


def written_by(module: Path) -> set[str]:
    """Return the names of fields that a handler puts into a response or a request."""
    found: set[str] = set()
    for node in nodes(module):
        if isinstance(node, ast.keyword) and node.arg == "fields":
            found |= keys(node.value)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if "fields" in map(ast.unparse, targets):
                found |= keys(node.value)
    return found


def all_fields(table: HeaderTable) -> set[str]:
    """Return every field's name of a release."""
    named = {one.name for header in table.headers.values() for one in header.fields}
    extra = (
        name
        for one in table.requests
        for name in (*one.extra_fields, *one.response_extra_fields)
    )
    return named.union(extra)


@pytest.mark.parametrize("module", HANDLERS, ids=lambda one: "-".join(one.parts[-2:]))
def test_the_reference_reads_and_writes_fields_of_4_6_0(module: Path) -> None:
    unknown = (read_by(module) | written_by(module)) - all_fields(kept_table("4.6.0"))
    assert not unknown


def test_the_fields_of_the_reference_are_found() -> None:
    assert set().union(*map(read_by, HANDLERS)) >= {"topic", "queueId", "commitOffset"}
    assert set().union(*map(written_by, HANDLERS)) >= {"offset", "nextBeginOffset"}
