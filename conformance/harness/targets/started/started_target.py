"""
Base of targets that are started from here.

Each has a temporary directory and, unless a store is given, a store in it. Some have
ports. A *cluster* is a name server and a broker with a starter of their own. Closing
the target removes everything.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from conformance.harness.client.address import Address
from conformance.harness.process.ports import (
    NoFreePortError,
    PortBlock,
    free_port_block,
)
from conformance.harness.process.process import ProcessError
from conformance.harness.process.workspace import Workspace
from conformance.harness.targets.running_cluster import find_broker
from conformance.harness.targets.target import Target, TargetError


class StartedTarget(Target, ABC):
    """A target whose programs are started from here."""

    failures: tuple[type[Exception], ...] = (ProcessError, NoFreePortError)
    """Errors of the programs: no verdict about any clause."""
    can_be_started = True
    usual_broker, usual_cluster = "broker-a", "DefaultCluster"
    """Names where neither the settings nor the name server has them."""

    has_failed = False
    """Whether the programs did what none of them should."""
    _workspace: Workspace | None = None
    _ports: PortBlock | None = None

    def start(self) -> None:
        """Start the programs, wait until they are ready, and learn their names."""
        with self._as_target_error():
            self._start()
        assert self.namesrv is not None
        found = find_broker(self.namesrv, self.access)
        self._check_registered(found.address)
        named = self.conf.get("brokerClusterName", self.usual_cluster)
        self.broker_name = found.name or self.conf.get("brokerName", self.usual_broker)
        self.cluster = found.cluster or named

    def close(self) -> None:
        """End the programs, remove their files, give the ports back."""
        with ExitStack() as last:  # even if a program fails
            if self._workspace is not None:
                last.callback(self._workspace.close)
                self._workspace = None
            if self._ports is not None:
                last.callback(self._ports.release)
                self._ports = None
            with self._as_target_error(f"{self.text}: "):
                self._end()

    @abstractmethod
    def _start(self) -> None:
        """Start the programs; set the addresses and the store's path."""

    def _check_registered(self, address: Address | None) -> None:
        """Raise TargetError where clients cannot connect to the registered address."""

    @abstractmethod
    def _end(self) -> None:
        """End all programs immediately."""

    @contextmanager
    def _as_target_error(self, before: str = "") -> Iterator[None]:
        """Turn what goes wrong with the programs into a target that cannot be had."""
        try:
            yield
        except self.failures as error:
            self.has_failed = True
            raise TargetError(f"{before}{error}") from error

    @property
    def directory(self) -> Path:
        """The directory of this target, the same for every start of it."""
        self._workspace = self._workspace or Workspace()
        return self._workspace.path

    @property
    def home(self) -> Path:
        """The ROCKETMQ_HOME of this target, whose ``conf`` has plain_acl.yml."""
        return self.directory

    @property
    def ports(self) -> PortBlock:
        """The ports of this target, the same for every start of it."""
        self._ports = self._ports or free_port_block()
        return self._ports


class Cluster(Protocol):
    """A name server and a broker that are run together."""

    namesrv: Address
    broker: Address
    store_path: Path

    def start(self) -> None:
        """Start both; return when the broker is registered."""

    def stop(self) -> None:
        """Stop both in order."""

    def kill(self) -> None:
        """End both as a power cut would."""

    def end_report(self) -> str:
        """Return exit status and last output of what has ended."""

    def close(self) -> None:
        """End both; give back what they had."""


C = TypeVar("C", bound=Cluster)


class ClusterTarget(StartedTarget, Generic[C]):
    """A target that is a cluster."""

    _cluster: C | None = None

    def stop(self) -> None:
        """Stop the broker in order, then the name server."""
        if self._cluster is not None:
            with self._as_target_error(f"{self.text}: stop: "):
                self._cluster.stop()

    def kill(self) -> None:
        """End both with SIGKILL."""
        if self._cluster is not None:
            with self._as_target_error(f"{self.text}: kill: "):
                self._cluster.kill()

    def end_report(self) -> str:
        """Return exit status and last output of the programs that have ended."""
        return self._cluster.end_report() if self._cluster is not None else ""

    @abstractmethod
    def _create_cluster(self) -> C:
        """Return the cluster, not yet started."""

    def _start(self) -> None:
        if self._cluster is None:
            self._cluster = self._create_cluster()
            self.store_path = self._cluster.store_path
            self.namesrv = self._cluster.namesrv
            self.broker = self._cluster.broker
        self._cluster.start()

    def _end(self) -> None:
        if self._cluster is not None:
            cluster, self._cluster = self._cluster, None
            cluster.close()
