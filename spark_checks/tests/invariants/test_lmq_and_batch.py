"""
Extensions, LMQs and batch consume queues of real brokers have no findings.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_checks.audit import audit_store
from spark_checks.readers.multi_dispatch import places_of
from spark_checks.sampling import SampleSpec
from spark_checks.tests.slow import slow_but

PARTS = Path(__file__).resolve().parents[3] / "fixtures" / "parts"
RELEASES = ("4.4.0", "4.6.0", "4.9.7", "5.3.3", "5.4.0", "5.5.0")
SIZES = {
    "commitlog": 65_536,
    "consumequeue": 400,
    "consumequeue_ext": 100,
    "batchconsumequeue": 184,
}
"""Bytes of the files, whose zeros at the end are not recorded."""


def store_of(release: str, root: Path) -> Path:
    """Return the recorded parts of a store of *release*, at their full sizes."""
    for file in (PARTS / release).rglob("*"):
        name = file.relative_to(PARTS / release)
        if file.is_file() and name.parts[0] in {*SIZES, "config"}:
            size = SIZES.get(name.parts[0], 0)
            place = root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.read_bytes().ljust(size, b"\0"))
    return root


@pytest.mark.parametrize("release", slow_but(RELEASES, "5.5.0"))
def test_what_a_broker_wrote_is_silent(
    spark: SparkSession, tmp_path: Path, release: str
) -> None:
    root = store_of(release, tmp_path)
    has = {one.name for one in root.iterdir()}
    assert "consumequeue_ext" in has
    assert ("batchconsumequeue" in has) == release.startswith("5")
    assert (root / "consumequeue" / "%LMQ%a").exists() == (release >= "4.9")
    for options in (None, SampleSpec(fraction=0.5, seed=3)):
        found = audit_store(spark, str(root), sample_spec=options)
        output = {one.message for one in found.findings if one.file != "checkpoint"}
        assert output == set()


@pytest.mark.parametrize(
    ("properties", "places"),
    [
        ("INNER_MULTI_DISPATCH\x01%LMQ%a\x02", []),
        (
            "INNER_MULTI_DISPATCH\x01%LMQ%a,T\x02INNER_MULTI_QUEUE_OFFSET\x017,3\x02",
            [("lmq", "%LMQ%a", 7, 1), ("shared", "T", 3, 1)],
        ),
        ("INNER_MULTI_DISPATCH\x01%LMQ%a\x02INNER_MULTI_QUEUE_OFFSET\x017,3\x02", []),
        ("INNER_MULTI_DISPATCH\x01%LMQ%a\x02INNER_MULTI_QUEUE_OFFSET\x01x\x02", []),
        (
            "INNER_MULTI_DISPATCH\x01T,%LMQ%a\x02INNER_MULTI_QUEUE_OFFSET\x01,7\x02",
            [],
        ),
        ("INNER_NUM\x013\x02", []),
        ("INNER_NUM\x013\x02INNER_BASE\x0141\x02", [("batch", "Orders", 41, 3)]),
        ("INNER_NUM\x01-3\x02INNER_BASE\x0141\x02", []),
    ],
)
def test_a_record_says_where_it_stands(
    properties: str, places: list[tuple[str, str, int, int]]
) -> None:
    assert list(places_of(properties, "Orders")) == places
