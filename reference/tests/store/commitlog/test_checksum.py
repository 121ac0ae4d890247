"""A stored record's checksum is the specification's, from every implementation."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reference.core.store.commitlog.commit_log import CommitLog
from reference.core.store.delay.delay_levels import DelayLevels
from reference.core.store.types import StoreOptions
from reference.tests.memory_files import MemoryFiles
from reference.tests.store.small_stores import NOON_MS, message
from spec.integers import body_crc
from spec.store.message_record import record_layout

OPTIONS = StoreOptions(commit_log_file_size=8192, preallocates_files=False)


@given(body=st.binary(max_size=3000))
def test_a_record_has_the_plain_checksum_of_its_body(body: bytes) -> None:
    log = CommitLog(MemoryFiles(), OPTIONS, DelayLevels(OPTIONS.delay_levels))
    (result,) = log.append([message(body=body)], NOON_MS).results
    record = log.record(result.physical_offset, result.size)
    assert record is not None
    assert record_layout.parse(record).body_crc == body_crc(body)
