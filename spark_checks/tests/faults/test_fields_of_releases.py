"""
Wrong values of all fields are found in stores that real brokers wrote.

The environment ``audit-fields`` of tox runs this module, for half an hour.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_checks.tests.fields.checked_faults import GROUPS, RICH, auditor, check_faults
from spark_checks.tests.fields.field_faults import FaultSites
from spark_checks.tests.recorded_parts import RELEASES, store_of
from spark_checks.tests.recorded_stores import STORES
from spec.store.checkpoint import Checkpoint, encode_checkpoint
from spec.store.commit_log import scan

FAULTS_MIN = 30
"""Wrong values that every store has place for, in each group but the blanks. The last
store has no records for them: messages of a batch share their unique key."""
RICH_GROUPS = [group for group, (plan, _) in GROUPS.items() if plan is RICH]


@pytest.mark.parametrize("group", [g for g in GROUPS if g not in RICH_GROUPS])
@pytest.mark.parametrize("store", STORES, ids=lambda path: path.name)
def test_wrong_values_are_found_in_a_store_of_a_release(
    spark: SparkSession, tmp_path: Path, store: Path, group: str
) -> None:
    root = shutil.copytree(store, tmp_path / "store")
    faults = list(FaultSites(root).faults(GROUPS[group][1]))
    is_scarce = group == "blanks" or (group == "records" and store == STORES[-1])
    assert is_scarce or len(faults) >= FAULTS_MIN
    check_faults(root, faults, auditor(spark))


@pytest.mark.parametrize("group", RICH_GROUPS)
@pytest.mark.parametrize("release", RELEASES)
def test_wrong_values_are_found_in_extensions_and_batch_queues_of_a_release(
    spark: SparkSession, tmp_path: Path, release: str, group: str
) -> None:
    root = store_of(release, tmp_path / "store")
    (file,) = (root / "commitlog").iterdir()
    last_ms = scan(file.read_bytes()).records[-1].record.stored_at_ms
    checkpoint = Checkpoint(physic_ms=last_ms, logics_ms=last_ms)
    (root / "checkpoint").write_bytes(encode_checkpoint(checkpoint))
    faults = list(FaultSites(root).faults(GROUPS[group][1]))
    assert len(faults) >= FAULTS_MIN
    check_faults(root, faults, auditor(spark))
