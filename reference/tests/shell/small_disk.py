"""
A real file system in memory of a megabyte.

Each script mounts it in a mount namespace of its own, which ends with it. Where the
system does not allow that, the test is skipped.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[3]
UNSHARE = ["unshare", "--user", "--map-root-user", "--mount"]
TIMEOUT_S = 120.0
MOUNT = """
import mmap, os, subprocess, sys
from pathlib import Path
disk = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk], check=True)
"""


@cache
def can_mount() -> bool:
    """Return whether a process here may mount a file system of its own."""
    if shutil.which("unshare") is None:
        return False
    words = [*UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt"]
    return not subprocess.run(words, capture_output=True, check=False).returncode


def run_on_small_disk(
    script: str, disk: Path, *words: str
) -> subprocess.CompletedProcess[str]:
    """Run *script* with *words* after a file system is mounted at *disk*."""
    if not can_mount():
        pytest.skip("this system does not allow mounts in a user namespace")
    return subprocess.run(
        [*UNSHARE, sys.executable, "-c", MOUNT + script, str(disk), *words],
        cwd=SOURCES,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
