"""A flush that raises any error has a result."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from reference.core.remoting.effects import Flush
from reference.core.remoting.server import RemotingServer
from reference.core.store.mapped.files import FilesError, MappedFile
from reference.shell.remoting_host import RemotingHost


class Failing:
    """A file whose flush raises."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def flush(self) -> None:
        """Raise the error."""
        raise self._error


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (FilesError("no space"), "no space"),
        (RuntimeError("changed size"), "RuntimeError: changed size"),
    ],
)
def test_every_flush_is_completed(error: Exception, text: str) -> None:
    results: list[str] = []

    async def run() -> None:
        host = RemotingHost(RemotingServer())
        files = (cast(MappedFile, Failing(error)),)
        host.perform([Flush(files, lambda refused, _: results.append(refused))])
        await host.stop()

    asyncio.run(run())
    assert results == [text]
