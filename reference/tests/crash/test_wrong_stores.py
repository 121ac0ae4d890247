"""
Stores and disks that are wrong on purpose: the enumerator must see each of them fail.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from reference.core.store import message_store
from reference.core.store.consumequeue.consume_queue import ConsumeQueue
from reference.core.store.flush import CheckpointFile
from reference.core.store.mapped.files import MappedFile
from reference.core.store.message_store import MessageStore
from reference.core.store.recovery import recover as recovery
from reference.core.store.recovery.rules import REFERENCE
from reference.tests.crash.cutting import Cuts
from reference.tests.crash.images import seeded
from reference.tests.crash.recording_files import RecordedFile, RecordingFiles
from reference.tests.crash.short_traces import TAGGED, TRACES
from reference.tests.crash.trace import Made, Sized, Trace, Written
from reference.tests.crash.workloads import OPTIONS, SMALL, Player, Step
from reference.tests.memory_files import MemoryFile

Patch = Callable[[pytest.MonkeyPatch], None]


def is_seen(trace: Trace, fault_text: str) -> bool:
    """Return whether the oracle reports that fault for some image of *trace*."""
    cuts = Cuts(trace, SMALL, OPTIONS, limit=12, random=seeded(1))
    return any(fault_text in fault for fault in cuts.faults())


def flush_is_a_lie(patch: pytest.MonkeyPatch) -> None:
    """Call the log flushed without flushing it."""
    patch.setattr(RecordedFile, "flush", lambda _: None)


def file_is_named_before_it_has_its_size(patch: pytest.MonkeyPatch) -> None:
    """Make files as open and ftruncate would, at their place."""

    def made(self: RecordingFiles, path: str, size: int) -> MemoryFile:
        number = self._loaded.get(path)
        if number is None:
            number = next(self._numbers)
            self.events += (Made(number, path), Sized(number, size))
        return RecordedFile(size, self, number)

    patch.setattr(RecordingFiles, "made", made)


def abort_is_not_settled(patch: pytest.MonkeyPatch) -> None:
    """Put the abort mark there without flushing anything."""
    replace_text = RecordingFiles.replace_text

    def unsettled(self: RecordingFiles, path: str, text: str) -> None:
        replace_text(self, path, text)
        del self.events[-1], self.events[-2]

    patch.setattr(RecordingFiles, "replace_text", unsettled)


def checkpoint_runs_ahead(patch: pytest.MonkeyPatch) -> None:
    """Write the time of the last unit whenever the checkpoint is written."""
    write = CheckpointFile.write

    def ahead(self: CheckpointFile, *, logics_ms: int | None = None) -> MappedFile:
        del logics_ms
        return write(self, logics_ms=self.logics_ms)

    patch.setattr(CheckpointFile, "write", ahead)


def torn_units_stay(patch: pytest.MonkeyPatch) -> None:
    """Trust a unit whose offset is right."""
    patch.setattr(ConsumeQueue, "_repair", lambda *_: None)


def units_may_point_back(patch: pytest.MonkeyPatch) -> None:
    """Trust a unit whose offset was lost."""
    trusting = replace(REFERENCE, stops_at_steps_back=False)
    patch.setattr(recovery, "REFERENCE", trusting)


def next_offset_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Begin every queue at 0 again."""

    def without_offsets(store: MessageStore) -> None:
        recovery.resume_dispatch(store)
        store.log.next_queue_offsets.clear()

    patch.setattr(message_store, "resume_dispatch", without_offsets)


def a_kill_is_taken_for_a_flush(patch: pytest.MonkeyPatch) -> None:
    """Call flushed what a killed process had written."""
    patch.setattr(recovery, "_flush_again", lambda *_: None)


WRONG: dict[str, tuple[Patch, str, str]] = {
    "flush is a lie": (flush_is_a_lie, "the log rolls over", "is lost"),
    "named too early": (
        file_is_named_before_it_has_its_size,
        "one message",
        "does not start",
    ),
    "checkpoint runs ahead": (
        checkpoint_runs_ahead,
        "a full index file, but no queue was flushed",
        "unlike the log",
    ),
    "torn units stay": (
        torn_units_stay,
        "units on two pages, a queue rolls over",
        "tags_code=0",
    ),
    "units may point back": (
        units_may_point_back,
        "units on two pages, a queue rolls over",
        "unlike the log",
    ),
    "a kill is taken for a flush": (
        a_kill_is_taken_for_a_flush,
        "a process that was killed before",
        "is lost",
    ),
    "next offset is forgotten": (
        next_offset_is_forgotten,
        "one message",
        "the next message",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_store_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    patch, trace, fault_text = WRONG[name]
    patch(monkeypatch)
    assert is_seen(Player().play(TRACES[trace]), fault_text)


def test_an_abort_mark_that_may_be_lost_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stopped = Player()
    stopped.play(TRACES["two queues"])
    stopped.store.stop()
    abort_is_not_settled(monkeypatch)
    again = Player(stopped.files.image())
    assert is_seen(again.play(TRACES["one message"]), "unlike the log")


PAGE_LONG: Step = ("put", 0, 157, TAGGED)
"""A message whose record is just one page long."""


def stale_tail() -> dict[str, bytes]:
    """Return a store whose second record is torn and whose third is whole."""
    player = Player()
    player.play([PAGE_LONG, ("dispatch",)] * 3)
    image = player.files.image()
    log = "commitlog/" + "0" * 20
    assert list(player.trace.steps[-1][1].records) == [0, 256, 512]
    torn = bytearray(image[log])
    torn[356:376] = bytes(20)
    return image | {log: bytes(torn)}


def test_a_tail_that_is_only_forgotten_comes_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in 4.6.0, where what recovery cut off stays in the file: REC-TRUNCATE-003."""
    monkeypatch.setattr(RecordedFile, "clear", lambda *_: None)
    again = Player(stale_tail())
    again.play([PAGE_LONG, ("dispatch",)])
    assert is_seen(again.trace, "was not there")


def test_a_tail_that_is_cleared_but_not_flushed_comes_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def clear(self: RecordedFile, at: int) -> None:
        rest = len(self.bytes) - at
        self.bytes[at:] = bytes(rest)
        self._events.append(Written(self.number, at, bytes(rest)))

    monkeypatch.setattr(RecordedFile, "clear", clear)
    again = Player(stale_tail())
    again.play([PAGE_LONG, ("dispatch",)])
    assert is_seen(again.trace, "was not there")
