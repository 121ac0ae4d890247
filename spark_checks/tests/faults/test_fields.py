"""
Every field of every structure is in the table, and the table is right.

Wrong values of all fields are planted into generated stores. An audit finds each where
the table has a finding, and has no finding where the table has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_checks.findings import INVARIANTS
from spark_checks.generate.plan import Plan
from spark_checks.generate.store import generate
from spark_checks.tests.fields import field_table as table
from spark_checks.tests.fields.checked_faults import (
    BASIC,
    GROUPS,
    MANY_FILES,
    RICH,
    auditor,
    check_faults,
)
from spark_checks.tests.fields.field_faults import FaultSites, wrong_value
from spark_checks.tests.fields.field_places import STRUCTURES, field_names
from spark_checks.tests.fields.field_table import (
    TableError,
    Wrong,
    declared_fields,
    field_table,
)
from spark_checks.tests.slow import slow_but
from spec.layouts import LAYOUTS
from spec.registry import modules


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Mapping[Plan, Path]:
    """Return the generated stores."""
    found = {}
    for plan in (BASIC, RICH, MANY_FILES):
        found[plan] = tmp_path_factory.mktemp("store")
        generate(found[plan], plan)
    return found


def test_every_layout_of_a_store_is_in_the_table() -> None:
    of_store = [one for one in modules() if one.__name__.startswith("spec.store.")]
    declared = {
        name
        for name, layout in LAYOUTS.items()
        if any(layout is value for one in of_store for value in vars(one).values())
    }
    assert declared == set(STRUCTURES)


def test_every_field_has_an_entry_and_every_entry_an_invariant() -> None:
    known = set(INVARIANTS)
    for structure, entries in field_table().items():
        assert list(entries) == declared_fields()[structure]
        for entry in entries.values():
            for outcome in entry.outcomes.values():
                assert set(outcome.findings) <= known


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        (
            "physic_ms =",
            "renamed_ms =",
            "checkpoint: no entry of .'physic_ms'., unknown .'renamed_ms'.",
        ),
        ("every = ", "each = ", "has the kinds"),
        ('"INV-LOG-002"', '"INV-LOG-002 often"', "often"),
        ('"INV-LOG-002"', '"-"', "needs a reason"),
    ],
)
def test_a_wrong_table_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, error: str
) -> None:
    text = table.PATH.read_text(encoding="utf-8")
    assert old in text
    changed = tmp_path / "fields.toml"
    changed.write_text(text.replace(old, new, 1), encoding="utf-8")
    monkeypatch.setattr(table, "PATH", changed)
    with pytest.raises(TableError, match=error):
        field_table.__wrapped__()


@pytest.mark.parametrize("group", slow_but(GROUPS, "headers"))
def test_wrong_values_of_all_fields_are_found_as_the_table_has_it(
    spark: SparkSession, stores: Mapping[Plan, Path], group: str
) -> None:
    plan, structures = GROUPS[group]
    root = stores[plan]
    faults = list(FaultSites(root).faults(structures))
    empty = {"filter_bits"}  # generated extension units have no bit map
    assert {fault.field for fault in faults} == {
        field for name in structures for field in field_names(STRUCTURES[name])
    } - empty
    check_faults(root, faults, auditor(spark))


@pytest.mark.parametrize(
    ("right", "wrong", "is_number", "expected"),
    [
        (b"\0\7", Wrong.ZERO, True, b"\0\0"),
        (b"\0\0", Wrong.ZERO, True, None),
        (b"\0\7", Wrong.MAXIMUM, True, b"\x7f\xff"),
        (b"\0\7", Wrong.NEGATIVE, True, b"\xff\xff"),
        (b"\0\xff", Wrong.PLUS_ONE, True, b"\1\0"),
        (b"\xff\xff", Wrong.PLUS_ONE, True, b"\0\0"),
        (b"\0\7", Wrong.NEIGHBOUR, True, b"\0\x09"),
        (b"ab", Wrong.MAXIMUM, False, b"\xff\xff"),
        (b"ab", Wrong.PLUS_ONE, False, b"ac"),
        (b"ab", Wrong.NEGATIVE, False, None),
        (b"abc", Wrong.NEIGHBOUR, False, None),
        (b"", Wrong.ZERO, False, None),
    ],
)
def test_a_wrong_value_is_another_of_the_same_size(
    right: bytes, wrong: Wrong, is_number: bool, expected: bytes | None
) -> None:
    found = wrong_value(
        right, wrong, is_number=is_number, is_signed=True, neighbour=b"\0\x09"
    )
    assert found == expected
