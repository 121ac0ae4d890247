"""``rmqc bench`` prints what was measured, and one clear line where it cannot."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from cli.bench import as_table, bench

MEASURED = {
    "log": {"records": 55_461, "bytes": 67_107_810, "origin": "jvm:4.6.0"},
    "machine": {"java": "17.0.15", "rocketmq": "4.6.0"},
    "rounds": 5,
    "ways": [{"id": "struct", "says": "the struct codec", "records_per_s": 482_427}],
    "goals": [
        {
            "way": "struct",
            "other": "construct",
            "ratio": 19.5,
            "at_least": 20.0,
            "met": False,
        }
    ],
}


def test_a_table_has_rates_and_goals() -> None:
    text = as_table(MEASURED)
    assert "55461 records, 67107810 bytes, written by jvm:4.6.0" in text
    assert "482,427 records/s  struct" in text
    assert "19.50 x construct" in text
    assert text.endswith("wanted 20: MISSED")


def test_what_it_cannot_read_is_one_line(tmp_path: Path) -> None:
    run = CliRunner().invoke(bench, ["codec", "--store", str(tmp_path)])
    assert run.exit_code == 2
    assert run.stderr.startswith("rmqc bench: ")
    assert len(run.stderr.splitlines()) == 1
