"""
Pytest in a process of its own, which finds what it needs loaded already.

Half of the processor time of a small run is the import of pytest, Hypothesis and the
specification. A server imports these once, and each run is a fork of it: it shares
nothing else with other runs, and leaves nothing behind.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import sys
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

PLUGIN = "conformance.harness.pytest_plugin.plugin"
PRELOADED = (
    PLUGIN,
    "conformance.harness.report.pages.run_page",
    "hypothesis.stateful",
    "spec.registry",
    "xdist.plugin",
)
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(list(PRELOADED))


class LateError(Exception):
    """A run took longer than it may."""


def run_forked(
    words: Sequence[str], *, directory: Path, printed: Path, timeout_s: float
) -> int:
    """
    Run pytest with *words* in *directory*, what it prints in *printed*; its exit code.

    A run that is not done after *timeout_s* is killed, which raises `LateError`.
    """
    process = _CONTEXT.Process(target=_play, args=(list(words), directory, printed))
    process.start()
    try:
        process.join(timeout_s)
        if process.exitcode is None:
            raise LateError(f"not done after {timeout_s:.0f} s: pytest {words[-1]}")
        return process.exitcode
    finally:
        _end(process)


def _end(process: BaseProcess) -> None:
    process.kill()
    process.join()
    process.close()


def _play(words: list[str], directory: Path, printed: Path) -> None:
    """Be the run: this is the forked process."""
    import pytest  # the server has it

    with printed.open("wb") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    os.chdir(directory)
    random.seed()  # or all runs would draw the same
    sys.argv = ["pytest", *words]
    code = int(pytest.main(words))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # skips the exit handlers that the child has inherited
