"""Rows of a commit-log file in memory."""

from __future__ import annotations

from typing import Any

from columns.scan.log_file import LogRange
from spark_checks.broker_conf import delays_in_setting
from spark_checks.readers.commit_log import batches
from spec.wire.message.delay_levels import DEFAULT_DELAY_LEVELS

Row = dict[str, Any]
DELAYS = delays_in_setting(DEFAULT_DELAY_LEVELS)


def rows_of(data: bytes, *, cut: int | None = None, base: int = 0) -> list[Row]:
    """Return the rows of a file, read by readers of *cut* bytes each."""

    def read_at(position: int, size: int) -> bytes:
        return data[position : position + size]

    step = cut or max(len(data), 1)
    return [
        row
        for start in range(0, len(data), step)
        for batch in batches(
            read_at,
            LogRange(
                base=base,
                file_size=len(data),
                start=start,
                end=min(start + step, len(data)),
            ),
            DELAYS,
        )
        for row in batch.to_pylist()
    ]
