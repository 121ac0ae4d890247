"""
Sources keep no session. Readers are picklable, and return no rows without partitions.
"""

from __future__ import annotations

import gc
import pickle
import weakref
from typing import Any
from unittest.mock import MagicMock

import pytest
from pyspark.sql.datasource import DataSource, DataSourceReader
from pyspark.sql.types import StructType

from spark_checks.readers.consume_queue import BatchConsumeQueueSource
from spark_checks.readers.multi_dispatch import MultiDispatchSource
from spark_checks.readers.record_keys import KeySource
from spark_checks.readers.register import SOURCES, register_sources

OPTIONS = {
    "url": "/none",
    **dict.fromkeys(("files", "ranges"), "[]"),
}
ALL: tuple[type[DataSource], ...] = (
    *SOURCES,
    BatchConsumeQueueSource,
    MultiDispatchSource,
    KeySource,
)
every_source = pytest.mark.parametrize("source", ALL, ids=lambda one: one.name())


def reader_of(source: type[DataSource]) -> DataSourceReader:
    """Return a reader without files, after pickling."""
    made = source(OPTIONS).reader(StructType())
    came: DataSourceReader = pickle.loads(pickle.dumps(made))  # noqa: S301 # our own
    return came


@every_source
def test_a_reader_without_parts_has_no_rows(source: type[DataSource]) -> None:
    none: Any = None  # Spark's value for no partitions
    assert list(reader_of(source).read(none)) == []


def test_registered_sources_keep_no_session() -> None:
    session = MagicMock()
    register_sources(session)
    assert session.dataSource.register.call_count == len(SOURCES)
    is_kept = weakref.ref(session)
    del session
    gc.collect()
    assert is_kept() is None
