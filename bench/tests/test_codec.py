"""A measurement decodes the same records in every way, Java's among them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.measurements.codec import GOALS, measure
from bench.processes.java_decoder import SOURCE
from bench.processes.recorded_log import NoLogError, given_log
from bench.report.result import encode_report
from spec.store.commit_log import scan

STORES = Path(__file__).parents[2] / "fixtures" / "store"


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep trimmed logs out of the user's cache, whose jars are used all the same."""
    monkeypatch.setattr(
        "bench.processes.recorded_log.cache_directory", lambda: tmp_path
    )


@pytest.mark.parametrize("release", ["4.6.0", "5.3.3"])
def test_every_way_decodes_the_same_records(release: str) -> None:
    log = given_log(STORES / f"{release}-stopped")
    lines: list[str] = []
    found = measure(log, release=release, rounds=1, progress=lines.append)
    records = len(scan(log.data).records)
    shown = json.loads(encode_report(found))
    assert shown["log"]["records"] == records > 50
    assert all(way.records_per_s > 0 for way in found.ways)
    assert len(found.goals) == len(GOALS)
    assert any("round 1 of 1" in line for line in lines)


def test_a_log_is_cut_after_its_last_record() -> None:
    log = given_log(STORES / "4.6.0-stopped" / "commitlog" / "00000000000000000000")
    assert scan(log.data).end_offset == len(log.data) == log.path.stat().st_size


def test_what_is_no_store_is_named(tmp_path: Path) -> None:
    (tmp_path / "commitlog").mkdir()
    with pytest.raises(NoLogError, match="no commit log"):
        given_log(tmp_path)
    (tmp_path / "commitlog" / "0").write_bytes(b"noise" * 100)
    with pytest.raises(NoLogError, match="no record begins it"):
        given_log(tmp_path)


def test_the_harness_is_ours_and_small() -> None:
    assert len(SOURCE.read_text().splitlines()) < 100
