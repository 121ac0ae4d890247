"""Apache RocketMQ itself as a target: its jars on a Java virtual machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from conformance.harness.apache import RELEASES, ApacheCluster
from conformance.harness.process import ProcessError
from conformance.harness.running import find_broker
from conformance.harness.target import EVERYTHING, Capability, Target, TargetError
from conformance.harness.workspace import Workspace


class JvmTarget(Target):
    """A name server and a broker of a real release, with a store of their own."""

    capabilities = EVERYTHING - {Capability.CLOCK}

    def __init__(
        self,
        text: str,
        rest: str = "",
        conf: Mapping[str, str] | None = None,
        store: Path | None = None,
    ) -> None:
        super().__init__(text, rest, conf, store)
        if rest not in RELEASES:
            raise TargetError(f"{text!r}: the release is one of {', '.join(RELEASES)}")
        self.release = rest
        self._workspace: Workspace | None = None
        self._cluster: ApacheCluster | None = None

    def start(self) -> None:
        """Start both programs and wait until the broker has registered."""
        try:
            self._prepared().start()
        except ProcessError as error:
            raise TargetError(str(error)) from error
        assert self.namesrv is not None
        found = find_broker(self.namesrv)
        self.broker_name = found.name or self.conf.get("brokerName", "broker-a")
        self.cluster = found.cluster or "DefaultCluster"

    def stop(self) -> None:
        """Stop both programs in order."""
        if self._cluster is not None:
            self._cluster.stop()

    def kill(self) -> None:
        """End both programs with SIGKILL."""
        if self._cluster is not None:
            self._cluster.kill()

    def close(self) -> None:
        """End both programs, remove the store, give the ports back."""
        if self._cluster is not None:
            self._cluster.close()
            self._cluster = None
        if self._workspace is not None:
            self._workspace.close()
            self._workspace = None

    def _prepared(self) -> ApacheCluster:
        if self._cluster is None:
            self._workspace = Workspace()
            self._cluster = ApacheCluster(
                self.release,
                directory=self._workspace.path,
                conf=self.conf,
                store=self.store_path,
            )
            self.store_path = self._cluster.store_path
            self.namesrv = self._cluster.namesrv
            self.broker = self._cluster.broker
        return self._cluster
