"""
One process that runs ``rmqc`` many times: a start of Python for each of hundreds of
commands would take longer than the commands.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

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


Command = Callable[[Sequence[str]], tuple[int, str]]
"""Returns exit code and standard output of ``rmqc`` with these words."""


@contextmanager
def running_command() -> Iterator[Command]:
    """Lend the command; its process ends with the block."""
    words = [sys.executable, "-c", _LOOP]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        words, cwd=SOURCES, stdin=pipe, stdout=pipe, text=True
    ) as process:
        yield partial(_response, process)


def _response(process: subprocess.Popen[str], words: Sequence[str]) -> tuple[int, str]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(list(words)) + "\n")
    process.stdin.flush()
    response = process.stdout.readline()
    if not response:
        raise AssertionError(f"rmqc {' '.join(words)}: it broke off")
    code, printed = json.loads(response)
    return int(code), str(printed)
