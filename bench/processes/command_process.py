"""
A process that works on order: it reads orders and writes results, a line each.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from conformance.harness.process.context import Closing


class CommandProcess(Closing):
    """A running process, its orders and its responses."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        directory: str | None = None,
    ) -> None:
        """Start *command*; *environment* is added to our own."""
        self._said = tempfile.NamedTemporaryFile("w+")  # noqa: SIM115 - closed below
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            cwd=directory,
            env={**os.environ, **(environment or {})},
        )

    def close(self) -> None:
        """End the process; closing twice is harmless."""
        self._end()
        for pipe in (self._orders, self._responses):
            with suppress(BrokenPipeError):  # the process ended before reading an order
                pipe.close()
        self._said.close()

    def _end(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()

    def _order(self, line: str) -> None:
        """Write an order. Raises BrokenPipeError when the process has ended."""
        self._orders.write(f"{line}\n")
        self._orders.flush()

    def _line(self) -> str:
        """Return the next line of its responses with its end; empty if it has ended."""
        return self._responses.readline()

    def _complaint(self) -> str:
        """Return its output to standard error so far."""
        return Path(self._said.name).read_text(errors="replace").strip()

    @property
    def _orders(self) -> IO[str]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _responses(self) -> IO[str]:
        assert self._process.stdout is not None
        return self._process.stdout
