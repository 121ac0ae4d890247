"""A store beside a list of its messages, over any sequence of operations."""

from __future__ import annotations

import shutil
import tempfile
from operator import itemgetter
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from reference.core.store.mapped.files import Files
from reference.core.store.message_store import MessageStore
from reference.core.store.types import DispatchRequest, PutResult, PutStatus
from reference.shell.storage.disk import DiskFiles
from reference.tests.memory_files import MemoryFiles
from reference.tests.store.small_stores import (
    NOON_MS,
    TINY,
    all_records,
    append_batch,
    append_one,
    killed,
    message,
    started,
    wire_batch,
)
from spec.store.message_record import decode_record

QUEUES = st.tuples(st.sampled_from(["T", "%RETRY%g"]), st.integers(0, 1))
BODIES = st.binary(max_size=300)
PROPERTIES = st.sampled_from(
    ["", "TAGS\x01a\x02", "KEYS\x01k1 k2\x02UNIQ_KEY\x01u\x02"]
)


class StoreMachine(RuleBasedStateMachine):
    """A store and the list that it must agree with."""

    def __init__(self) -> None:
        super().__init__()
        self.files = self.make_files()
        self.store: MessageStore = started(self.files)
        self.log: list[tuple[str, int, int, bytes]] = []
        """Topic, queue id, queue offset and body of every message, in order."""
        self.visible_count = 0
        self.now_ms = NOON_MS

    def make_files(self) -> Files:
        """Return the directory of the store."""
        return MemoryFiles()

    @rule(queue=QUEUES, body=BODIES, properties=PROPERTIES)
    def put(self, queue: tuple[str, int], body: bytes, properties: str) -> None:
        """Put one message."""
        result = append_one(self.store, message(*queue, body, properties), self.now_ms)
        self.check_and_note(queue, [body], result)

    @rule(queue=QUEUES, bodies=st.lists(st.binary(max_size=60), min_size=1, max_size=4))
    def put_batch(self, queue: tuple[str, int], bodies: list[bytes]) -> None:
        """Put several messages as one batch."""
        batch = message(*queue, wire_batch(*bodies))
        self.check_and_note(queue, bodies, append_batch(self.store, batch, self.now_ms))

    def check_and_note(
        self, queue: tuple[str, int], bodies: list[bytes], result: PutResult
    ) -> None:
        """Compare the response with the list, then add to it."""
        before = sum(1 for entry in self.log if entry[:2] == queue)
        assert result.status is PutStatus.PUT_OK
        assert result.queue_offset == before
        assert len(result.record_offsets) == len(bodies)
        self.log += [(*queue, before + i, body) for i, body in enumerate(bodies)]
        record = self.store.record_at(result.physical_offset)
        assert record is not None
        assert decode_record(record).body == bodies[0]

    @rule()
    def dispatch(self) -> None:
        """Make everything visible."""
        new = [place[:3] for place in self.log[self.visible_count :]]
        arrived = [(a.topic, a.queue_id, a.queue_offset) for a in self.store.dispatch()]
        of_queue = itemgetter(0, 1)  # dispatch groups the messages by queue
        assert sorted(arrived, key=of_queue) == sorted(new, key=of_queue)
        self.visible_count = len(self.log)

    @rule()
    def flush(self) -> None:
        """Bring everything to disk."""
        self.store.flush_log()
        self.store.flush_queues()

    @rule(step_ms=st.sampled_from([0, 1, 1000, 10_000]))
    def wait(self, step_ms: int) -> None:
        """Let time pass."""
        self.now_ms += step_ms

    @rule()
    def restart(self) -> None:
        """Stop the store and start it again."""
        self.store.stop()
        self.store = started(self.files, self.store.options, self.now_ms)
        self.visible_count = len(self.log)

    @rule()
    def kill(self) -> None:
        """Take the process away; what was written to mapped files stays."""
        self.store = killed(self.store, self.files)
        self.visible_count = len(self.log)

    @precondition(lambda self: self.visible_count == len(self.log))
    @rule(cut=st.integers(1, 40))
    def lose_power(self, cut: int) -> None:
        """Lose the last bytes of the log, and so the message that they belong to."""
        if self.log and tear(self.files, self.store, cut):
            self.log.pop()
            self.store = killed(self.store, self.files)
            self.visible_count = len(self.log)

    @invariant()
    def readers_find_what_the_list_has(self) -> None:
        """Compare every queue."""
        visible = self.log[: self.visible_count]
        for queue in {entry[:2] for entry in self.log}:
            found = all_records(self.store, *queue)
            expected = [entry[2:] for entry in visible if entry[:2] == queue]
            assert [(record.queue_offset, record.body) for record in found] == expected

    def teardown(self) -> None:
        """Let the files go."""
        self.store.stop()
        assert append_one(self.store, message(), NOON_MS).status is (
            PutStatus.SERVICE_NOT_AVAILABLE
        )


def tear(files: Files, store: MessageStore, cut: int) -> bool:
    """Overwrite the last record with zeros from *cut* bytes in.

    Returns False, having done nothing, if the last file has no record.
    """
    queue = store.log.files
    offset, last, size = queue.start_offsets[-1], -1, 0
    found = store.log.read_dispatch_request(offset)
    while offset < queue.end and isinstance(found, DispatchRequest):
        last, size, offset = offset, found.size, offset + found.size
        found = store.log.read_dispatch_request(offset)
    if last < 0:
        return False
    base = queue.start_offsets[-1]
    file = files.open(f"commitlog/{base:020}", TINY.commit_log_file_size)
    file.write(bytes(size - cut), last - base + cut)
    return True


class DiskStoreMachine(StoreMachine):
    """The same on real files."""

    def make_files(self) -> Files:
        """Return a directory of its own."""
        self.directory = Path(tempfile.mkdtemp(prefix="store-"))
        return DiskFiles(self.directory)

    def teardown(self) -> None:
        """Let the files go."""
        super().teardown()
        shutil.rmtree(self.directory)
