"""A small disk is gone after its block, and after a SIGKILL of its run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.harness.process.deadline import wait_until
from conformance.harness.process.small_disk import NoSmallDiskError, mount
from conformance.harness.targets.started.embedded import SOURCES

MOUNTS = """
import sys, time
from pathlib import Path
from conformance.harness.process.small_disk import mount
with mount(Path(sys.argv[1])):
    print("mounted", flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def may_mount(tmp_path: Path) -> None:
    """Skip the test where no disk can be mounted."""
    try:
        with mount(tmp_path / "tried"):
            pass
    except NoSmallDiskError as error:
        pytest.skip(str(error))


def test_a_small_disk_lasts_as_long_as_its_block(tmp_path: Path) -> None:
    path = tmp_path / "disk"
    with mount(path, size_mb=1) as disk:
        assert os.path.ismount(path)
        disk.fill_to(0.5)
        assert 0.45 < disk.used < 0.55
    assert not os.path.ismount(path)


def test_a_small_disk_may_be_unmounted_while_a_file_is_open(tmp_path: Path) -> None:
    with mount(tmp_path / "disk") as disk:
        file = (disk.path / "file").open("wb")
    assert not os.path.ismount(disk.path)
    file.close()


def test_a_killed_run_leaves_no_small_disk(tmp_path: Path) -> None:
    path = tmp_path / "disk"
    with subprocess.Popen(
        [sys.executable, "-c", MOUNTS, str(path)],
        cwd=SOURCES,
        stdout=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "mounted\n"
        assert os.path.ismount(path)
        run.kill()
    try:
        wait_until(lambda: not os.path.ismount(path), what="the disk is unmounted")
    finally:
        if os.path.ismount(path):  # it would fail later runs of pytest
            subprocess.run([shutil.which("umount") or "umount", "-l", path], check=True)
