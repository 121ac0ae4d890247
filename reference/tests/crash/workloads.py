"""
Workloads: rows of steps that a store is taken through while its files record.

The sizes are a model's: with pages of 256 bytes a dozen messages cover as many pages
as thousands do on a real disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from reference.core.store.message_store import MessageStore
from reference.core.store.types import StoreOptions
from reference.tests.crash.oracle import log_records
from reference.tests.crash.power_cut import Geometry
from reference.tests.crash.recording_files import RecordingFiles
from reference.tests.crash.trace import StoreState, Trace
from reference.tests.store.small_stores import (
    NOON_MS,
    append_batch,
    append_one,
    message,
    wire_batch,
)

SMALL = Geometry(page_size=256, sector_size=128)
OPTIONS = StoreOptions(
    commit_log_file_size=2048,
    consume_queue_file_size=400,
    index_slot_count=10,
    index_item_count=12,
    index_safe=True,
    max_message_size=1500,
    preallocates_files=True,
)
"""Records of two or three pages, units that straddle two, several files of a kind."""
POOLED = replace(OPTIONS, pool_buffer_count=3, preallocates_files=False)
"""The same with buffers before the log, from which a kill takes messages, too."""
QUEUES = (("T", 0), ("T", 1), ("Other", 0))
Step = tuple[Any, ...]
"""A word and what it needs; see `Player`."""


class Player:
    """Takes a store through steps and records its state after each."""

    def __init__(
        self,
        image: Mapping[str, bytes] | None = None,
        *,
        before: StoreState | None = None,
        now_ms: int = NOON_MS,
        options: StoreOptions = OPTIONS,
    ) -> None:
        self.trace = Trace(image=image or {}, before=before or StoreState())
        self.files = RecordingFiles(self.trace.image, self.trace.events)
        self.now_ms = now_ms
        self._number = 0
        self._options = options
        self._start()
        self._done()

    def play(self, steps: Iterable[Step]) -> Trace:
        """Take all *steps* and return the trace so far."""
        for word, *values in steps:
            getattr(self, word)(*values)
            self._done()
        return self.trace

    def put(self, queue: int, size: int, properties: str = "") -> None:
        """Put a message, unlike all before."""
        append_one(
            self.store,
            message(*QUEUES[queue], self._body(size), properties),
            self.now_ms,
        )

    def put_batch(self, queue: int, sizes: Iterable[int]) -> None:
        """Put several messages as one batch."""
        batch = wire_batch(*(self._body(size) for size in sizes))
        append_batch(self.store, message(*QUEUES[queue], batch), self.now_ms)

    def dispatch(self) -> None:
        """Let queues and index have what was put."""
        self.store.dispatch()

    def flush_log(self) -> None:
        """Bring the log to disk."""
        self.store.flush_log()

    def commit(self) -> None:
        """Bring what waits in buffers into the log."""
        self.store.commit_pool()

    def flush_queues(self) -> None:
        """Bring the queues to disk, and the checkpoint."""
        self.store.flush_queues()

    def deliver(self) -> None:
        """Deliver what was delayed and is due."""
        self.store.deliver_delayed_messages(self.now_ms)
        self.store.schedule_service.persist()

    def wait(self, step_ms: int) -> None:
        """Let time pass."""
        self.now_ms += step_ms

    def restart(self) -> None:
        """Stop in order and start."""
        self.store.stop()
        self._start()

    def kill(self) -> None:
        """End the process, not the system, which still has all that was written."""
        self.files.unlock()
        self._start()

    def _start(self) -> None:
        self.store = MessageStore(self.files, self._options, self.now_ms)

    def _body(self, size: int) -> bytes:
        self._number += 1
        return (b"%d." % (self.now_ms * 1000 + self._number) * size)[:size]

    def _done(self) -> None:
        end = self.store.log.files.end
        known = {
            at: record
            for at, record in log_records(self.files.image()).items()
            if at < end
        }
        flushed = min(self.store.log.files.flushed, end)
        self.trace.step(StoreState(records=known, flushed=flushed))


PROPERTIES = st.sampled_from(
    ["", "TAGS\x01a\x02", "KEYS\x01k1 k2\x02UNIQ_KEY\x01u\x02TAGS\x01long tag\x02"]
)
NUMBERS = st.integers(0, len(QUEUES) - 1)
SIZES = st.sampled_from([1, 20, 150, 400])
STEPS = st.one_of(
    st.tuples(st.just("put"), NUMBERS, SIZES, PROPERTIES),
    st.tuples(st.just("put"), NUMBERS, SIZES, PROPERTIES),
    st.tuples(st.just("put"), NUMBERS, SIZES, st.just("DELAY\x011\x02")),
    st.tuples(st.just("put_batch"), NUMBERS, st.lists(SIZES, min_size=1, max_size=3)),
    st.tuples(st.just("dispatch")),
    st.tuples(st.just("dispatch")),
    st.tuples(st.just("commit")),
    st.tuples(st.just("flush_log")),
    st.tuples(st.just("flush_queues")),
    st.tuples(st.just("deliver")),
    st.tuples(st.just("wait"), st.sampled_from([1, 1000, 4000])),
    st.tuples(st.just("restart")),
    st.tuples(st.just("kill")),
)
