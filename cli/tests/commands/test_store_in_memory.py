"""
Stores on a real small file system in memory: a command that only reads takes no space.

Each script mounts one of a megabyte in a mount namespace of its own, which ends with
it. Where the system does not allow that, the tests are skipped.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from rocketmq_conformance.paths import SOURCES

UNSHARE = ["unshare", "--user", "--map-root-user", "--mount"]
TIMEOUT_S = 120.0
FILE_SIZE = 1 << 24
"""Bytes of a commit-log file: sixteen times the space of the file system."""
SCRIPT = f"""
import os, subprocess, sys
from pathlib import Path
from click.testing import CliRunner
from cli.main import main
from spec.store.consume_queue import UNIT_SIZE, Unit, encode_unit
from spec.store.message_record import Record, encode_record

disk = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk], check=True)
one = encode_record(Record(topic="T", queue_id=0, queue_offset=0, physical_offset=0))
unit = encode_unit(Unit(commit_log_offset=0, size=len(one), tags_code=0))
log, queue = disk / "commitlog", disk / "consumequeue" / "T" / "0"
for folder, data, size in ((log, one, {FILE_SIZE}), (queue, unit, UNIT_SIZE * 300_000)):
    folder.mkdir(parents=True)
    (folder / ("0" * 20)).write_bytes(data)
    os.truncate(folder / ("0" * 20), size)

def free():
    state = os.statvfs(disk)
    return state.f_bfree * state.f_frsize

before = free()
words = [one.replace("STORE", str(disk)) for one in sys.argv[2:]]
result = CliRunner().invoke(main, words)
print(result.output, before - free())
sys.exit(result.exit_code)
"""


@cache
def can_mount() -> bool:
    """Return whether a process here may mount a file system of its own."""
    if shutil.which("unshare") is None:
        return False
    words = [*UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt"]
    return not subprocess.run(words, capture_output=True, check=False).returncode


@pytest.mark.parametrize(
    "words",
    [
        ["dump", "STORE"],
        ["dump", f"STORE/commitlog/{0:020}"],
        ["recover", "STORE", "--release", "4.6"],
        ["salvage", "STORE", "-o"],
        ["inspect", f"STORE/commitlog/{0:020}"],
    ],
    ids=" ".join,
)
def test_holes_of_a_store_in_memory_take_no_space(
    words: list[str], tmp_path: Path
) -> None:
    if not can_mount():
        pytest.skip("this system does not allow mounts in a user namespace")
    disk = tmp_path / "disk"
    disk.mkdir()
    if words[-1] == "-o":
        words = [*words, str(tmp_path / "new")]
    done = subprocess.run(
        [*UNSHARE, sys.executable, "-c", SCRIPT, str(disk), *words],
        cwd=SOURCES,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.split()[-1] == "0", "bytes of the file system were taken"
