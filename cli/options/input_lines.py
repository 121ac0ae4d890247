"""Lines of standard input for asyncio, as they arrive."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from io import UnsupportedOperation
from threading import Thread

from cli.options.exit_codes import WrongValueError

LINES_AHEAD = 1000
"""Most lines that are read before the application takes them."""


async def input_lines() -> AsyncIterator[str]:
    """Yield the lines of standard input without their ends.

    Bytes that are not UTF-8 are surrogates, as in names of files.

    A thread reads them, because a pipe, a terminal and a file have no common
    asynchronous interface. It is a daemon: a blocked read does not delay the exit.
    """
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | Exception | None] = asyncio.Queue(LINES_AHEAD)

    def put(line: str | Exception | None) -> None:
        asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()

    def read() -> None:
        try:
            for line in _lines():
                put(line)
            put(None)
        except OSError as error:
            put(error)

    Thread(target=read, daemon=True).start()
    while (line := await lines.get()) is not None:
        if isinstance(line, Exception):
            raise WrongValueError(f"standard input cannot be read: {line}")
        yield line.rstrip("\n")


def _lines() -> Iterator[str]:
    """Yield the lines, from a file object of its own where there is a descriptor.

    Python cannot exit while a daemon thread holds the lock of ``sys.stdin``.
    """
    stream = sys.stdin
    try:
        descriptor = stream.fileno()
    except UnsupportedOperation:
        yield from stream
        return
    with open(
        descriptor, encoding="utf-8", errors="surrogateescape", closefd=False
    ) as own_stream:
        yield from own_stream
