"""A flush is done aside, and what the disk refuses is told, not thrown."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path

import pytest

from reference.core.effects import Effect, Flush
from reference.core.service import Service
from reference.shell.disk import DiskFile, DiskFiles
from reference.shell.host import ServiceHost


class Asker(Service):
    """A service that wants a file flushed and notes what it hears."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[int, str]] = []
        self.all_heard = asyncio.Event()

    def flushed(self, number: int, now_ms: int, refused: str = "") -> list[Effect]:
        """Note the news."""
        assert now_ms > 0
        self.told.append((number, refused))
        if len(self.told) == 2:
            self.all_heard.set()
        return []


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.EIO, "Input/output error"),
        (errno.ENOSPC, "no space left on the disk"),
    ],
)
def test_a_refused_flush_is_told_and_the_next_one_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, says: str
) -> None:
    file = DiskFiles(tmp_path).open("some/file", 4096)
    file.write(b"kept", 10)
    heard = asyncio.run(flushed_twice(file, number, monkeypatch))
    path = tmp_path / "some" / "file"
    assert heard == [(1, f"cannot flush {path}: {says}"), (2, "")]
    assert bytes(file.view[10:14]) == path.read_bytes()[10:14] == b"kept"
    file.close()


async def flushed_twice(
    file: DiskFile, number: int, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[int, str]]:
    """Have *file* flushed, first with an error; return what the service heard."""
    errors = [OSError(number, "refused")]
    real = os.fdatasync

    def flush(file_number: int) -> None:
        if errors:
            raise errors.pop()
        real(file_number)

    monkeypatch.setattr(os, "fdatasync", flush)
    asker = Asker()
    host = ServiceHost(asker)
    host.perform([Flush((file,), 1)])
    await host.stop()
    host.perform([Flush((file,), 2)])
    await asyncio.wait_for(asker.all_heard.wait(), timeout=30)
    await host.stop()
    return asker.told


def test_pages_that_rest_are_there_when_they_are_read(tmp_path: Path) -> None:
    files = DiskFiles(tmp_path)
    file = files.open("large", 32 * 1024 * 1024)
    held = file.view[100:105]
    for at in range(100, file.size, 1 << 20):
        file.write(b"%05d" % (at >> 20), at)
    file.flush()
    file.write(b"again", 100)
    assert bytes(held) == b"again"
    assert bytes(file.view[100 + (7 << 20) :][:5]) == b"00007"
    file.close()
