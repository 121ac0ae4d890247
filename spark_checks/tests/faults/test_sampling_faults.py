"""
Samples of a store with every fault have only findings of the whole (minutes).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_checks.audit import Audit, audit_store
from spark_checks.faults.catalogue import plant_all, sheets
from spark_checks.generate.store import generate
from spark_checks.sampling import SampleSpec
from spark_checks.tests.building import FAULTS_PLAN
from spark_checks.tests.commands.sampled import LEFT_OUT, places

pytestmark = pytest.mark.slow


def unreported(part: Audit, whole: Audit) -> list[str]:
    """Return the findings of *part* that *whole* lacks."""
    return [
        f"{one.invariant.id} {one.file} @ {one.offset}: {one.message}"
        for one in part.findings
        if not any(
            (one.invariant, one.severity, one.file)
            == (other.invariant, other.severity, other.file)
            and other.offset <= one.offset < other.offset + max(other.length, 1)
            for other in whole.findings
        )
    ]


@pytest.mark.parametrize("is_open", [False, True], ids=["closed", "left open"])
def test_what_a_sample_finds_is_found_in_the_whole(
    spark: SparkSession, tmp_path: Path, is_open: bool
) -> None:
    generate(tmp_path, FAULTS_PLAN)
    plant_all(tmp_path, FAULTS_PLAN, sheets()[0])
    if is_open:
        (tmp_path / "abort").touch()
    whole = audit_store(spark, str(tmp_path))
    found_places = 0
    for seed in (1, 2, 3):
        options = SampleSpec(fraction=0.35, seed=seed)
        part = audit_store(spark, str(tmp_path), sample_spec=options)
        assert unreported(part, whole) == []
        found_places += len(
            [one for one in part.findings if "-LOG-" in one.invariant.id]
        )
    assert found_places > 10
    everything = audit_store(
        spark, str(tmp_path), sample_spec=SampleSpec(fraction=1, seed=1)
    )
    expected = {place for place in places(whole) if place[0] not in LEFT_OUT}
    assert places(everything) <= expected
    # Units that point outside the log or before the first unit are not checked.
    spared = {"INV-CQ-001", "INV-CQ-003", "INV-CQ-005", "INV-INDEX-001"}
    assert {name for name, *_ in expected - places(everything)} <= spared
