"""
A RocketMQ image's name server and broker in containers of a local Docker engine.

Routes name the broker's address, so a port is the same inside and outside. On a
*bridge* network of the cluster's own the ports are published on loopback; on the *host*
network they are the machine's. A guard removes containers and networks even when the
run was killed.
"""

from __future__ import annotations

import subprocess
import sys
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.harness.client.address import LOOPBACK, Address
from conformance.harness.client.client import Client
from conformance.harness.client.peer_errors import PeerError
from conformance.harness.docker.engine import (
    FAILURES,
    LABEL,
    ContainerEndedError,
    EngineError,
    connect,
    remove_labelled,
)
from conformance.harness.docker.mounts import MOUNT, ContainerMounts, allow_all_users
from conformance.harness.java import cluster_info
from conformance.harness.java.apache import READY_DEADLINE_S
from conformance.harness.process.ports import free_port_block
from conformance.harness.process.process import POLL_S, TAIL_LINES
from rocketmq_conformance.paths import module_command

NETWORKS = ("host", "bridge") if sys.platform == "linux" else ("bridge", "host")
"""The usual one first. On a bridge a broker does not see its clients' own address."""
STOP_TIMEOUT_S = 60
_END_JAVA = """\
for one in /proc/[0-9]*; do
    read -r name 2>/dev/null <"$one/comm"
    [ "$name" = java ] && kill -TERM "${one#/proc/}" && found=1
done
[ -n "$found" ]
"""


class ContainerCluster:
    """One name server and one broker of an image."""

    def __init__(
        self,
        image: str,
        *,
        directory: Path,
        conf: Mapping[str, str],
        store: Path | None = None,
        network: str = NETWORKS[0],
    ) -> None:
        self.image = image
        self.owner = uuid.uuid4().hex[:12]
        """The value of the label of all that is this cluster's."""
        self.store_path = (store or directory / "store").resolve()
        self._network = network
        self._ports = free_port_block()
        self.namesrv = Address(LOOPBACK, self._ports.name_server)
        self.broker = Address(LOOPBACK, self._ports.broker)
        self._engine = connect()
        self._guard: subprocess.Popen[bytes] | None = None
        self._containers: dict[str, Any] = {}
        self._files = ContainerMounts(
            directory=directory, store_path=self.store_path, conf=conf
        )
        host = LOOPBACK if network == "host" else f"rmqc-{self.owner}-namesrv"
        self._files.write(self._ports, name_server_host=host)

    def start(self) -> None:
        """Start both containers; return when the broker is registered."""
        allow_all_users(self.store_path)
        try:
            if not self._containers:
                self._create()
            self._start("namesrv", lambda: _responds(self.namesrv))
            self._start("broker", self._is_registered)
        except FAILURES as error:
            raise EngineError(f"{self.image}: {error}") from None

    def stop(self) -> None:
        """
        Stop the broker in order, then end the name server.

        The first process is a shell that hands on no signal, and with which all
        others end, so Java alone gets it.
        """
        broker = self._containers["broker"]
        code, _ = broker.exec_run(["sh", "-c", _END_JAVA])
        if code:
            broker.kill(signal="SIGTERM")
        try:
            broker.wait(timeout=STOP_TIMEOUT_S)
        finally:
            self.kill()

    def kill(self) -> None:
        """End both with SIGKILL."""
        for container in self._containers.values():
            container.reload()
            if container.status == "running":
                container.kill()
                container.wait(timeout=STOP_TIMEOUT_S)

    def end_report(self) -> str:
        """Return the status and the last output of the containers that have ended."""
        parts = []
        for name, container in self._containers.items():
            container.reload()
            if container.status != "running":
                lines = container.logs(tail=TAIL_LINES).decode("utf-8", "replace")
                parts.append(f"{name} is {container.status}; its log ends:\n{lines}")
        return "\n".join(parts)

    def logs(self) -> dict[str, str]:
        """Return the output of each container."""
        return {
            name: container.logs().decode("utf-8", "replace")
            for name, container in self._containers.items()
        }

    def close(self) -> None:
        """Remove the containers and the network; give the ports back."""
        try:
            remove_labelled(self._engine, self.owner)
        finally:
            self._engine.close()
            self._ports.release()
            if self._guard is not None:
                self._guard.communicate()

    def _create(self) -> None:
        """Create what is removed at the end, after starting who sees to that."""
        self._guard = subprocess.Popen(
            module_command("conformance.harness.docker.guard", self.owner),
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        labels = {LABEL: self.owner}
        network = "host"
        if self._network == "bridge":
            network = f"rmqc-{self.owner}"
            self._engine.networks.create(network, driver="bridge", labels=labels)
        ports = {"namesrv": [self.namesrv.port]}
        first = self._ports.vip
        ports["broker"] = [first, self.broker.port, self._ports.ha]
        for name, program in (("namesrv", "mqnamesrv"), ("broker", "mqbroker")):
            words = f"umask 0; exec sh {program} -c {MOUNT}/conf/{name}.conf"
            self._containers[name] = self._engine.containers.create(
                self.image,
                ["sh", "-c", words],
                name=f"rmqc-{self.owner}-{name}",
                network=network,
                labels=labels,
                environment=self._files.environment,
                volumes=self._files.volumes,
                ports=_published(ports[name]) if self._network == "bridge" else None,
            )

    def _start(self, name: str, is_ready: Any) -> None:
        """Start a container and wait until it serves."""
        container = self._containers[name]
        container.start()
        give_up_at = time.monotonic() + READY_DEADLINE_S
        while not is_ready():
            container.reload()
            if container.status not in {"created", "running"}:
                code = container.attrs["State"]["ExitCode"]
                how = f"ended with {code} before it was ready"
                raise ContainerEndedError(self._state_of(name, how))
            if time.monotonic() > give_up_at:
                how = f"is not ready after {READY_DEADLINE_S:g} s"
                raise EngineError(self._state_of(name, how))
            time.sleep(POLL_S)

    def _state_of(self, name: str, how: str) -> str:
        """Return the state of a container, and the end of its output."""
        tail = "\n    ".join(self.logs()[name].splitlines()[-TAIL_LINES:])
        return f"{name} of {self.image} {how}; it printed:\n    {tail}"

    def _is_registered(self) -> bool:
        return str(self.broker) in cluster_info.broker_addresses(self.namesrv)


def _published(ports: list[int]) -> dict[str, tuple[str, int]]:
    return {f"{port}/tcp": (LOOPBACK, port) for port in ports}


def _responds(namesrv: Address) -> bool:
    """Return whether a name server responds; a published port alone always accepts."""
    try:
        with Client.connect(namesrv) as client:
            client.cluster_info()
    except (PeerError, AssertionError):
        return False
    return True
