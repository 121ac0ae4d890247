"""Audits of stores whose log a failover has cut, and of slaves that are behind."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cli.pages.audit.start_forecast import StartForecast
from spark_checks.against.comparison import compare_stores
from spark_checks.findings import Severity
from spark_checks.store_files import StoreFile
from spark_checks.tests.building import flip, overwrite
from spark_checks.tests.commands.advised import ITEM, advice, finding, listing
from spark_checks.tests.commands.command import Runner
from spec.store.epoch_file import EPOCH_FILE
from spec.store.message_record import decode_records, record_size

FIXTURES = Path(__file__).parents[3] / "fixtures"
CUT = FIXTURES / "failovers" / "5.3.3"
COUNT = 32
STORED_AT = 56
"""Bytes of a record before its store time."""
LOG = f"commitlog/{0:020}"


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    """Return a copy of the recorded store."""
    return shutil.copytree(CUT, tmp_path / "store")


def audited(run: Runner, store: Path, *options: object) -> dict[str, Any]:
    """Return the audit's JSON."""
    found = json.loads(run(store, "--format", "json", *options).output)
    assert isinstance(found, dict)
    return found


def errors_of(found: dict[str, Any]) -> set[tuple[str, str]]:
    """Return invariant and file of each error."""
    return {
        (one["invariant"], one["file"])
        for one in found["violations"]
        if one["severity"] == "error"
    }


def test_what_a_failover_cut_off_is_no_part_of_the_log(
    run_audit: Runner, cut: Path
) -> None:
    found = audited(run_audit, cut)
    assert (found["verdict"], errors_of(found)) == ("pass", set())
    assert found["summary"]["commitlog"]["records"] == COUNT
    assert {one["invariant"] for one in found["violations"]} == {
        *("INV-CQ-001", "INV-INDEX-001", "INV-INDEX-007", "INV-INDEX-008")
    }
    (cut / EPOCH_FILE).unlink()
    found = audited(run_audit, cut)
    assert ("INV-LOG-001", LOG) in errors_of(found)
    assert found["summary"]["commitlog"]["records"] > COUNT


def test_a_file_of_epochs_without_numbers_prevents_a_start(
    run_audit: Runner, cut: Path
) -> None:
    (cut / EPOCH_FILE).write_bytes(b"")
    result = run_audit(cut)
    assert result.exit_code == 1
    assert "INV-EPOCH-001  epochFileCheckpoint @ 0" in result.output
    assert "The start of a 5.3.3 broker fails: epochFileCheckpoint has ''" in (
        " ".join(result.output.split())
    )


@pytest.mark.parametrize("is_put_back", [False, True])
def test_damage_before_the_cut_is_found(
    run_audit: Runner, cut: Path, *, is_put_back: bool
) -> None:
    size = record_size(next(iter(decode_records((cut / LOG).read_bytes()))))
    flip(cut, LOG, size + 5)
    if is_put_back:  # the clock, behind the damage
        overwrite(cut, LOG, 2 * size + STORED_AT, bytes(8))
    found = audited(run_audit, cut)
    assert ("INV-LOG-001", LOG) in errors_of(found)
    (damage,) = (
        one for one in found["violations"] if one["invariant"] == "INV-LOG-001"
    )
    assert int(damage["offset"]) == size
    assert found["summary"]["commitlog"]["records"] == COUNT - 1


def test_a_store_that_was_cut_is_behind_another(
    spark: SparkSession, run_audit: Runner, cut: Path, tmp_path: Path
) -> None:
    other = shutil.copytree(cut, tmp_path / "other")
    log = bytearray((other / LOG).read_bytes())
    end = int(audited(run_audit, cut)["summary"]["commitlog"]["max_offset"])
    assert log[end : end + 4] != bytes(4)
    log[end:] = bytes(len(log) - end)
    (other / LOG).write_bytes(log)
    for pair in ((cut, other), (other, cut)):
        compared = compare_stores(spark, *map(str, pair))
        assert (compared.here.end, compared.there.end) == (end, end)
        assert not compared.ranges


@pytest.mark.parametrize("is_slave", [False, True])
def test_offsets_ahead_of_the_log_are_a_slaves_warning(
    run_audit: Runner, tmp_path: Path, *, is_slave: bool
) -> None:
    store = shutil.copytree(FIXTURES / "store" / "4.6.0-stopped", tmp_path / "store")
    delivered = store / "config" / "delayOffset.json"
    delivered.write_text('{"offsetTable":{1:1000000}}', encoding="utf-8")
    conf = tmp_path / "broker.conf"
    conf.write_text("brokerRole=SLAVE\n" if is_slave else "brokerRole=SYNC_MASTER\n")
    found = audited(run_audit, store, "--broker-conf", conf, "--release", "4.6.0")
    severities = {one["invariant"]: one["severity"] for one in found["violations"]}
    assert severities["INV-OFFSET-002"] == ("warning" if is_slave else "error")


def test_a_start_repairs_no_index_that_a_failover_left() -> None:
    epochs = StoreFile(path=EPOCH_FILE, size=20)
    abort = StoreFile(path="abort", size=0)
    forecast = StartForecast(release="5.3.3", rebuilt=StartForecast(release="5.3.3"))
    found = [
        finding("INV-OFFSET-001", Severity.WARNING),
        finding("INV-INDEX-001", Severity.WARNING, file=ITEM.file),
    ]
    steps = {}
    for name, files in {"stopped": (epochs,), "killed": (abort, epochs)}.items():
        store = listing("consumequeue", "index")
        given = advice(*found, forecast=forecast, listing=replace(store, files=files))
        steps[name] = [given.for_group([one]) for one in found]
    assert steps["killed"] == [steps["killed"][0]] * 2
    (offset, nothing), (index, commands) = steps["stopped"]
    assert "as it catches up with its master" in offset
    assert nothing == []
    assert "builds them again" in index
    assert len(commands) == 2
