"""
Stores that Apache RocketMQ wrote: this store reads them, and would have written them.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from reference.core.store.config_files import ConfigFiles
from reference.core.store.types import GetMessageStatus, NewMessage, StoreOptions
from reference.shell.storage.disk import DiskFiles
from reference.tests.store.small_stores import all_records, started
from spec.store.commit_log import scan
from spec.store.message_record import Record

STORES = Path(__file__).parents[3] / "fixtures" / "store"
OPTIONS = StoreOptions(
    commit_log_file_size=65536,
    consume_queue_file_size=400,
    index_slot_count=100,
    index_item_count=400,
    delay_levels="1s 2s 3s",
)
NAMES = ["4.6.0-stopped", "4.6.0-killed"]


def copy_of(name: str, directory: Path, *, only: str = "") -> Path:
    """Return a copy of a recorded store, or of one of its directories."""
    target = directory / "store"
    shutil.copytree(STORES / name / only, target / only)
    return target


def recorded(name: str) -> list[Record]:
    """Return all records of a recorded store, in order."""
    found: list[Record] = []
    for path in sorted((STORES / name / "commitlog").iterdir()):
        found += [one.record for one in scan(path.read_bytes(), int(path.name)).records]
    return found


def bytes_of(store: Path, directory: str) -> dict[str, bytes]:
    """Return the files below one directory of a store."""
    files = sorted((store / directory).rglob("*"))
    return {
        str(path.relative_to(store)): path.read_bytes()
        for path in files
        if path.is_file()
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_message_is_found_in_its_queue(name: str, tmp_path: Path) -> None:
    store = started(DiskFiles(copy_of(name, tmp_path)), OPTIONS)
    records = recorded(name)
    queues = {(record.topic, record.queue_id) for record in records}
    found = [record for queue in queues for record in all_records(store, *queue)]
    assert sorted(found, key=lambda record: record.physical_offset) == records
    assert store.log.files.end == max(record.physical_offset for record in records) + (
        len(store.record_at(records[-1].physical_offset) or b"")
    )
    store.stop()


@pytest.mark.parametrize("name", NAMES)
def test_dispatch_writes_the_queues_and_the_index_that_4_6_0_wrote(
    name: str, tmp_path: Path
) -> None:
    directory = copy_of(name, tmp_path, only="commitlog")
    started(DiskFiles(directory), OPTIONS).stop()
    assert bytes_of(directory, "consumequeue") == bytes_of(
        STORES / name, "consumequeue"
    )
    ours = list(bytes_of(directory, "index").values())
    assert ours == list(bytes_of(STORES / name, "index").values())


@pytest.mark.parametrize("name", NAMES)
def test_puts_write_the_log_that_4_6_0_wrote(name: str, tmp_path: Path) -> None:
    directory = tmp_path / "own"
    store = started(DiskFiles(directory), OPTIONS)
    for record in recorded(name):
        store.log.append([as_message(record)], record.stored_at_ms)
    store.stop()
    for path in sorted((directory / "commitlog").iterdir()):
        wanted = scan((STORES / name / "commitlog" / path.name).read_bytes())
        assert (
            path.read_bytes()[: wanted.end_offset + 8]
            == ((STORES / name / "commitlog" / path.name).read_bytes())[
                : wanted.end_offset + 8
            ]
        )


def as_message(record: Record) -> NewMessage:
    """Return the message that was put to write *record*."""
    return NewMessage(
        topic=record.topic,
        queue_id=record.queue_id,
        body=record.body,
        properties=record.properties,
        flag=record.flag,
        system_flags=record.system_flags,
        born_at_ms=record.born_at_ms,
        born_host=record.born_host,
        store_host=record.store_host,
        reconsume_times=record.reconsume_times,
        prepared_transaction_offset=record.prepared_transaction_offset,
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_key_is_found_in_the_index(name: str, tmp_path: Path) -> None:
    store = started(DiskFiles(copy_of(name, tmp_path)), OPTIONS)
    for record in recorded(name)[:200]:
        for key in keys_of(record):
            found = store.query(record.topic, key, 64, 0, 2**62).records
            offsets = [int.from_bytes(one[28:36], "big") for one in found]
            assert record.physical_offset in offsets
    store.stop()


def keys_of(record: Record) -> list[str]:
    """Return the unique key and the keys of *record*."""
    pairs = dict(item.split("\x01") for item in record.properties.split("\x02") if item)
    return [pairs["UNIQ_KEY"]] if "UNIQ_KEY" in pairs else []


@pytest.mark.parametrize("name", ["consumerOffset.json", "topics.json"])
def test_config_is_written_as_4_6_0_wrote_it(name: str, tmp_path: Path) -> None:
    directory = STORES / "4.6.0-stopped"
    written = (directory / "config" / name).read_text()
    value = ConfigFiles(DiskFiles(directory)).load(name, dict)
    ConfigFiles(DiskFiles(tmp_path)).save(name, value or {})
    assert (tmp_path / "config" / name).read_text() == written


def test_a_store_with_other_file_sizes_does_not_start(tmp_path: Path) -> None:
    files = DiskFiles(copy_of(NAMES[0], tmp_path))
    with pytest.raises(
        Exception,
        match="has 65536 bytes, not 1048576, the value of mappedFileSizeCommitLog",
    ):
        started(files, StoreOptions(commit_log_file_size=1 << 20))
    again = started(files, OPTIONS)
    assert again.get("HandoverOrders", 0, 0, 1).status is GetMessageStatus.FOUND
    again.stop()
