"""Progress of an audit, as a call for each step."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receiver of the steps of an audit."""

    def __call__(self, step: str, size: int | None = None, /) -> None:
        """Report that *step* begins; *size* is the number of bytes that it reads."""


def silent(_step: str, _size: int | None = None, /) -> None:
    """Ignore a step."""
