"""Forecast, salvage and dump of a store whose log a failover has cut."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cli.tests.commands.stores.recover_command import STORES, foretold
from cli.tests.commands.stores.salvage_command import run
from spec.store.epoch_file import EPOCH_FILE

RECORDED = STORES.parent / "failovers" / "5.3.3"
COUNT = 32
"""Messages of its log."""


@pytest.fixture(params=[True, False])
def is_in_controller_mode(request: pytest.FixtureRequest) -> bool:
    """Return whether the store has the file of epochs."""
    return bool(request.param)


@pytest.fixture
def store(tmp_path: Path, *, is_in_controller_mode: bool) -> Path:
    """Return a copy of the recorded store."""
    found = shutil.copytree(RECORDED, tmp_path / "store")
    if not is_in_controller_mode:
        (found / EPOCH_FILE).unlink()
    return found


def salvaged(store: Path, target: Path) -> dict[str, Any]:
    """Return the report of a salvage."""
    _, output = run("salvage", store, "-o", target, "--format", "json")
    found = json.loads(output)
    assert isinstance(found, dict)
    return found


def test_a_start_loses_nothing_that_was_cut_off(
    store: Path, *, is_in_controller_mode: bool
) -> None:
    found = foretold(store, "5.3.3")
    assert int(found["log"]["cut_bytes"]) > 0
    assert (found["totals"]["lost"] == 0) is is_in_controller_mode


def test_a_salvage_leaves_out_what_was_cut_off(
    store: Path, tmp_path: Path, *, is_in_controller_mode: bool
) -> None:
    found = salvaged(store, tmp_path / "new")
    assert (found["messages"] == COUNT) is is_in_controller_mode
    assert (found["lost"] == 0) is is_in_controller_mode
    notes = [one for one in found["warnings"] if "a failover has cut the log at" in one]
    assert len(notes) == is_in_controller_mode


def test_a_dump_leaves_out_what_was_cut_off(
    store: Path, *, is_in_controller_mode: bool
) -> None:
    code, output = run("dump", store)
    lines = [line for line in output.splitlines() if line.startswith("{")]
    assert (code == 0) is is_in_controller_mode
    assert (len(lines) == COUNT) is is_in_controller_mode
