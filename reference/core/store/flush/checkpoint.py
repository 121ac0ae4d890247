"""
The checkpoint: store times up to which log, queues and index are known to be on disk.

An abnormal start begins its recovery there (Java: StoreCheckpoint).
"""

from __future__ import annotations

from reference.core.store.layouts import checkpoint_codec
from reference.core.store.mapped.files import Files, MappedFile
from spec.store.checkpoint import FILE_SIZE, SAFETY_MS
from spec.store.file_names import CHECKPOINT


class CheckpointFile:
    """The three times of the file ``checkpoint``."""

    def __init__(self, files: Files) -> None:
        self._file = files.open(CHECKPOINT, FILE_SIZE)
        values: tuple[int, ...] = checkpoint_codec.unpack_from(self._file.view)
        self.physic_ms, self.logics_ms, self.index_ms = values[:3]
        self._since_5_0 = values[3:]
        self._logics_on_disk_ms = self.logics_ms

    def trusted_ms(self, *, with_index: bool) -> int:
        """Return the store time up to which every file is on disk.

        4.6.0 org.apache.rocketmq.store.StoreCheckpoint#getMinTimestamp.
        """
        # [REC-CHECKPOINT-001]
        trusted = max(min(self.physic_ms, self.logics_ms) - SAFETY_MS, 0)
        return min(trusted, self.index_ms) if with_index else trusted

    def write(self, *, logics_ms: int | None = None) -> MappedFile:
        """Write the times and return the file.

        The time of the queues advances only to *logics_ms*, which a flush of the queues
        passes. 4.6.0 writes the time of the last unit, also when an index file is full
        and no queue was flushed. A power cut then loses units for good.
        """
        if logics_ms is not None:
            self._logics_on_disk_ms = logics_ms
        # [STORE-CHECKPOINT-001] [STORE-CHECKPOINT-002]
        times = (self.physic_ms, self._logics_on_disk_ms, self.index_ms)
        self._file.write(checkpoint_codec.pack(*times, *self._since_5_0), 0)
        return self._file

    def flush(self, *, logics_ms: int | None = None) -> None:
        """Write the times and wait until they are on disk."""
        self.write(logics_ms=logics_ms).flush()

    def close(self) -> None:
        """Unmap the file."""
        self._file.close()
