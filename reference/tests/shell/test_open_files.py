"""The limit of open files, raised in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
RAISED = """
import resource
from reference.shell.storage.file_calls import raise_open_files_limit
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
raise_open_files_limit()
assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
"""


def test_a_process_may_open_as_many_files_as_its_hard_limit_permits() -> None:
    subprocess.run([sys.executable, "-c", RAISED], cwd=ROOT, timeout=60, check=True)
