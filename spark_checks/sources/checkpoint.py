"""
The Spark source ``rocketmq.checkpoint``: a row for a checkpoint file.

A file that is too short to hold the times is damaged. One that holds them and is not
as it should be otherwise has its times and a reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_checks.sources.schemas import CHECKPOINT_COLUMNS
from spark_checks.sources.whole_files import Row, WholeFileSource
from spec.store.checkpoint import (
    FILE_SIZE,
    Checkpoint,
    checkpoint_layout,
    decode_checkpoint,
)


class CheckpointSource(WholeFileSource):
    """Reads checkpoints. Options: ``url``, ``files`` (JSON)."""

    source_name = "rocketmq.checkpoint"
    columns = CHECKPOINT_COLUMNS

    @staticmethod
    def rows_of(data: bytes, path: str, size: int) -> Iterator[Row]:
        """Yield the row of the checkpoint at *path*."""
        needed = checkpoint_layout.sizeof()
        row = {"file": path, "file_size": size}
        if len(data) < needed:
            reason = f"{size} bytes, the times take {needed}"
            yield {**row, "kind": "damaged", "reason": reason}
            return
        found = decode_checkpoint(data)
        fields = {name: getattr(found, name) for name in Checkpoint.__slots__}
        yield {**row, "kind": "checkpoint", "reason": _reason(data, size), **fields}


def _reason(data: bytes, size: int) -> str | None:
    """Return what is wrong with a checkpoint whose times can be read."""
    if size != FILE_SIZE:
        return f"{size} bytes, a checkpoint has {FILE_SIZE}"
    if data[checkpoint_layout.sizeof() :].strip(b"\0"):
        return "bytes follow the fields"
    return None
