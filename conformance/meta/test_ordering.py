"""Long tests begin and patient ones end; a number chooses any other order."""

from __future__ import annotations

from pathlib import Path

from conformance.harness.child_run.child_run import run_child

TESTS = """
import pytest

pytestmark = pytest.mark.clause("WIRE-FRAME-001")

@pytest.mark.patient
def test_patient(): ...

@pytest.mark.parametrize("number", range(20))
def test_short(number): ...

@pytest.mark.long
def test_long(): ...
"""


def order(directory: Path, *options: str) -> list[str]:
    """Return the names of the tests in the order in which they would run."""
    folder = directory / "conformance" / "wire"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test_made.py").write_text(TESTS, encoding="utf-8")
    run = run_child([folder], f"--rootdir={folder}", "--collect-only", *options)
    lines = run.output.splitlines()
    return [line.partition("::test_")[2] for line in lines if "::test_" in line]


USUAL = ["long", *(f"short[{number}]" for number in range(20)), "patient"]


def test_long_tests_begin_and_patient_ones_end(tmp_path: Path) -> None:
    assert order(tmp_path) == USUAL


def test_a_number_chooses_the_order(tmp_path: Path) -> None:
    first, again = (order(tmp_path, "--shuffle=1") for _ in range(2))
    assert first == again != USUAL
    assert sorted(first) == sorted(USUAL)
    assert first[-1] == "patient"
