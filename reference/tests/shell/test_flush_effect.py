"""The Flush effect: done on another thread, with the disk's error reported."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path

import pytest

from reference.core.remoting.effects import Flush
from reference.core.remoting.server import RemotingServer
from reference.shell.remoting_host import RemotingHost
from reference.shell.storage.disk import DiskFile, DiskFiles


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.EIO, "Input/output error"),
        (errno.ENOSPC, "no space left on the disk"),
    ],
)
def test_a_refused_flush_is_reported_and_the_next_one_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, reason: str
) -> None:
    file = DiskFiles(tmp_path).open("some/file", 4096)
    file.write(b"kept", 10)
    completed = asyncio.run(flushed_twice(file, number, monkeypatch))
    path = tmp_path / "some" / "file"
    assert completed == [f"cannot flush {path}: {reason}", ""]
    assert bytes(file.view[10:14]) == path.read_bytes()[10:14] == b"kept"
    file.close()


async def flushed_twice(
    file: DiskFile, number: int, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """Flush *file* with an error, then without; return the reported errors."""
    errors = [OSError(number, "refused")]
    real = os.fdatasync

    def flush(file_number: int) -> None:
        if errors:
            raise errors.pop()
        real(file_number)

    monkeypatch.setattr(os, "fdatasync", flush)
    completed: list[str] = []
    host = RemotingHost(RemotingServer())
    for _ in range(2):
        host.perform([Flush((file,), lambda error, _: completed.append(error))])
        await host.stop()
    return completed


def test_released_pages_are_read_again_from_disk(tmp_path: Path) -> None:
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
