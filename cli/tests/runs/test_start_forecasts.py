"""Forecasts of a start for the advice of ``rmqc audit``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cli.runs.stores.start_forecasts import start_forecast
from cli.tests.commands.stores.recover_command import LAST_FILE, copied
from reference.shell.storage import read_only_files
from spark_checks.generate.plan import Plan
from spark_checks.generate.store import generate


def test_an_unreadable_commit_log_has_no_forecast(tmp_path: Path) -> None:
    (tmp_path / "commitlog").symlink_to("commitlog")
    (tmp_path / "consumequeue").mkdir()
    assert start_forecast(str(tmp_path), None) is None


def test_a_name_that_is_not_utf_8_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "commitlog").mkdir()
    (tmp_path / "commitlog" / f"{0:020}").write_bytes(bytes(100))
    (tmp_path / "commitlog" / os.fsdecode(b"\xe9")).write_bytes(b"1")
    found = start_forecast(str(tmp_path), "4.6.0")
    assert found is not None
    assert found.refusal is not None
    assert found.refusal.startswith(r"commitlog/\xe9 has 1 bytes")


def test_a_forecast_reports_the_part_that_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_only_files, "_PROGRESS_EACH", 10_000)
    generate(tmp_path, Plan())
    parts: list[float] = []
    assert start_forecast(str(tmp_path), "4.6.0", on_part=parts.append) is not None
    assert parts == sorted(parts)
    assert parts[0] < 0.1 < 0.9 < parts[-1] <= 1


def test_an_empty_last_queue_file_prevents_a_start_of_4_6_0(tmp_path: Path) -> None:
    store = copied(tmp_path)
    last = max((store / "consumequeue/HandoverOrders/0").iterdir())
    empty = last.with_name(f"{int(last.name) + last.stat().st_size:020}")
    empty.touch()
    starts = [start_forecast(str(store), one) for one in ("4.4.0", "4.6.0", "5.3.3")]
    path = str(empty.relative_to(store))
    assert [one and one.obstacle for one in starts] == [None, path, None]
    empty.unlink()
    found = start_forecast(str(store), "4.6.0")
    assert found is not None
    assert found.refusal is None


def test_a_file_with_bytes_is_not_moved_out(tmp_path: Path) -> None:
    store = copied(tmp_path)
    os.truncate(store / LAST_FILE, 65_535)
    found = start_forecast(str(store), "4.6.0")
    assert found is not None
    assert found.refusal is not None
    assert found.obstacle is None


def test_a_directory_with_the_log_is_not_moved_out(tmp_path: Path) -> None:
    store = copied(tmp_path)
    (store / "commitlog").rename(store / "moved")
    (store / "commitlog").mkdir()
    (store / "moved").rename(store / "commitlog" / "commitlog")
    found = start_forecast(str(store), "4.6.0")
    assert found is not None
    assert found.refusal == "commitlog/commitlog is no file"
    assert found.obstacle is None


def test_the_directory_of_the_log_is_not_moved_out(tmp_path: Path) -> None:
    store = copied(tmp_path)
    (store / LAST_FILE).unlink()
    (store / "commitlog" / f"{2 * 65_536:020}").write_bytes(bytes(65_536))
    found = start_forecast(str(store), "4.6.0")
    assert found is not None
    assert "waits for ever" in str(found.refusal)
    assert found.obstacle is None
