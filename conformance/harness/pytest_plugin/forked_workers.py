"""
Workers of pytest-xdist that are forks of a process which has imported the tests.

The imports of pytest, Hypothesis, the specification and 150 modules of tests take 2.5 s
of processor time, and each of twelve workers did them. A fork server imports them once,
while the run starts its target. Another one forks the references of all workers.

Both run only under ``rmqc test``, where pytest loads no plugins of other projects.
Those may not survive a fork.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.harness.process import fork_request
from conformance.harness.process.fork_server import IS_POSSIBLE, ForkServer
from conformance.harness.targets.started.embedded import (
    reference_fork_server,
    share_fork_server,
)

NO_AUTOLOAD = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"
"""Variable of pytest: it loads only the plugins that are named."""
QUIET = ("-q", "--collect-only", "-n0", "-p", "no:cacheprovider")
PLUGINS = ("xdist.plugin", "_hypothesis_pytestplugin")
EMBEDDED = "embedded:"
"""Begin of the target whose fork server the workers share."""
TARGET_FORK_SERVER = "conformance_fork_server"


class WorkerForkServers:
    """Fork servers of a run with several workers: of these, and of their targets.

    Both start with the run, and end with it. A run without workers has none.
    """

    def __init__(self, config: pytest.Config, target: str) -> None:
        self._workers: ForkServer | None = None
        self._targets: ForkServer | None = None
        specs = config.getoption("tx", None) or ()
        is_alone = NO_AUTOLOAD in os.environ and not config.option.collectonly
        if not (IS_POSSIBLE and is_alone and len(specs) > 1):
            return
        self._workers = _worker_fork_server(config)
        if target.startswith(EMBEDDED):
            self._targets = reference_fork_server()
            share_fork_server(self._targets.address)

    def use_for(self, specs: Sequence[Any]) -> None:
        """Let the workers with *specs*, those of execnet's gateways, be forks."""
        for spec in specs:
            if self._workers is not None and spec.popen and not spec.python:
                client = [sys.executable, "-I", "-S", fork_request.__file__]
                spec.python = shlex.join([*client, str(self._workers.address)])

    def send_to(self, worker: dict[str, Any]) -> None:
        """Add the fork server of targets to the input of a *worker*."""
        if self._targets is not None:
            worker[TARGET_FORK_SERVER] = str(self._targets.address)

    def close(self) -> None:
        """End both."""
        for server in filter(None, (self._workers, self._targets)):
            server.close()


def receive_fork_server(worker: Mapping[str, Any]) -> None:
    """Use the fork server of targets in the input of this *worker*, if there is one."""
    if TARGET_FORK_SERVER in worker:
        share_fork_server(Path(worker[TARGET_FORK_SERVER]))


def _worker_fork_server(config: pytest.Config) -> ForkServer:
    words = ["--import-mode=importlib", f"--rootdir={config.rootpath}", *config.args]
    # The default is the folder of the settings, which in an installation is another.
    words.append(f"--confcutdir={config.option.confcutdir}")
    if config.inipath is not None:
        words.append(f"--config-file={config.inipath}")
    directory = str(config.invocation_params.dir)
    setup = {"path": sys.path, "words": words, "directory": directory}
    return ForkServer(
        __name__,
        directory=config.rootpath,
        arguments=[json.dumps(setup)],
        own_session=False,
    )


def prepare(arguments: Sequence[str]) -> None:
    """Import the tests, in the fork server, as pytest does when it collects them."""
    setup = json.loads(arguments[0])
    sys.path[:] = setup["path"]
    os.chdir(setup["directory"])
    plugins = [word for name in PLUGINS for word in ("-p", name)]
    with Path(os.devnull).open("wb") as nothing:
        streams = [(number, os.dup(number)) for number in (1, 2)]
        for number, _ in streams:
            os.dup2(nothing.fileno(), number)
        code = pytest.main([*plugins, *QUIET, *setup["words"]])
        if code != pytest.ExitCode.OK:
            _forget_tests()
        for number, kept in streams:
            os.dup2(kept, number)
            os.close(kept)


def _forget_tests() -> None:
    """Remove the modules of tests, so that a broken one fails in each worker.

    Pytest leaves a module whose import failed. A worker would find no tests in it, and
    no error.
    """
    for name in list(sys.modules):
        if name.rpartition(".")[2].startswith("test_"):
            del sys.modules[name]


def main(arguments: Sequence[str]) -> int:
    """Run Python's command line ``-u -c PROGRAM``, in a fork."""
    program = arguments[-1]
    sys.argv = ["-c"]
    sys.stdin = os.fdopen(0, closefd=False)
    exec(program, {"__name__": "__main__"})  # noqa: S102 - execnet's own
    return 0
