"""
Spark data source ``rocketmq.batchconsumequeue``: one row per batch consume-queue unit.

Units have one size, and a unit of zeros is not written yet (Java: BatchConsumeQueue).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from columns.gather import dtype_of
from columns.scan.log_file import ReadAt
from spark_checks.readers.schemas import arrow_schema, as_batch
from spark_checks.readers.table_source import FileSource
from spark_checks.store_files import StoreFile, queue_in
from spec.store.batch_queue import BATCH_QUEUE, UNIT_SIZE, batch_unit_layout

UNITS_AT_ONCE = 100_000
_schema = arrow_schema("rocketmq.batchconsumequeue")
_dtype = dtype_of(batch_unit_layout)


class BatchConsumeQueueSource(FileSource[StoreFile]):
    """Reads batch consume queues. Options: ``url``, ``files`` (JSON)."""

    source_name = "rocketmq.batchconsumequeue"

    def batches_in(self, read_at: ReadAt, part: StoreFile) -> Iterator[pa.RecordBatch]:
        """Yield the written units of one file."""
        queue, queue_id = queue_in(part, BATCH_QUEUE)
        step = UNITS_AT_ONCE * UNIT_SIZE
        end = part.size - part.size % UNIT_SIZE
        for start in range(0, end, step):
            data = read_at(start, min(step, end - start))
            count = len(data) // UNIT_SIZE
            units = np.frombuffer(data, dtype=_dtype, count=count)
            is_written = (units["size"] != 0) | (units["message_count"] != 0)
            written = np.flatnonzero(is_written)
            columns = {
                **{name: units[name][written] for name in _dtype.names or ()},
                "file_base": part.base,
                "position": start + written * UNIT_SIZE,
                "queue": queue,
                "queue_id": queue_id,
            }
            yield as_batch(_schema, len(written), columns)
