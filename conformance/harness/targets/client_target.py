"""
Client as a target: ``client:COMMAND``, where the command starts its adapter.

A client does not listen, so suites about brokers are unsupported. The suite about
clients plays the brokers itself, and drives the client through the adapter.
"""

from __future__ import annotations

import atexit
import functools
import os
import shlex
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from conformance.harness.process.ports import NoFreePortError, check_loopback
from conformance.harness.process.workspace import Workspace
from conformance.harness.targets.client_adapter import (
    FIRST_HELLO_TIMEOUT_S,
    FIRST_HELLO_VARIABLE,
    Adapter,
    AdapterError,
)
from conformance.harness.targets.client_hello import hello_error
from conformance.harness.targets.started.embedded import SOURCES
from conformance.harness.targets.target import (
    CLIENT,
    Capability,
    Target,
    TargetError,
)
from rocketmq_conformance.paths import module_command
from spec.wire.remoting.command import Command

_ADAPTER = "reference.shell.adapter.adapter"
REFERENCE = shlex.join(module_command(_ADAPTER))
"""Command of the reference client's adapter."""


def first_hello_timeout_s() -> float:
    """Return the timeout of the first hello, in seconds."""
    return float(os.environ.get(FIRST_HELLO_VARIABLE, FIRST_HELLO_TIMEOUT_S))


class ClientTarget(Target):
    """A client, which each worker starts for itself."""

    capabilities = frozenset({Capability.CLIENT})

    def start(self) -> None:
        """Read the client's release from the hello of an adapter, which ends again."""
        try:
            check_loopback()
            with closing(self.launch()) as adapter:
                hello = adapter.hello(first_hello_timeout_s())
        except NoFreePortError as error:
            raise TargetError(str(error)) from error
        except AdapterError as error:
            raise TargetError(f"no hello from the adapter: {error}") from error
        if reason := hello_error(hello):
            raise TargetError(reason)
        release = str(hello["release"])
        self.release = self.release if self.has_profile else release

    def launch(self) -> Adapter:
        """Return the adapter, started anew."""
        return Adapter(self.rest or REFERENCE, directory=self.directory())

    def altered(self, request: Command) -> Sequence[Command]:
        """Return *request* as the suite's servers receive it: unchanged."""
        return (request,)

    def directory(self) -> Path | None:
        """Return the directory of the command; the project's own for the reference."""
        return None if self.rest and self.rest != REFERENCE else SOURCES


class ClientMutantTarget(ClientTarget):
    """The reference client with one seeded fault: ``client-mutant:ID``."""

    def launch(self) -> Adapter:
        """Return the adapter of a copy in which the fault is planted."""
        sources = _planted(self.rest)
        command = module_command(_ADAPTER, sources=sources)
        return Adapter(shlex.join(command), directory=sources)


@functools.cache
def _planted(mutant_id: str) -> Path:
    """Return the copy of the sources, made once in this process."""
    from conformance.mutants.mutant import MutantError, plant

    workspace = Workspace()
    atexit.register(workspace.close)
    try:
        return plant(
            f"client-mutant:{mutant_id}", workspace.path / "sources", source=SOURCES
        )
    except MutantError as error:
        raise TargetError(str(error)) from error


def first_step_of(text: str) -> str:
    """Return the first step for the adapter of target *text*; empty for brokers.

    The adapter is that of `rmqc client template`, in which nothing is filled in.
    """
    if not text.startswith(CLIENT):
        return ""
    adapter = shlex.quote(text.removeprefix(CLIENT))
    return (
        'with the feature "sync" and the verbs producer and send in the adapter'
        " (docs/client_adapter.md), run\n"
        f"rmqc test-client --adapter {adapter} --only 'CLIENT-SENDRESULT-*'"
    )
