"""
The reference as a target: a name server and a broker in one child process.

It is started by name, ``python -m reference.shell``, as any other implementation
would be; nothing of it is imported. A mutant is the same from a copy of the sources
in which one thing was made wrong.
"""

from __future__ import annotations

import atexit
import functools
import threading
from pathlib import Path

import conformance
from conformance.harness.client.address import Address
from conformance.harness.java.apache_conf import ROOM_SETTINGS
from conformance.harness.process.fork_server import (
    IS_POSSIBLE,
    ForkServer,
    ForkServerError,
    fork_from,
)
from conformance.harness.process.ports import PortBlock
from conformance.harness.process.process import Child, ProcessError, start, track
from conformance.harness.process.workspace import Workspace
from conformance.harness.targets.started.started_target import StartedTarget
from conformance.harness.targets.target import EVERYTHING, Capability, TargetError
from rocketmq_conformance.paths import module_command

SOURCES = Path(conformance.__file__).parents[1]
"""The directory that holds the packages spec, reference and conformance."""
PROGRAM, ENTRY = "reference.shell", "reference.shell.__main__"
START_TIMEOUT_S = 30.0
"""It is ready in well under a second, unless the machine is busy with other things."""
SETTINGS = {
    "brokerClusterName": "DefaultCluster",
    "brokerName": "broker-a",
    "brokerIP1": "127.0.0.1",
    "mapedFileSizeCommitLog": str(16 * 1024 * 1024),
    "mapedFileSizeConsumeQueue": str(6000 * 20),
    "maxHashSlotNum": "5000",
    "maxIndexNum": "20000",
    **ROOM_SETTINGS,
}
"""Settings of the broker: small files, as for the Apache targets."""

FAST = {"": (), "true": (), "false": ("--no-fast",), "always": ("--fast-from", "0")}
"""Options of the program by the target's setting ``fast``: vectorised recovery on large
stores, on none, or on all."""
FAST_PACKAGES = "reference/fast/", "columns/"


class ReferenceTarget(StartedTarget):
    """The reference, with a store of its own in a temporary directory."""

    capabilities = EVERYTHING - {Capability.UNCHECKED_CLIENTS}
    starts_anew = False
    """Whether each start loads the program, as that of a user does."""

    _child: Child | None = None

    def _configure(self) -> None:
        """Complete the settings, and take the options of the program from them."""
        self.conf = {**SETTINGS, **self.conf}
        fast = self.conf.pop("fast", "")
        if fast not in FAST:
            raise TargetError(f"{self.text!r}: fast is true, false or always")
        self._fast = FAST[fast]

    def _start(self) -> None:
        self.store_path = self.store_path or self.directory / "store"
        self._child = self._launch(self.directory, self.ports)
        self._child.wait_for_line("ready ", deadline_s=START_TIMEOUT_S)
        self.namesrv = Address("127.0.0.1", self.ports.name_server)
        self.broker = Address("127.0.0.1", self.ports.broker)

    @property
    def process_id(self) -> int | None:
        """Id of the process, None before the start."""
        return self._child.pid if self._child is not None else None

    def sources(self) -> Path:
        """Return the directory whose packages are run."""
        return SOURCES

    def end_report(self) -> str:
        """Return exit status and last output of the process if it has ended."""
        return self._child.end_report() if self._child is not None else ""

    def stop(self) -> None:
        """Terminate the process and wait for its end."""
        if self._child is not None:
            self._child.terminate()
            self._child = None

    def kill(self) -> None:
        """End the process with SIGKILL."""
        if self._child is not None:
            self._child.kill()
            self._child = None

    def _end(self) -> None:
        self.kill()

    def _launch(self, directory: Path, ports: PortBlock) -> Child:
        settings = directory / "broker.conf"
        conf = {"rocketmqHome": str(self.home), **self.conf}
        lines = [f"{key}={value}\n" for key, value in conf.items()]
        settings.write_text("".join(lines), encoding="utf-8")
        assert self.store_path is not None
        words: list[str | Path] = ["--namesrv-port", str(ports.name_server)]
        words += ["--broker-port", str(ports.broker)]
        words += ["--store", self.store_path.absolute(), "-c", settings]
        words += ["--clock-rate", str(self.clock_rate), *self._fast]
        name, log = self.text.partition("?")[0], directory / "reference.log"
        sources, anew = self.sources(), self.starts_anew
        return _run(name, words, log=log, sources=sources, anew=anew)


class EmbeddedTarget(ReferenceTarget):
    """The reference in the sources of the suites: ``embedded:``."""

    def _configure(self) -> None:
        """Refuse a text with more than settings."""
        if self.rest:
            raise TargetError(
                f"{self.text!r}: nothing but ?settings may follow embedded:"
            )
        super()._configure()


_founding = threading.Lock()
_fork_servers: dict[Path, Path | None] = {}
"""Addresses by directory of sources; None where the reference has started only once."""


def share_fork_server(address: Path) -> None:
    """Start every reference of this process from the fork server at *address*."""
    _fork_servers[SOURCES] = address


def reference_fork_server(sources: Path = SOURCES) -> ForkServer:
    """Return a new fork server of the reference in *sources*."""
    return ForkServer(ENTRY, directory=sources)


def _run(
    name: str, words: list[str | Path], *, log: Path, sources: Path, anew: bool
) -> Child:
    """Start the reference in *sources*; from the second time on, from a fork server."""
    if anew or sources not in _fork_servers or not IS_POSSIBLE:
        _fork_servers.setdefault(sources, None)
        program = module_command(PROGRAM, *words, sources=sources)
        return start(name, program, log=log, directory=sources)
    with _founding:
        address = _fork_servers[sources] or reference_fork_server(sources).address
        _fork_servers[sources] = address
    arguments = tuple(map(str, words))
    try:
        process = fork_from(address, arguments, log=log)
    except ForkServerError as error:
        raise ProcessError(f"{name}: {error}") from None
    return track(Child(name=name, process=process, log=log, command=arguments))


class MutantTarget(ReferenceTarget):
    """The reference with one seeded fault; see :mod:`conformance.mutants`.

    Small stores do not reach vectorised recovery, so a fault in it sets fast=always.
    """

    def _configure(self) -> None:
        """Choose vectorised recovery for a fault in it."""
        if _file_of(self.rest).startswith(FAST_PACKAGES):
            self.conf.setdefault("fast", "always")
        super()._configure()

    def sources(self) -> Path:
        """Return a copy of the sources in which the fault is planted."""
        return _planted(self.rest)


def _file_of(mutant_id: str) -> str:
    """Return the file that the mutant changes."""
    from conformance.mutants.mutant import MutantError, mutant

    try:
        return mutant(mutant_id).file
    except MutantError as error:
        raise TargetError(str(error)) from error


@functools.cache
def _planted(mutant_id: str) -> Path:
    """Return the copy that all targets of this mutant share, until we end."""
    from conformance.mutants.mutant import MutantError, plant

    workspace = Workspace()
    atexit.register(workspace.close)
    try:
        return plant(f"mutant:{mutant_id}", workspace.path / "sources", source=SOURCES)
    except MutantError as error:
        raise TargetError(str(error)) from error
