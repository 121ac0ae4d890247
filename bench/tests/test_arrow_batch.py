"""Arrow columns hold the values of a batch, short and long, up to the data's end."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.measurements.arrow_batch import as_arrow
from columns.gather import values_of
from columns.log_batch import read_batches
from spec.store.message_record import Record, encode_record

STORES = Path(__file__).parents[2] / "fixtures" / "store"
TEXTS = ("", "T", "T" * 12, "T" * 13, "é" * 63)
WRITTEN = b"".join(
    encode_record(
        Record(
            topic=topic,
            queue_id=0,
            queue_offset=0,
            physical_offset=0,
            body=b"b" * size,
            properties=properties,
        )
    )
    for topic in TEXTS
    for size in (0, 3, 12, 40)
    for properties in TEXTS
)
LOGS = [WRITTEN, *(path.read_bytes() for path in sorted(STORES.glob("*/commitlog/*")))]


@pytest.mark.parametrize("at_once", [1, 2, 8192])
@pytest.mark.parametrize("data", LOGS, ids=range(len(LOGS)))
def test_a_table_has_the_columns_of_its_batch(data: bytes, at_once: int) -> None:
    for batch in read_batches(data, at_once=at_once):
        table = as_arrow(batch)
        table.validate(full=True)
        found = table.to_pydict()
        assert found.pop("offset") == batch.offsets.tolist()
        for name, column in batch.fields.numbers.items():
            assert found.pop(name) == column.tolist()
        for name, places in batch.fields.places.items():
            assert found.pop(name) == list(values_of(batch.data, places))
        assert not found
