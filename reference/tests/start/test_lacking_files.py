"""A log that lacks its last files, beside one that a crash or a copy cut short."""

from __future__ import annotations

import pytest

from reference.core.recovery_forecast.forecast import forecast
from reference.core.store.recovery.rules import rules_of
from reference.tests.memory_files import MemoryFiles
from reference.tests.start.damaged_stores import MemoryView
from reference.tests.store.small_stores import (
    NOON_MS,
    TINY,
    append_one,
    message,
    started,
)

SIZE = TINY.commit_log_file_size


@pytest.mark.parametrize(
    ("kept_bytes", "topics", "lacks_files", "lacks_end"),
    [
        pytest.param(SIZE, "AB", True, False, id="without its last files"),
        pytest.param(SIZE * 3 // 2, "AB", False, True, id="without the end of a file"),
        pytest.param(SIZE * 3 // 2, "A", False, False, id="units of one queue"),
    ],
)
def test_a_log_lacks_files_if_units_point_behind_the_last_one(
    kept_bytes: int, topics: str, lacks_files: bool, lacks_end: bool
) -> None:
    files = MemoryFiles()
    store = started(files)
    while store.log.files.end < 2 * SIZE:
        for topic in topics:
            append_one(store, message(topic, body=b"b" * (SIZE // 8)), NOON_MS)
    store.dispatch()
    store.stop()
    for name in files.names("commitlog"):
        path, begin = f"commitlog/{name}", int(name)
        if begin >= kept_bytes:
            files.delete(path)
        elif begin + SIZE > kept_bytes:
            file = files.open(path, SIZE)
            file.write(b"\0" * (begin + SIZE - kept_bytes), kept_bytes - begin)
    found = forecast(MemoryView(files), rules_of("4.6.0"), TINY)
    assert found.log.units_behind_end > 1
    assert found.log.lacks_files is lacks_files
    assert found.log.lacks_end is lacks_end
