"""The Flush effect: done on another thread, with the disk's error reported."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path

import pytest

from reference.core.remoting.effects import Effect, Flush
from reference.core.remoting.server import RemotingServer
from reference.shell.remoting_host import RemotingHost
from reference.shell.storage.disk import DiskFile, DiskFiles


class FlushRecorder(RemotingServer):
    """A server that records completed flushes: number and error of the disk."""

    def __init__(self) -> None:
        super().__init__()
        self.completed: list[tuple[int, str]] = []
        self.has_two = asyncio.Event()

    def flush_completed(
        self, number: int, now_ms: int, refused: str = ""
    ) -> list[Effect]:
        """Record the completion."""
        assert now_ms > 0
        self.completed.append((number, refused))
        if len(self.completed) == 2:
            self.has_two.set()
        return []


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
    assert completed == [(1, f"cannot flush {path}: {reason}"), (2, "")]
    assert bytes(file.view[10:14]) == path.read_bytes()[10:14] == b"kept"
    file.close()


async def flushed_twice(
    file: DiskFile, number: int, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[int, str]]:
    """Flush *file* with an error, then without; return the recorded completions."""
    errors = [OSError(number, "refused")]
    real = os.fdatasync

    def flush(file_number: int) -> None:
        if errors:
            raise errors.pop()
        real(file_number)

    monkeypatch.setattr(os, "fdatasync", flush)
    recorder = FlushRecorder()
    host = RemotingHost(recorder)
    host.perform([Flush((file,), 1)])
    await host.stop()
    host.perform([Flush((file,), 2)])
    await asyncio.wait_for(recorder.has_two.wait(), timeout=30)
    await host.stop()
    return recorder.completed


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
