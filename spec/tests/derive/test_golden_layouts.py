"""The layouts are the ones whose prints lie in fixtures/layouts."""

from __future__ import annotations

from pathlib import Path

import pytest

from spec.derive.table import rows, table
from spec.layouts import LAYOUTS

PRINTS = Path(__file__).parents[3] / "fixtures" / "layouts"
AGAIN = "python -m fixtures.record.vectors writes"


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_a_layout_prints_as_it_did(name: str) -> None:
    golden = (PRINTS / f"{name}.txt").read_text(encoding="utf-8")
    assert table(LAYOUTS[name]) == golden, f"{AGAIN} fixtures/layouts/{name}.txt"


def test_every_golden_print_has_a_layout() -> None:
    assert {path.stem for path in PRINTS.glob("*.txt")} == set(LAYOUTS), AGAIN


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_every_field_says_what_it_is(name: str) -> None:
    assert all(row.meaning for row in rows(LAYOUTS[name]))
