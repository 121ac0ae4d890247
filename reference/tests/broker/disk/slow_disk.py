"""
A broker with a scripted disk: the test completes or refuses each flush.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reference.core.remoting.effects import Effect, Flush, LogError
from reference.tests.broker.broker_driver import BrokerDriver
from spec.store.message_record import decode_record
from spec.wire.message.message_id import decode_message_id

SYNC = {"flushDiskType": "SYNC_FLUSH", "mappedFileSizeCommitLog": "1024"}


class SlowDisk(BrokerDriver):
    """A broker, and the flushes that it waits for."""

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        self.waiting: list[tuple[Flush, int]] = []
        """Each flush, with how far the log will be safe by it."""
        self.on_disk = 0
        """End of the log that is really on disk."""
        self.complaints: list[str] = []
        super().__init__(settings)
        self.broker.flusher.start(self.now_ms)
        self._note(self.broker.take_effects())

    def flush(self, refused: str = "") -> None:
        """Complete or refuse the oldest requested flush."""
        flush, end = self.waiting.pop(0)
        if not refused:
            self.on_disk = max(self.on_disk, end)
        self._note(self.broker.flush_completed(flush, refused, self.now_ms))

    def flush_all(self) -> None:
        """Complete every flush, and those that follow from it."""
        while self.waiting:
            self.flush()

    def safe_by(self, flush: Flush) -> int:
        """Return the end of the log that is on disk once *flush* completes."""
        queue, safe = self.broker.state.store.log.files, self.on_disk
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
