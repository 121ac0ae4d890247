"""A Docker image of Apache RocketMQ as a target: ``docker:apache/rocketmq:4.9.7``."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import docker
import requests

from conformance.harness.containers import (
    NETWORKS,
    ContainerCluster,
    EngineError,
    connect,
)
from conformance.harness.running import asked_release, find_broker
from conformance.harness.target import EVERYTHING, Capability, Target, TargetError
from conformance.harness.workspace import Workspace

OPTIONS = "docker."
"""Settings that begin so are ours: docker.network, docker.logs."""
_ERRORS = (EngineError, docker.errors.DockerException, requests.RequestException)


class DockerTarget(Target):
    """A name server and a broker in containers, with a store of their own."""

    capabilities = EVERYTHING - {Capability.CLOCK}

    def __init__(
        self,
        text: str,
        rest: str = "",
        conf: Mapping[str, str] | None = None,
        store: Path | None = None,
    ) -> None:
        super().__init__(text, rest, conf, store)
        if not rest:
            raise TargetError(f"{text!r}: docker: needs the name of an image")
        named = {key: self.conf.pop(key) for key in [*self.conf] if OPTIONS in key[:7]}
        self._network = named.pop("docker.network", NETWORKS[0])
        self._logs = named.pop("docker.logs", "")
        if named or self._network not in NETWORKS:
            wanted = f"docker.network={'|'.join(NETWORKS)} and docker.logs=DIRECTORY"
            raise TargetError(f"{text!r}: there are only {wanted}")
        tagged = re.match(r"\d+\.\d+\.\d+", rest.rpartition(":")[2])
        self._tagged = tagged is not None
        if tagged:
            self.release = tagged[0]
        self._workspace: Workspace | None = None
        self._cluster: ContainerCluster | None = None
        self._failed = False

    def start(self) -> None:
        """Start both containers and wait until the broker has registered."""
        try:
            self._prepared().start()
        except _ERRORS as error:
            self._failed = True
            raise TargetError(str(error)) from error
        assert self.namesrv is not None
        assert self.broker is not None
        found = find_broker(self.namesrv)
        self.broker_name = found.name or self.conf.get("brokerName", "broker-a")
        self.cluster = found.cluster or "DefaultCluster"
        if not self._tagged and not self.has_profile:
            self.release = asked_release(self.broker) or self.release

    @property
    def owner(self) -> str:
        """The value of the label of its containers, empty while there are none."""
        return self._cluster.owner if self._cluster is not None else ""

    def stop(self) -> None:
        """Stop the broker in order, then the name server."""
        self._do("stop")

    def kill(self) -> None:
        """End both with SIGKILL."""
        self._do("kill")

    def close(self) -> None:
        """Remove containers, network and store; logs stay where they are wanted."""
        try:
            if self._cluster is not None:
                self._keep_logs(self._cluster)
                self._cluster.close()
        except _ERRORS as error:
            raise TargetError(f"{self.text}: {error}") from error
        finally:
            self._cluster = None
            if self._workspace is not None:
                self._workspace.close()
                self._workspace = None

    def _do(self, what: str) -> None:
        if self._cluster is None:
            return
        try:
            getattr(self._cluster, what)()
        except _ERRORS as error:
            self._failed = True
            raise TargetError(f"{self.text}: {what}: {error}") from error

    def _keep_logs(self, cluster: ContainerCluster) -> None:
        """Write the containers' logs where they were asked for, or after a failure."""
        if not self._failed and not self._logs:
            return
        directory = Path(self._logs or tempfile.mkdtemp(prefix="rmqc-docker-logs-"))
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in cluster.logs().items():
            path = directory / f"{cluster.owner}-{name}.log"
            path.write_text(text, encoding="utf-8")

    def _prepared(self) -> ContainerCluster:
        if self._cluster is None:
            _have_image(self.rest)
            self._workspace = Workspace()
            self._cluster = ContainerCluster(
                self.rest,
                directory=self._workspace.path,
                conf=self.conf,
                store=self.store_path,
                network=self._network,
            )
            self.store_path = self._cluster.store_path
            self.namesrv = self._cluster.namesrv
            self.broker = self._cluster.broker
        return self._cluster


def _have_image(name: str) -> None:
    """Pull the image *name* unless it is there."""
    with closing(connect()) as engine:
        try:
            engine.images.get(name)
        except docker.errors.ImageNotFound:
            try:
                engine.images.pull(name)
            except docker.errors.DockerException as error:
                said = str(error).splitlines()[0]
                raise EngineError(
                    f"there is no image {name}, and it cannot be pulled: {said}"
                ) from None
