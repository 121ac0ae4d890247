"""
Small stores that something happened to: a workload, an end, some damage.

Everything is drawn by Hypothesis, so that what a start does can be compared with what
was foretold.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from reference.core.recovery_forecast.store_view import ViewError
from reference.core.store.message_store import MessageStore
from reference.core.store.recovery.load import DirectoryEntry
from reference.tests.memory_files import MemoryFiles
from reference.tests.store.small_stores import NOON_MS, TINY, append_one, message

TOPICS = ("A", "B")
TRANSACTION_BITS = (0, 0, 0, 4, 8, 12)


@dataclass(frozen=True, slots=True)
class Put:
    """One message, and what is done before it."""

    topic: str
    queue_id: int
    body_size: int
    flags: int
    dispatches: bool
    later_ms: int


@dataclass(frozen=True, slots=True)
class Harm:
    """One thing that happens to one file; numbers choose among what there is."""

    kind: str
    file: int
    at: int
    size: int
    value: int


puts = st.builds(
    Put,
    topic=st.sampled_from(TOPICS),
    queue_id=st.integers(0, 1),
    body_size=st.sampled_from((0, 1, 30, 200, 700)),
    flags=st.sampled_from(TRANSACTION_BITS),
    dispatches=st.booleans(),
    later_ms=st.sampled_from((0, 1, 2_000, 5_000)),
)
harms = st.builds(
    Harm,
    kind=st.sampled_from(
        ("byte", "zeros", "rest", "unit", "delete", "shorten", "abort", "times")
    ),
    file=st.integers(0, 30),
    at=st.integers(0, 1023),
    size=st.sampled_from((1, 4, 20, 60, 300)),
    value=st.integers(1, 255),
)


class MemoryView:
    """A store in memory, in the form that a prediction reads."""

    def __init__(self, files: MemoryFiles) -> None:
        self._files = files

    def entries(self, directory: str) -> list[DirectoryEntry]:
        """Return the entries of *directory*."""
        names = self._files.names(directory)
        return [
            DirectoryEntry(name, self._files.size(f"{directory}/{name}"))
            for name in names
        ]

    def data(self, path: str) -> memoryview:
        """Return the bytes of a file."""
        if path not in self._files.mapped:
            raise ViewError(path)
        return self._files.mapped[path].view

    def written_size(self, path: str) -> int:
        """Return the position after the last byte that is not zero."""
        return len(bytes(self.data(path)).rstrip(b"\0"))

    def text(self, path: str) -> str | None:
        """Return the text of a file."""
        return self._files.read_text(path)

    def exists(self, path: str) -> bool:
        """Return whether there is anything at *path*."""
        return self._files.size(path) is not None

    def is_locked(self) -> bool:
        """Return that the store is not in use."""
        return False

    def count_read(self, size: int) -> None:
        """Ignore the count: no progress is shown."""


def written(row: list[Put], *, stops: bool) -> MemoryFiles:
    """Return a store with the messages of *row* that was stopped, or left."""
    files = MemoryFiles()
    store = MessageStore(files, TINY, NOON_MS)
    now_ms = NOON_MS
    for number, put in enumerate(row):
        now_ms += put.later_ms
        body = bytes([number + 1]) * put.body_size
        properties = f"KEYS\x01k{number}\x02UNIQ_KEY\x01u{number}\x02"
        new = message(put.topic, put.queue_id, body, properties, put.flags)
        append_one(store, new, now_ms)
        if put.dispatches:
            store.dispatch()
            store.flush_log()
            store.flush_queues()
    if stops:
        store.stop()
    else:
        files.unlock()
    return files


def corrupt(files: MemoryFiles, row: list[Harm]) -> None:
    """Do the harms of *row* to the files of the log, the queues and the checkpoint."""
    for harm in row:
        paths = sorted(path for path in files.mapped if not path.startswith("index/"))
        if paths:
            _corrupt_one(files, paths[harm.file % len(paths)], harm)


def _corrupt_one(files: MemoryFiles, path: str, harm: Harm) -> None:
    if harm.kind == "delete":
        files.delete(path)
    elif harm.kind == "abort":
        if files.size("abort") is None:
            files.replace_text("abort", "")
        else:
            files.delete("abort")
    else:
        path = "checkpoint" if harm.kind == "times" else path
        found = files.mapped.get(path)
        data = bytearray(found.bytes if found else 4096)
        _CHANGES[harm.kind](data, harm)
        files.delete(path)
        files.open(path, len(data)).write(data, 0)


def _change_byte(data: bytearray, harm: Harm) -> None:
    data[harm.at % len(data)] ^= harm.value


def _zero(data: bytearray, harm: Harm) -> None:
    at = harm.at % len(data)
    end = min(at + harm.size, len(data))
    data[at:end] = bytes(end - at)


def _zero_unit(data: bytearray, harm: Harm) -> None:
    at = harm.at % len(data) // 20 * 20
    end = min(at + 20, len(data))
    data[at:end] = bytes(end - at)


def _fill_rest(data: bytearray, harm: Harm) -> None:
    at = harm.at % len(data)
    data[at:] = bytes([harm.value & 1]) * (len(data) - at)


def _shorten(data: bytearray, harm: Harm) -> None:
    del data[max(len(data) - harm.size, 1) :]


def _change_time(data: bytearray, harm: Harm) -> None:
    data[harm.at % min(24, len(data))] ^= harm.value


_CHANGES = {
    "byte": _change_byte,
    "zeros": _zero,
    "unit": _zero_unit,
    "rest": _fill_rest,
    "shorten": _shorten,
    "times": _change_time,
}
