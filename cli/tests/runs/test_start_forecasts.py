"""Forecasts of a start for the advice of ``rmqc audit``."""

from __future__ import annotations

from pathlib import Path

from cli.runs.stores.start_forecasts import start_forecast


def test_an_unreadable_commit_log_has_no_forecast(tmp_path: Path) -> None:
    (tmp_path / "commitlog").symlink_to("commitlog")
    (tmp_path / "consumequeue").mkdir()
    assert start_forecast(str(tmp_path), None) is None
