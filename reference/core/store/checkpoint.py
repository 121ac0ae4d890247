"""
The checkpoint: up to which store time log, queues and index are known to be on disk.

An abnormal start begins its recovery there.
"""

from __future__ import annotations

from reference.core.store.files import Files
from reference.core.store.layouts import checkpoint_codec

CHECKPOINT_SIZE = 4096
_SAFETY_MS = 3000


class CheckpointFile:
    """The three times of the file ``checkpoint``."""

    def __init__(self, files: Files) -> None:
        self._file = files.open("checkpoint", CHECKPOINT_SIZE)
        times: tuple[int, int, int] = checkpoint_codec.unpack_from(self._file.view)
        self.physic_ms, self.logics_ms, self.index_ms = times

    def trusted_ms(self, *, with_index: bool) -> int:
        """Return the store time up to which everything is surely on disk.

        4.6.0 org.apache.rocketmq.store.StoreCheckpoint#getMinTimestamp.
        """
        trusted = max(min(self.physic_ms, self.logics_ms) - _SAFETY_MS, 0)
        return min(trusted, self.index_ms) if with_index else trusted

    def flush(self) -> None:
        """Write the times and return when they are on disk."""
        times = (self.physic_ms, self.logics_ms, self.index_ms)
        self._file.write(checkpoint_codec.pack(*times), 0)
        self._file.flush()

    def close(self) -> None:
        """Give the mapping back."""
        self._file.close()
