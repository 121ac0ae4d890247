"""The commands of docs/damaged_store.md run one after the other, unchanged."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from rocketmq_conformance.paths import module_command

ROOT = Path(__file__).resolve().parents[4]
PAGE = ROOT / "docs" / "damaged_store.md"
_COMMAND = re.compile(r"^```sh(?: exit=(\d))?\nrmqc (.*?)\n```$", re.MULTILINE)


@pytest.mark.slow
def test_an_operator_gets_to_the_end(tmp_path: Path) -> None:
    """Each command has its exit code, and the rescued store is whole."""
    commands = _COMMAND.findall(PAGE.read_text(encoding="utf-8"))
    assert len(commands) == PAGE.read_text(encoding="utf-8").count("```sh")
    for code, words in commands:
        run = subprocess.run(
            module_command("cli", *shlex.split(words)),
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            check=False,
            timeout=300,
        )
        assert run.returncode == int(code or 0), (words, run.stderr)
    assert b"Nothing is lost." in run.stdout
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {"broken", "broken.labels.json", "audit.html", "rescued"}
