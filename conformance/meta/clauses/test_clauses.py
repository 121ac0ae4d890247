"""Clauses and tests are joined: none is forgotten, none is made up."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict

import pytest

from conformance.harness.pytest_plugin.options import SUITES
from conformance.meta.clauses.suite_files import (
    PACKAGE,
    UNTESTED,
    imported_modules,
    named_clauses,
    suite_files,
)
from spec.registry import all_clauses

CORE = PACKAGE.parent / "reference" / "core"
CLAUSE_TAG = re.compile(r"\[([A-Z]+-[A-Z]+-[0-9]{3})\]")
"""Comment beside the code that follows a clause."""
CONSTANT = re.compile(r"^([A-Z][A-Z_0-9]+)(?:: .+?)? = (Clause\()?", re.MULTILINE)


def clauses_with_tests() -> set[str]:
    return {name for file in suite_files() for name in named_clauses(file)}


def excused() -> dict[str, str]:
    text = UNTESTED.read_text(encoding="utf-8")
    return {str(name): str(reason) for name, reason in tomllib.loads(text).items()}


def test_every_clause_has_a_test_or_a_reason() -> None:
    untestable = {name for name, one in all_clauses().items() if one.untestable}
    missing = set(all_clauses()) - clauses_with_tests() - untestable - set(excused())
    assert not missing, f"no test and no reason: {' '.join(sorted(missing))}"


def test_every_named_clause_exists() -> None:
    unknown = clauses_with_tests() - set(all_clauses())
    assert not unknown, f"named by tests, declared nowhere: {' '.join(sorted(unknown))}"


def test_no_excuse_is_stale() -> None:
    open_ones = set(all_clauses()) - clauses_with_tests()
    stale = sorted(set(excused()) - open_ones)
    assert not stale, f"tested, or gone: {' '.join(stale)}"
    assert all(len(reason) > 10 for reason in excused().values())


def test_nothing_untestable_is_clauses_with_tests() -> None:
    both = [name for name in clauses_with_tests() if all_clauses()[name].untestable]
    assert not both, f"said to be untestable: {' '.join(sorted(both))}"


@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_imports_neither_another_nor_the_reference(suite: str) -> None:
    others = {f"conformance.{name}" for name in SUITES if name != suite}
    forbidden = others | {"reference", "spark_checks"}
    for file in (PACKAGE / suite).rglob("*.py"):
        for module in imported_modules(file):
            assert not any(
                module == name or module.startswith(f"{name}.") for name in forbidden
            ), f"{file.relative_to(PACKAGE)} imports {module}"


def test_the_harness_does_not_import_the_reference() -> None:
    for file in PACKAGE.rglob("*.py"):
        for module in imported_modules(file):
            assert module.partition(".")[0] != "reference", file


def test_the_core_of_the_reference_names_a_clause_once() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for file in CORE.rglob("*.py"):
        for name in CLAUSE_TAG.findall(file.read_text(encoding="utf-8")):
            places[name].append(file.relative_to(CORE).as_posix())
    assert places, "no file of the core names a clause"
    assert not (unknown := set(places) - set(all_clauses())), unknown
    repeated = {name: files for name, files in places.items() if len(files) > 1}
    assert not repeated, f"in two places: {repeated}"


def test_no_value_has_the_name_of_a_clause() -> None:
    clauses, values = set[str](), set[str]()
    for package in ("spec", "reference"):
        for file in (PACKAGE.parent / package).rglob("*.py"):
            if "tests" not in file.parts:
                for name, is_clause in CONSTANT.findall(file.read_text("utf-8")):
                    (clauses if is_clause else values).add(name)
    assert len(clauses) > 1000
    assert clauses & values == set()
