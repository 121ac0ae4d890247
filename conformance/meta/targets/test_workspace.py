"""Workspaces of neighbours leave each other alone; those of the dead are removed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from conformance.harness.process.workspace import PREFIX, Workspace

RUNS = 6
EACH = 150
MAKE = f"""
from conformance.harness.process.workspace import Workspace
for _ in range({EACH}):
    made = Workspace()
    made.path.joinpath("file").write_text("ours")
    made.close()
print("done")
"""


def test_neighbours_do_not_remove_what_was_made_a_moment_ago(tmp_path: Path) -> None:
    words = [sys.executable, "-c", MAKE]
    surroundings = {"TMPDIR": str(tmp_path), "PYTHONPATH": str(Path.cwd())}
    runs = [
        subprocess.Popen(
            words,
            env=surroundings,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(RUNS)
    ]
    text = [run.communicate(timeout=120) for run in runs]
    assert text == [("done\n", "")] * RUNS
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    code = "from conformance.harness.process.workspace import Workspace; import os; "
    code += "made = Workspace(); print(made.path, flush=True); os._exit(9)"
    surroundings = {"TMPDIR": str(tmp_path), "PYTHONPATH": str(Path.cwd())}
    left = subprocess.run(
        [sys.executable, "-c", code],
        env=surroundings,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    assert Path(left).name.startswith(PREFIX)
    assert Path(left).is_dir()
    module = "conformance.harness.process.workspace"
    again = f"from {module} import Workspace; Workspace().close()"
    subprocess.run([sys.executable, "-c", again], env=surroundings, check=True)
    assert list(tmp_path.iterdir()) == []


def test_a_closed_workspace_is_gone_and_may_be_closed_again() -> None:
    made = Workspace()
    assert made.path.is_dir()
    made.close()
    made.close()
    assert not made.path.exists()
