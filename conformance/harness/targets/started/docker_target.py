"""A Docker image of Apache RocketMQ as a target: ``docker:apache/rocketmq:4.9.7``."""

from __future__ import annotations

import re
import tempfile
from contextlib import closing
from pathlib import Path

import docker

from conformance.harness.docker.containers import NETWORKS, ContainerCluster
from conformance.harness.docker.engine import FAILURES, EngineError, connect
from conformance.harness.targets.running_cluster import reported_release
from conformance.harness.targets.started.started_target import ClusterTarget
from conformance.harness.targets.target import EVERYTHING, Capability, TargetError

OPTIONS = "docker."
"""Settings that begin so are ours: docker.network, docker.logs."""


class DockerTarget(ClusterTarget[ContainerCluster]):
    """A name server and a broker in containers, with a store of their own."""

    capabilities = EVERYTHING - {Capability.CLOCK, Capability.ACL, Capability.TLS}
    failures = (EngineError, *FAILURES)

    def _configure(self) -> None:
        """Read the image's name and the settings of the containers."""
        if not self.rest:
            raise TargetError(f"{self.text!r}: docker: needs the name of an image")
        named = {key: self.conf.pop(key) for key in [*self.conf] if OPTIONS in key[:7]}
        self._network = named.pop("docker.network", NETWORKS[0])
        self._logs = named.pop("docker.logs", "")
        if named or self._network not in NETWORKS:
            wanted = f"docker.network={'|'.join(NETWORKS)} and docker.logs=DIRECTORY"
            raise TargetError(f"{self.text!r}: there are only {wanted}")
        tagged = re.match(r"\d+\.\d+\.\d+", self.rest.rpartition(":")[2])
        self._tagged = tagged is not None
        if tagged:
            self.release = tagged[0]

    def start(self) -> None:
        """Start both containers; read the release of an image without a tag."""
        super().start()
        assert self.broker is not None
        if not self._tagged and not self.has_profile:
            self.release = reported_release(self.broker) or self.release

    @property
    def owner(self) -> str:
        """Value of the label of its containers; empty before the start."""
        return self._cluster.owner if self._cluster is not None else ""

    def _end(self) -> None:
        """Remove containers and network; keep logs where a folder is set for them."""
        try:
            if self._cluster is not None:
                self._keep_logs(self._cluster)
        finally:
            super()._end()

    def _keep_logs(self, cluster: ContainerCluster) -> None:
        """Write the containers' logs to the requested folder, or after a failure."""
        if not self.has_failed and not self._logs:
            return
        directory = Path(self._logs or tempfile.mkdtemp(prefix="rmqc-docker-logs-"))
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in cluster.logs().items():
            path = directory / f"{cluster.owner}-{name}.log"
            path.write_text(text, encoding="utf-8")

    def _create_cluster(self) -> ContainerCluster:
        _have_image(self.rest)
        return ContainerCluster(
            self.rest,
            directory=self.directory,
            conf=self.conf,
            store=self.store_path,
            network=self._network,
        )


def _have_image(name: str) -> None:
    """Pull the image *name* unless it is there."""
    with closing(connect()) as engine:
        try:
            engine.images.get(name)
        except docker.errors.ImageNotFound:
            try:
                engine.images.pull(name)
            except docker.errors.DockerException as error:
                reason = str(error).splitlines()[0]
                raise EngineError(
                    f"there is no image {name}, and it cannot be pulled: {reason}"
                ) from None
