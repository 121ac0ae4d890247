"""
A real full file system in memory: a hole that is read through a mapping ends a process.

Each script mounts one of a megabyte in a mount namespace of its own, which ends with
it. Where the system does not allow that, the tests are skipped.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
UNSHARE = ["unshare", "--user", "--map-root-user", "--mount"]
TIMEOUT_S = 60.0
FILE_SIZE = 1 << 19
PREPARE = f"""
import mmap, os, subprocess, sys
from pathlib import Path
disk = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk], check=True)
sparse = disk / "sparse"
sparse.touch()
os.truncate(sparse, {FILE_SIZE})
ballast = open(disk / "ballast", "wb", buffering=0)
try:
    while ballast.write(bytes(4096)):
        pass
except OSError:
    pass
"""
READ_MAPPING = """
number = os.open(sparse, os.O_RDWR)
print(sum(mmap.mmap(number, 0)))
"""
OPEN_FILES = f"""
from reference.core.store.mapped.files import FilesError
from reference.shell.storage.disk import DiskFiles
try:
    file = DiskFiles(disk).open("sparse", {FILE_SIZE})
    print(sum(file.view))
    file.write(b"end", {FILE_SIZE} - 3)
except FilesError as error:
    print(error)
"""
FREE = """
os.unlink(disk / "ballast")
ballast.close()
"""
CREATE = OPEN_FILES.replace('"sparse"', '"new"')


@cache
def can_mount() -> bool:
    """Return whether a process here may mount a file system of its own."""
    if shutil.which("unshare") is None:
        return False
    words = [*UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt"]
    return not subprocess.run(words, capture_output=True, check=False).returncode


def run(script: str, disk: Path) -> subprocess.CompletedProcess[str]:
    """Run *script* on a full file system mounted at *disk*."""
    if not can_mount():
        pytest.skip("this system does not allow mounts in a user namespace")
    return subprocess.run(
        [*UNSHARE, sys.executable, "-c", PREPARE + script, str(disk)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def test_reading_a_hole_through_a_mapping_ends_the_process(tmp_path: Path) -> None:
    assert run(READ_MAPPING, tmp_path).returncode == -signal.SIGBUS


def test_opening_a_file_with_holes_is_one_line(tmp_path: Path) -> None:
    done = run(OPEN_FILES, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = done.stdout.splitlines()
    assert line == (
        f"cannot take {FILE_SIZE} bytes of disk for the holes of {tmp_path}/sparse:"
        " no space left on the disk"
    )


def test_writing_to_a_new_file_is_one_line(tmp_path: Path) -> None:
    done = run(CREATE.replace("    print(sum(file.view))\n", ""), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = done.stdout.splitlines()
    assert line.endswith("no space left on the disk")


def test_with_space_again_the_file_is_read_and_written(tmp_path: Path) -> None:
    done = run(FREE + OPEN_FILES, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")
