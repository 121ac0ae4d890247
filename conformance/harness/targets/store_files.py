"""
Files of a store directory, read with the decoders of the specification.

It only reads, also while a broker writes, and returns the content of that moment.
Comparisons are left to tests.

A file of Apache's broker has its whole size from the start, and is mostly a hole. Holes
are not read, and take no memory.
"""

from __future__ import annotations

import errno
import mmap
import os
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from spec.layout import LayoutError
from spec.store import file_names
from spec.store.checkpoint import Checkpoint, decode_checkpoint
from spec.store.commit_log import PlacedRecord, Scan, Stop, scan
from spec.store.consume_queue import UNIT_SIZE, Unit, decode_units
from spec.store.file_names import offset_of
from spec.store.index_file import (
    HEADER_SIZE,
    ITEM_SIZE,
    SLOT_SIZE,
    IndexHeader,
    IndexItem,
    decode_header,
    decode_item,
    item_position,
    items_of_slot,
    key_hash,
)

BODY_CRC_AT = 8
"""Position of the body's checksum in a record."""
SLOT_SHARE = 4
"""Default number of index items for each slot: it identifies the slot count."""
WRITTEN_MAX = 128 * 1024 * 1024
"""Written bytes of a store that tests read. Decoded, they take some times as many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """One file of the commit log and what it holds."""

    name: str
    data: memoryview
    scan: Scan

    @property
    def begin_offset(self) -> int:
        """Offset of its first byte in the commit log."""
        return offset_of(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFiles:
    """The consume queue of one queue of a topic."""

    topic: str
    queue_id: int
    files: tuple[tuple[str, memoryview], ...]
    """Names and contents, in the order of the names."""

    @property
    def first_queue_offset(self) -> int:
        """The queue offset of the first unit of the first file."""
        return offset_of(self.files[0][0]) // UNIT_SIZE if self.files else 0

    def units(self) -> list[Unit]:
        """Return the written units over all files."""
        found: list[Unit] = []
        for _, data in self.files:
            written = decode_units(data)
            found += written
            if len(written) * UNIT_SIZE < len(data):
                break
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFile:
    """One index file; *slot_count* is how many slots it has room for."""

    name: str
    data: memoryview
    slot_count: int

    @property
    def header(self) -> IndexHeader:
        """The first 40 bytes."""
        return decode_header(self.data)

    def used_slots(self) -> dict[int, int]:
        """Return the newest item by slot, of the slots that have one."""
        numbers = self.data[HEADER_SIZE : item_position(0, self.slot_count)]
        used = enumerate(struct.iter_unpack(">i", numbers))
        return {slot: number for slot, (number,) in used if number}

    @property
    def end_of_items(self) -> int:
        """Number of the first place behind the last item that is not empty."""
        begin = item_position(0, self.slot_count)
        size = len(bytes(self.data[begin:]).rstrip(b"\0"))
        return -(-size // ITEM_SIZE)

    def item(self, number: int) -> IndexItem:
        """Return an item by its number."""
        begin = item_position(number, self.slot_count)
        return decode_item(self.data[begin : begin + ITEM_SIZE])

    def items(self) -> dict[int, IndexItem]:
        """Return all items by number."""
        return {
            number: self.item(number) for number in range(1, self.header.index_count)
        }


@dataclass(frozen=True, slots=True)
class StoreFiles:
    """A store directory."""

    path: Path
    index_slot_count: int | None = None
    """Slots of an index file, where the test that started the broker sets it."""

    def log_files(self) -> list[LogFile]:
        """Return the commit log's files that hold anything, in order."""
        found: list[LogFile] = []
        for path in log_paths(self.path):
            data = content(path)
            # Tests check checksums themselves: a wrong one must not hide its record.
            scanned = scan(data, offset_of(path.name), check_crc=False)
            if scanned.stop is Stop.ZEROS and not scanned.records and found:
                break  # allocated ahead of need
            found.append(LogFile(name=path.name, data=data, scan=scanned))
        return found

    def records(self) -> list[PlacedRecord]:
        """Return all records, in the order of the commit log."""
        return [placed for file in self.log_files() for placed in file.scan.records]

    def record_bytes(self, offset: int) -> bytes | None:
        """Return the record that begins at *offset*, or None where none can."""
        names = [path.name for path in log_paths(self.path)]
        name = max((n for n in names if offset_of(n) <= offset), default=None)
        if name is None:
            return None
        with (self.path / file_names.COMMIT_LOG / name).open("rb") as file:
            file.seek(offset - offset_of(name))
            size = int.from_bytes(file.read(4), "big")
            file.seek(-4, 1)
            data = file.read(size)
        return data if 0 < size == len(data) else None

    def queues(self) -> dict[tuple[str, int], QueueFiles]:
        """Return all consume queues by topic and queue id."""
        found = {}
        for topic in _directories(self.path / file_names.CONSUME_QUEUE):
            for queue in filter(_is_queue, _directories(topic)):
                number = int(queue.name)
                found[topic.name, number] = _queue_files(queue, topic.name, number)
        return found

    def queue(self, topic: str, queue_id: int) -> QueueFiles:
        """Return one consume queue; without files if it was never written."""
        path = self.path / file_names.CONSUME_QUEUE / topic / str(queue_id)
        return _queue_files(path, topic, queue_id)

    def unit_at(self, topic: str, queue_id: int, number: int, room: int) -> Unit | None:
        """Return the unit of queue offset *number*, in files of *room* bytes."""
        byte = number * UNIT_SIZE
        begin = byte - byte % room
        directory = self.path / file_names.CONSUME_QUEUE / topic / str(queue_id)
        path = directory / file_names.file_name(begin)
        if not path.is_file():
            return None
        with path.open("rb") as file:
            file.seek(byte - begin)
            data = file.read(UNIT_SIZE)
        return next(iter(decode_units(data)), None)

    def index_files(self) -> list[IndexFile]:
        """Return the index files, oldest first."""
        return [
            IndexFile(
                name=path.name,
                data=(data := content(path)),
                slot_count=self.index_slot_count or _slots_of_size(len(data)),
            )
            for path in _files(self.path / file_names.INDEX)
        ]

    def checkpoint(self) -> Checkpoint:
        """Return the checkpoint."""
        return decode_checkpoint(self.checkpoint_bytes())

    def checkpoint_bytes(self) -> bytes:
        """Return the whole checkpoint file."""
        return (self.path / file_names.CHECKPOINT).read_bytes()

    def config(self, name: str) -> Path:
        """Return the path of the configuration file *name*."""
        return self.path / file_names.CONFIG / name


