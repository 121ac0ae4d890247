"""
The page of invariants has a row for each, and one for each field of a store.
"""

from __future__ import annotations

from pathlib import Path

from spark_checks.findings import INVARIANTS
from spark_checks.tests.fields.all_file_faults import FILE_FAULTS
from spark_checks.tests.fields.field_table import table_rows
from spark_checks.tests.fields.file_fault import file_fault_rows

PAGE = Path(__file__).resolve().parents[3] / "docs" / "audit_invariants.md"
AGAIN = (
    "python -m spark_checks.tests.invariants.test_invariants_page writes the rows anew"
)


def _rows(*, are_about_two_stores: bool) -> list[str]:
    return [
        f"| {name} | {one.title} | {one.requirement} | {one.cost} |"
        for name, one in sorted(INVARIANTS.items())
        if name.startswith("INV-AGAINST") == are_about_two_stores
    ]


def _written_anew() -> str:
    """Return the page with rows from the code and its other text."""
    invariants = [_rows(are_about_two_stores=one) for one in (False, True)]
    tables = iter([*invariants, table_rows(), file_fault_rows(FILE_FAULTS)])
    lines: list[str] = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if not line.startswith(("| INV-", "| `")):
            lines.append(line)
        if line.startswith("|---"):
            lines += next(tables)
    return "\n".join(lines) + "\n"


def test_the_page_has_every_invariant_and_every_field() -> None:
    assert _written_anew() == PAGE.read_text(encoding="utf-8"), AGAIN


if __name__ == "__main__":
    PAGE.write_text(_written_anew(), encoding="utf-8")
