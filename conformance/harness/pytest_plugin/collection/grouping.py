"""
Grouping of tests by worker: a file, or all files with the same broker.

Some fixtures start a broker for the tests of several files. Each worker with such a
test starts one, and another one if it ended meanwhile (see `target_cache`). So these
files stay together on one worker. The parameters of functions name fixtures.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

SHARED = ("written", "followed", "configurable_target", "special")
"""The fixtures, by name."""


class SharedBrokers(LoadScopeScheduling):  # type: ignore[misc] # it has no types
    """Gives files to workers, in turn, and to the same one what belongs together."""

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        super().__init__(config, log)
        self._root = config.rootpath
        self._groups: dict[str, str] = {}

    def _reschedule(self, node: WorkerController) -> None:
        """Give *node* its next file when it has one test left.

        A worker without the name of a next test waits before its last. pytest-xdist
        gives the file to a worker with two tests. These may take half a minute.
        """
        has_more = self._pending_of(self.assigned_work[node]) > 1
        if not (has_more and self.workqueue):
            super()._reschedule(node)

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.partition("::")[0]
        if path not in self._groups:
            self._groups[path] = group_of(self._root / path) or path
        return self._groups[path]


def group_of(path: Path) -> str | None:
    """Return the first shared fixture among the parameters of functions in *path*."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError):  # not there, or not Python: a group of its own
        return None
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    parameters = {argument.arg for one in functions for argument in one.args.args}
    return next((name for name in SHARED if name in parameters), None)