def offsets_of_key(files: Iterable[IndexFile], topic: str, key: str) -> list[int]:
    """Return the commit-log offsets that index files have under a key, file by file."""
    wanted = key_hash(topic, key)
    return [
        item.commit_log_offset
        for file in files
        for item in items_of_slot(file.data, wanted, file.slot_count)
        if item.key_hash == wanted
    ]


def content(path: Path) -> memoryview:
    """Return the content of *path*; holes are zeros that take no memory."""
    with path.open("rb") as file:
        descriptor = file.fileno()
        size = os.fstat(descriptor).st_size
        # Pages of a private anonymous map take memory only when they are written.
        zeros = mmap.mmap(-1, size or 1, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        view, end = memoryview(zeros)[:size], 0
        while end < size:
            try:
                begin = os.lseek(descriptor, end, os.SEEK_DATA)
            except OSError as error:
                if error.errno == errno.ENXIO:  # only a hole is left
                    break
                raise
            end = os.lseek(descriptor, begin, os.SEEK_HOLE)
            file.seek(begin)
            file.readinto(view[begin:end])
    return view.toreadonly()


def written_bytes(store: Path) -> int:
    """Return the bytes of disk that logs, queues and index of *store* take."""
    folders = (file_names.COMMIT_LOG, file_names.CONSUME_QUEUE, file_names.INDEX)
    paths = [path for name in folders for path in (store / name).rglob("*")]
    return sum(path.stat().st_blocks * 512 for path in paths if path.is_file())


def log_paths(store: Path) -> list[Path]:
    """Return the commit-log files of *store*, in order."""
    return _offset_files(store / file_names.COMMIT_LOG)


def _queue_files(directory: Path, topic: str, queue_id: int) -> QueueFiles:
    files = tuple((path.name, content(path)) for path in _offset_files(directory))
    return QueueFiles(topic=topic, queue_id=queue_id, files=files)


def _offset_files(directory: Path) -> list[Path]:
    """Return the files of a log or of a queue, in order.

    STORE-NAME-001 alone is about files with other names.
    """
    return [path for path in _files(directory) if _is_offset(path.name)]


def _is_offset(name: str) -> bool:
    """Return whether *name* is that of a file of a log."""
    try:
        offset_of(name)
    except LayoutError:
        return False
    return True


def _is_queue(directory: Path) -> bool:
    """Return whether the name of *directory* is a queue id."""
    return directory.name.isascii() and directory.name.isdecimal()


def _slots_of_size(size: int) -> int:
    """Return the slots of an index file of *size* bytes with four items a slot."""
    return (size - HEADER_SIZE) // (SLOT_SIZE + SLOT_SHARE * ITEM_SIZE)


def _files(directory: Path) -> list[Path]:
    if not directory.is_dir():
        return []
    return sorted(path for path in directory.iterdir() if path.is_file())


def _directories(directory: Path) -> list[Path]:
    if not directory.is_dir():
        return []
    return sorted(path for path in directory.iterdir() if path.is_dir())
