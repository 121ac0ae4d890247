"""Colours of a terminal, and their absence with ``NO_COLOR``."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import main

FILE = Path(__file__).parents[3] / "fixtures" / "store" / "4.6.0-stopped" / "checkpoint"


@pytest.mark.parametrize(("value", "is_coloured"), [("", True), ("1", False)])
def test_no_color_removes_the_colours(
    monkeypatch: pytest.MonkeyPatch, value: str, *, is_coloured: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", value)
    shown = CliRunner().invoke(main, ["inspect", str(FILE)], color=True)
    assert shown.exit_code == 0
    assert ("\x1b[" in shown.output) is is_coloured
