"""Stores on a small disk in memory: a command that only reads takes no space."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference.tests.shell.small_disk import run_on_small_disk

FILE_SIZE = 1 << 24
"""Bytes of a commit-log file: sixteen times the space of the file system."""
SCRIPT = f"""
from click.testing import CliRunner
from cli.main import main
from spec.store.consume_queue import UNIT_SIZE, Unit, encode_unit
from spec.store.message_record import Record, encode_record

one = encode_record(Record(topic="T", queue_id=0, queue_offset=0, physical_offset=0))
unit = encode_unit(Unit(commit_log_offset=0, size=len(one), tags_code=0))
log, queue = disk / "commitlog", disk / "consumequeue" / "T" / "0"
for folder, data, size in ((log, one, {FILE_SIZE}), (queue, unit, UNIT_SIZE * 300_000)):
    folder.mkdir(parents=True)
    (folder / ("0" * 20)).write_bytes(data)
    os.truncate(folder / ("0" * 20), size)
(disk / "config").mkdir()
for name in ("delayOffset", "consumerOffset"):
    (disk / "config" / f"{{name}}.json").write_text('{{"offsetTable":{{}}}}')
(disk / "config" / "topics.json").write_text('{{"topicConfigTable":{{}}}}')

def free():
    state = os.statvfs(disk)
    return state.f_bfree * state.f_frsize

before = free()
words = [one.replace("STORE", str(disk)) for one in sys.argv[2:]]
result = CliRunner().invoke(main, words)
print(result.output, before - free())
sys.exit(result.exit_code)
"""


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
    disk = tmp_path / "disk"
    disk.mkdir()
    if words[-1] == "-o":
        words = [*words, str(tmp_path / "new")]
    done = run_on_small_disk(SCRIPT, disk, *words)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.split()[-1] == "0", "bytes of the file system were taken"
