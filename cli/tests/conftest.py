"""Output of these tests has the lines of a pipe, of any width."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the width that the workers of pytest-xdist have in their environment."""
    monkeypatch.delenv("COLUMNS", raising=False)
