"""``rmqc report mutants`` runs what is missing and writes the kill matrix."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from click.testing import CliRunner, Result

from cli.commands.suites.report import report as command
from conformance.harness.report.outcome import Outcome
from conformance.interop.tools.cell_file import write_cells
from conformance.mutants.kill_record import Row, recorded, row_of
from conformance.mutants.matrix import Kill
from conformance.mutants.mutant import all_mutants


def killed(tmp_path: Path) -> tuple[Path, dict[str, Row]]:
    """Return a file in which every mutant is killed, and its rows."""
    rows = {
        name: row_of(
            Kill(
                mutant=fault,
                outcomes=dict.fromkeys(fault.caught_by, Outcome.FAIL),
                output="",
            )
        )
        for name, fault in all_mutants().items()
    }
    file = tmp_path / "kills.json"
    write_cells(rows, file, order=rows.values())
    return file, rows


def run(record: Path, *arguments: str) -> Result:
    """Return the result of the command with *record*; its page is beside it."""
    page = record.with_name("mutants.md")
    words = ["mutants", "-o", str(page), "--cells", str(record), *arguments]
    return CliRunner().invoke(command, words, catch_exceptions=False)


def test_what_is_recorded_is_not_run_again(tmp_path: Path) -> None:
    file, rows = killed(tmp_path)
    result = run(file)
    assert result.exit_code == 0
    assert f"{len(rows)} mutants, {len(rows)} killed" in result.output
    assert "100 % are killed." in file.with_name("mutants.md").read_text("utf-8")
    assert recorded(file) == rows


def test_only_the_mutant_that_was_edited_is_run(tmp_path: Path) -> None:
    file, rows = killed(tmp_path)
    rows["crc_shifted"] = replace(rows["crc_shifted"], fault="another")
    write_cells(rows, file, order=rows.values())
    result = run(file)
    assert result.exit_code == 0, result.output
    first, second, *_ = result.output.splitlines()
    assert first == "mutants to run: 1, 2 at a time"
    assert second.startswith("1 of 1: crc_shifted: killed by STORE-CRC-001")
    assert recorded(file)["crc_shifted"].missed == ()


def test_a_mutant_that_there_is_not_is_a_wrong_usage(tmp_path: Path) -> None:
    result = run(tmp_path / "kills.json", "--again", "no_such_mutant")
    assert result.exit_code == 2
    assert "unknown mutant no_such_mutant" in result.output
