"""
Pytest in a process of its own, which finds what it needs loaded already.

Half of the processor time of a small run is the import of pytest, Hypothesis and the
specification. A fork server imports these once, and each run is a fork of it. A run
shares nothing else with other runs, leaves nothing behind, and ends with its owner.
"""

from __future__ import annotations

import functools
import importlib
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from conformance.harness.process.fork_server import (
    IS_POSSIBLE,
    ForkServer,
    fork_from,
)
from conformance.harness.process.process import Child, start, track
from conformance.harness.targets.started.embedded import SOURCES
from rocketmq_conformance.paths import module_command

PLUGIN = "conformance.harness.pytest_plugin.plugin"
PRELOADED = (
    "pytest",
    PLUGIN,
    "conformance.harness.report.pages.run_page",
    "hypothesis.stateful",
    "spec.registry",
    "xdist.plugin",
)
_founding = threading.Lock()


class LateError(Exception):
    """A run took longer than it may."""


def run_forked(
    words: Sequence[str], *, directory: Path, printed: Path, timeout_s: float
) -> int:
    """
    Run pytest with *words* in *directory*, what it prints in *printed*; its exit code.

    A run that is not done after *timeout_s* is killed, which raises `LateError`.
    """
    child = _started(words, directory, printed)
    try:
        return child.process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        late = f"not done after {timeout_s:.0f} s: pytest {words[-1]}"
        raise LateError(late) from None
    finally:
        child.kill()


def _started(words: Sequence[str], directory: Path, printed: Path) -> Child:
    if not IS_POSSIBLE:
        command = module_command("pytest", *words)
        return start("pytest", command, log=printed, directory=directory)
    with _founding:
        server = _fork_server()
    process = fork_from(server.address, words, log=printed, directory=directory)
    return track(
        Child(name="pytest", process=process, log=printed, command=tuple(words))
    )


@functools.cache
def _fork_server() -> ForkServer:
    return ForkServer(__name__, directory=SOURCES, arguments=PRELOADED)


def prepare(arguments: Sequence[str]) -> None:
    """Import modules, in the fork server."""
    for name in arguments:
        importlib.import_module(name)


def main(arguments: Sequence[str]) -> int:
    """Run pytest, in a fork."""
    import pytest  # the server has it

    sys.argv = ["pytest", *arguments]
    return int(pytest.main(list(arguments)))
