"""
``rmqc`` many times over in one process of its own, for tests that ask it hundreds of
questions: starting Python for each would take longer than the answers.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

SOURCES = Path(__file__).parents[2]

_LOOP = """
import contextlib, io, json, sys
from cli.main import main
for line in sys.stdin:
    printed, code = io.StringIO(), 0
    with contextlib.redirect_stdout(printed):
        try:
            main(args=json.loads(line))
        except SystemExit as end:
            code = end.code
    print(json.dumps([code, printed.getvalue()]), flush=True)
"""
"""Each line of input is one command's words; each line of output its code and text."""


class Command:
    """The command, which answers until it is closed."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LOOP],
            cwd=SOURCES,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the process by ending its input, and wait for it."""
        self._process.communicate()

    def run(self, words: Sequence[str]) -> tuple[int, str]:
        """Return exit code and standard output of ``rmqc`` with these *words*."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(list(words)) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise AssertionError(f"rmqc {' '.join(words)}: it broke off")
        code, printed = json.loads(answer)
        return int(code), str(printed)
