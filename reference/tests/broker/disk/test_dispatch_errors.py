"""Messages whose queues cannot be opened: the operator reads it once, and its end."""

from __future__ import annotations

import pytest

from reference.core.store.mapped.files import FilesError, MappedFile
from reference.tests.broker.disk.faulty_broker import STEP_MS, started_on
from reference.tests.memory_files import MemoryFiles

REFUSED = "too many open files"


def test_refused_queues_are_one_line_at_the_begin_and_one_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = MemoryFiles()
    driver = started_on(files)
    opened = files.open

    def refuse(path: str, size: int) -> MappedFile:
        if path.startswith("consumequeue/New"):
            raise FilesError(REFUSED)
        return opened(path, size)

    monkeypatch.setattr(files, "open", refuse)
    assert driver.produce("New0", b"stored")
    for _ in range(30):
        driver.wait(STEP_MS)
    assert driver.consume("New0") == []
    assert driver.lines == [f"messages are stored, but not readable: {REFUSED}"]
    monkeypatch.setattr(files, "open", opened)
    for _ in range(20):
        driver.wait(STEP_MS)
    assert driver.consume("New0") == [b"stored"]
    assert driver.lines[1:] == ["the stored messages are readable again"]
