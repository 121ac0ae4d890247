"""
The checkpoint: store times up to which log, queues and index are known to be on disk.

An abnormal start begins its recovery there (Java: StoreCheckpoint).
"""

from __future__ import annotations

from dataclasses import replace

from reference.core.store.mapped.files import Files, MappedFile
from spec.store.checkpoint import FILE_SIZE, decode_checkpoint, encode_checkpoint
from spec.store.file_names import CHECKPOINT


class CheckpointFile:
    """The three times of the file ``checkpoint``."""

    def __init__(self, files: Files) -> None:
        self._file = files.open(CHECKPOINT, FILE_SIZE)
        self.loaded = decode_checkpoint(self._file.view)
        """The times at the start, which recovery trusts."""
        self.physic_ms = self.loaded.physic_ms
        self.logics_ms = self._logics_on_disk_ms = self.loaded.logics_ms
        self.index_ms = self.loaded.index_ms

    def write(self, *, logics_ms: int | None = None) -> MappedFile:
        """Write the times and return the file.

        The time of the queues advances only to *logics_ms*, which a flush of the queues
        passes. 4.6.0 writes the time of the last unit, also when an index file is full
        and no queue was flushed. A power cut then loses units for good.
        """
        if logics_ms is not None:
            self._logics_on_disk_ms = logics_ms
        # [STORE-CHECKPOINT-001] [STORE-CHECKPOINT-002]
        times = replace(
            self.loaded,
            physic_ms=self.physic_ms,
            logics_ms=self._logics_on_disk_ms,
            index_ms=self.index_ms,
        )
        self._file.write(encode_checkpoint(times), 0)
        return self._file

    def flush(self, *, logics_ms: int | None = None) -> None:
        """Write the times and wait until they are on disk."""
        self.write(logics_ms=logics_ms).flush()

    def close(self) -> None:
        """Unmap the file."""
        self._file.close()
