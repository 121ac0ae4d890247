"""A test of a suite fails a clause, so that its failure is no error of the harness."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SUITES = "wire", "routing", "messaging", "store", "security", "tls", "recovery"


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("call", ["pytest.raises(", "pytest.fail("])
def test_no_test_of_a_suite_fails_without_a_clause(suite: str, call: str) -> None:
    files = [*(ROOT / suite).rglob("*.py")]
    assert files
    assert [one for one in files if call in one.read_text(encoding="utf-8")] == []
