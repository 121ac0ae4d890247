"""Small stores that real brokers wrote."""

from __future__ import annotations

from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
STORES = [*sorted((FIXTURES / "store").glob("*-*")), FIXTURES / "batches" / "5.3.3"]
ROLLED = sorted((FIXTURES / "starts").glob("*/store"))
"""Stores with many small files, and a delay of ten years."""
