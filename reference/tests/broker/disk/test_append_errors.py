"""Messages that the disk refuses: the operator reads it once, and its end."""

from __future__ import annotations

import pytest

from reference.core.store.mapped.files import FilesError
from reference.tests.broker.disk.faulty_broker import STEP_MS, Faulty, started_on
from reference.tests.memory_files import MemoryFiles

REFUSED = "no space left on the disk"
STORED_AGAIN = "new messages are stored again"


def a_while_later(driver: Faulty) -> list[str]:
    """Return the lines of the log after some seconds."""
    for _ in range(30):
        driver.wait(STEP_MS)
    return driver.lines


def test_refused_appends_are_one_line_at_the_begin_and_one_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver = started_on(MemoryFiles())
    log = driver.broker.state.store.log
    append = log.append

    def refuse(*_: object, **__: object) -> None:
        raise FilesError(REFUSED)

    monkeypatch.setattr(log, "append", refuse)
    for _ in range(3):
        assert not driver.produce("T", b"refused")
    assert a_while_later(driver) == [f"new messages are not stored: {REFUSED}"]
    monkeypatch.setattr(log, "append", append)
    assert driver.produce("T", b"stored")
    assert a_while_later(driver)[1:] == [STORED_AGAIN]


def test_a_disk_beyond_its_warning_level_is_a_line() -> None:
    driver = started_on(MemoryFiles())
    cleaning = driver.broker.state.store.clean_service
    cleaning.is_disk_full = True
    assert not driver.produce("T", b"refused")
    (line,) = a_while_later(driver)
    assert line.startswith("new messages are not stored: the disk is too full")
    cleaning.is_disk_full = False
    assert a_while_later(driver)[1:] == [STORED_AGAIN]
