"""A full disk in memory: a hole that is read through a mapping ends a process."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from reference.tests.shell.small_disk import run_on_small_disk

FILE_SIZE = 1 << 19
PREPARE = f"""
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


def run(script: str, disk: Path) -> subprocess.CompletedProcess[str]:
    """Run *script* on a full file system mounted at *disk*."""
    return run_on_small_disk(PREPARE + script, disk)


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
