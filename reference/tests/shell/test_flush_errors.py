"""A flush that raises any error has a result."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from reference.core.remoting.effects import Effect, Flush
from reference.core.remoting.server import RemotingServer
from reference.core.store.mapped.files import FilesError, MappedFile
from reference.shell.remoting_host import RemotingHost


class Recorded(RemotingServer):
    """A server that keeps the results of its flushes."""

    def __init__(self) -> None:
        super().__init__()
        self.results: list[tuple[int, str]] = []

    def flush_completed(
        self,
        number: int,
        now_ms: int,  # noqa: ARG002
        refused: str = "",
    ) -> list[Effect]:
        """Keep a result."""
        self.results.append((number, refused))
        return self.take_effects()


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
    async def run() -> list[tuple[int, str]]:
        server = Recorded()
        host = RemotingHost(server)
        files = (cast(MappedFile, Failing(error)),)
        host.perform([Flush(files, 7)])
        await host.stop()
        return server.results

    assert asyncio.run(run()) == [(7, text)]
