"""Data versions of tables, which admin requests change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def version_in(table: Mapping[str, Any]) -> list[int]:
    """Return counter and time of the data version of a table; -1 for each absent."""
    version = table.get("dataVersion") or {}
    return [version.get(name, -1) for name in ("counter", "timestamp")]
