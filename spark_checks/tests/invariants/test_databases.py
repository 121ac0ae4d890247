"""
A database of RocksDB whose file CURRENT names no manifest keeps a broker from starting.

Its other files have no content here; real ones are in conformance/interop/stores.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_checks.invariants.databases import check_databases
from spark_checks.store_files import list_store
from spec.store.rocksdb_files import database_defect, is_database

WHOLE = {"CURRENT": "MANIFEST-000016\n", "MANIFEST-000016": "", "000011.sst": ""}


@pytest.mark.parametrize(
    ("directory", "changes", "found"),
    [
        ("consumequeue", {}, None),
        ("config/topics", {}, None),
        ("consumequeue", {"CURRENT": None}, "no file"),
        ("consumequeue_rocksdb", {"CURRENT": ""}, "no name of a manifest"),
        ("config/rdb", {"CURRENT": "\0" * 16}, "no name of a manifest"),
        (
            "config/topics",
            {"MANIFEST-000016": None},
            "the name MANIFEST-000016, which is missing",
        ),
        ("config/users", {"MANIFEST-000016": None}, None),  # no broker was tried
        ("kvStore", {"MANIFEST-000016": None}, None),
    ],
)
def test_a_database_names_a_manifest_that_exists(
    tmp_path: Path, directory: str, changes: dict[str, str | None], found: str | None
) -> None:
    place = tmp_path / directory
    place.mkdir(parents=True)
    (tmp_path / "commitlog").mkdir()
    (tmp_path / "consumequeue" / "T" / "0").mkdir(parents=True)
    for name, text in {**WHOLE, **changes}.items():
        if text is not None:
            (place / name).write_text(text)
    store = list_store(str(tmp_path))
    findings = list(check_databases(store))
    file = f"{directory}/CURRENT"
    expected = [("INV-ROCKSDB-001", file, f"{file} has {found}.")] if found else []
    assert [(o.invariant.id, o.file, o.message) for o in findings] == expected


def test_other_files_are_no_database() -> None:
    assert not is_database(["topics.json", "00000000000000000000", "LOCK"])
    assert is_database(["LOCK", "000011.sst"])
    assert database_defect(["MANIFEST-1"], "MANIFEST-1") is None
