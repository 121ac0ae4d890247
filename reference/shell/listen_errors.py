"""Errors of listening: one line with the address, without asyncio's text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


class ListenError(OSError):
    """A port cannot be opened."""


@contextmanager
def naming_address(host: str, port: int) -> Iterator[None]:
    """Raise ListenError with the address for an OSError in the block."""
    try:
        yield
    except OSError as error:
        number = error.errno or 0
        reason = os.strerror(number) if number > 0 else str(error)
        raise ListenError(f"cannot listen on {host}:{port}: {reason}") from error
