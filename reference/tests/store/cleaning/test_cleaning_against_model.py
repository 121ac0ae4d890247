"""
A store that is cleaned again and again, against a list from which messages are struck.
"""

from __future__ import annotations

from hypothesis import settings
from hypothesis.stateful import invariant, precondition, rule

from reference.core.store.cleaning import DELETE_FILES_MAX, Retention
from reference.tests.store.small_stores import all_records, append_one, message
from reference.tests.store.store_machine import DiskStoreMachine, StoreMachine

EVERYTHING_IS_OLD = Retention(
    reserved_ms=-(2**63), hours=frozenset(range(24)), warning_ratio=2.0
)


class CleaningMachine(StoreMachine):
    """The store and its list, and what of the list is gone."""

    def __init__(self) -> None:
        super().__init__()
        self.gone: set[tuple[str, int, int]] = set()
        """Topic, queue id and queue offset."""
        # A read of the log's first message after its deletion returns another message.
        append_one(self.store, message("First"), self.now_ms)
        self.store.dispatch()

    @precondition(lambda self: self.visible_count == len(self.log))
    @rule()
    def clean(self) -> None:
        """Delete what files of the log can be deleted, and strike their messages."""
        log = self.store.log
        bases = log.files.start_offsets
        found = [one for base in bases for one in log.read_dispatch_requests(base)[0]]
        for _ in self.store.clean_service.delete_expired_files(
            EVERYTHING_IS_OLD, self.now_ms
        ):
            pass
        start = bases[min(DELETE_FILES_MAX, len(bases) - 1)]
        assert log.files.start == start
        self.gone |= {
            (one.topic, one.queue_id, one.queue_offset)
            for one in found
            if one.physical_offset < start
        }
        if start > bases[0]:
            for queue in {entry[:2] for entry in self.log}:
                left = self.left_of(queue)
                assert not left or self.store.min_offset(*queue) == left[0][0]

    def left_of(self, queue: tuple[str, int]) -> list[tuple[int, bytes]]:
        """Return queue offsets and bodies of what readers of *queue* still find."""
        visible = self.log[: self.visible_count]
        return [
            entry[2:]
            for entry in visible
            if entry[:2] == queue and entry[:3] not in self.gone
        ]

    @invariant()
    def readers_find_what_the_list_has(self) -> None:
        """Compare every queue."""
        visible = self.log[: self.visible_count]
        for queue in {entry[:2] for entry in visible}:
            count = sum(entry[:2] == queue for entry in visible)
            assert self.store.max_offset(*queue) == count
            records = all_records(self.store, *queue)
            found = [(record.queue_offset, record.body) for record in records]
            assert found == self.left_of(queue)


class DiskCleaningMachine(CleaningMachine, DiskStoreMachine):
    """The same on real files."""


TestCleaningInMemory = CleaningMachine.TestCase
TestCleaningInMemory.settings = settings(
    max_examples=40, stateful_step_count=30, deadline=None
)
TestCleaningOnDisk = DiskCleaningMachine.TestCase
TestCleaningOnDisk.settings = settings(
    max_examples=12, stateful_step_count=30, deadline=None
)
