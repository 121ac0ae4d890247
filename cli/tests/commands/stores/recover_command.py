"""``rmqc recover`` on copies of recorded stores, and the JSON of its forecast."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from cli.main import main
from spec.store.batch_queue import BatchUnit, encode_batch_unit
from spec.store.file_names import file_name

STORES = Path(__file__).parents[4] / "fixtures" / "store"
RELEASES = ("4.4.0", "4.6.0", "4.9.7", "5.3.3", "5.4.0", "5.5.0")
LAST_FILE = "commitlog/00000000000000065536"
END = 99_823
"""End of the log of the recorded store of 4.6.0."""


def copied(tmp_path: Path, name: str = "4.6.0-stopped") -> Path:
    """Return a copy of the recorded store *name*."""
    return shutil.copytree(STORES / name, tmp_path / "store")


def recover(*words: str | Path) -> Result:
    """Run ``rmqc recover`` with *words*."""
    return CliRunner().invoke(main, ["recover", *map(str, words)])


def foretold(store: Path, release: str = "4.6.0") -> dict[str, Any]:
    """Return the forecast of *release* for *store*."""
    result = recover(store, "--release", release, "--dry-run", "--format", "json")
    assert result.exit_code < 2, result.output
    found = json.loads(result.stdout)
    assert isinstance(found, dict)
    return found


def with_damage_before_recovery(tmp_path: Path) -> Path:
    """Return a store after a crash, with damage before the file that recovery reads."""
    store = copied(tmp_path)
    (store / "abort").touch()
    with (store / "checkpoint").open("r+b") as file:
        file.write((1 << 60).to_bytes(8, "big") * 3)
    with (store / "commitlog/00000000000000000000").open("r+b") as file:
        file.seek(4096)
        file.write(bytes(4096))
    return store


def with_batch_queue(tmp_path: Path, release: str) -> Path:
    """Return a recorded store with a batch queue that points into its last file."""
    store = copied(tmp_path, f"{release}-stopped")
    queue = store / "batchconsumequeue" / "Batches" / "0"
    queue.mkdir(parents=True)
    unit = BatchUnit(
        commit_log_offset=65536,
        size=200,
        stored_at_ms=1,
        first_queue_offset=0,
        message_count=1,
    )
    (queue / file_name(0)).write_bytes(encode_batch_unit(unit).ljust(46 * 10, b"\0"))
    topics = store / "config" / "topics.json"
    own = '"topicConfigTable":{"Batches":{"attributes":{"queue.type":"BatchCQ"}},'
    text = topics.read_text().replace('"topicConfigTable":{', own)
    topics.write_text(text)
    return store
