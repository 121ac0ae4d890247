"""Modules import each other without circles; imports for type checking count too."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Set

import grimp
import pytest

from conformance.harness.pytest_plugin.options import SUITES

PACKAGES = (
    "spec",
    "columns",
    "java_runtime",
    "reference",
    "conformance",
    "spark_checks",
    "bench",
    "cli",
)
OURS = "rocketmq_conformance"
"""The package of the installed distribution, which has no layer."""
CPP = "conformance.client.adapters.cpp."
"""The adapter that gets the Python package of its client when it is needed."""
BASE = frozenset({"hypothesis", "jsonschema", "psutil", "pytest", "yaml", "construct"})
"""Modules of others that the suites may import: the base installs them."""
EXAMINED = {
    (
        "conformance.meta.peers.test_refused_machines",
        "conformance.messaging.pop.test_pop_machine",
    )
}
"""Tests of a test: the state machine itself is examined."""
Imports = Mapping[str, Set[str]]
"""The modules that each module imports directly."""


def in_circles(imports: Imports) -> set[str]:
    """Return the modules of all circles, and those on a path from circle to circle."""
    left = {module: set(imported) for module, imported in imports.items()}
    while True:
        imported = set().union(*left.values())
        kept = {m: i & left.keys() for m, i in left.items() if m in imported}
        kept = {module: i & kept.keys() for module, i in kept.items()}
        kept = {module: i for module, i in kept.items() if i}
        if kept.keys() == left.keys():
            return set(left)
        left = kept


@pytest.fixture(scope="module")
def imports() -> Imports:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    return {m: graph.find_modules_directly_imported_by(m) for m in graph.modules}


@pytest.fixture(scope="module")
def found(imports: Imports) -> set[str]:
    return in_circles(imports)


def test_no_module_imports_a_module_of_tests(imports: Imports) -> None:
    importers = {
        (module, one)
        for module, imported in imports.items()
        for one in imported
        if one.rpartition(".")[2].startswith("test_")
    }
    assert importers == EXAMINED, "shared helpers stand in a module of their own"


def test_no_module_is_in_a_circle(found: set[str]) -> None:
    assert sorted(found) == []


@pytest.mark.parametrize(
    ("imports", "circle"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, set()),
        ({"a": {"b"}, "b": {"a"}}, {"a", "b"}),
        ({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}, {"b", "c"}),
    ],
)
def test_a_circle_is_found(imports: Imports, circle: set[str]) -> None:
    assert in_circles(imports) == circle


def test_the_suites_import_nothing_but_the_base_and_the_standard_library() -> None:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None, include_external_packages=True)
    allowed = BASE | sys.stdlib_module_names
    suites = tuple(f"conformance.{name}." for name in SUITES)
    others = {
        (module, imported)
        for module in graph.modules
        if module.startswith(suites) and not module.startswith(CPP)
        for imported in graph.find_modules_directly_imported_by(module)
        if imported.partition(".")[0] not in {*PACKAGES, OURS, *allowed}
    }
    assert others == set()
