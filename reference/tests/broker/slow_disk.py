"""
A broker whose disk the test is: flushes are done when the test says so, or refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reference.core.remoting.effects import Effect, Flush, LogError
from reference.tests.broker.making import Stage
from spec.store.message_record import decode_record
from spec.wire.message.message_id import decode_message_id

SYNC = {"flushDiskType": "SYNC_FLUSH", "mappedFileSizeCommitLog": "1024"}


class SlowDisk(Stage):
    """A broker, and the flushes that it waits for."""

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        self.waiting: list[tuple[Flush, int]] = []
        """Each flush, with how far the log will be safe by it."""
        self.on_disk = 0
        """How far the log is safe, whatever the broker believes."""
        self.complaints: list[str] = []
        super().__init__(settings)
        self.broker.flusher.start(self.now_ms)
        self._note(self.broker.take_effects())

    def flush(self, refused: str = "") -> None:
        """Finish the flush that was asked for first, or refuse it."""
        flush, end = self.waiting.pop(0)
        if not refused:
            self.on_disk = max(self.on_disk, end)
        self._note(self.broker.flush_completed(flush.number, self.now_ms, refused))

    def flush_all(self) -> None:
        """Finish every flush, and those that are asked for because of it."""
        while self.waiting:
            self.flush()

    def safe_by(self, flush: Flush) -> int:
        """Return how far the log is safe when *flush*, asked for now, is done."""
        queue, safe = self.broker.state.store.log.queue, self.on_disk
        while (found := queue.file_at(safe)) is not None and safe < queue.end:
            file, base = found
            if file not in flush.files:
                break
            safe = min(base + queue.file_size, queue.end)
        return safe

    def end_of(self, message_id: str) -> int:
        """Return the offset behind the record of a message."""
        offset = decode_message_id(message_id)[1]
        record = self.broker.state.store.record_at(offset)
        assert record is not None
        assert decode_record(record).physical_offset == offset
        return offset + len(record)

    def _note(self, effects: Iterable[Effect]) -> None:
        effects = list(effects)
        for effect in effects:
            if isinstance(effect, Flush):
                self.waiting.append((effect, self.safe_by(effect)))
            elif isinstance(effect, LogError):
                self.complaints.append(effect.text)
        super()._note(effects)
