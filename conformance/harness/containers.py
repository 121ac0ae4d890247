"""
A RocketMQ image's name server and broker in containers of a local Docker engine.

Routes name the broker's address, so a port is the same inside and outside. On a
*bridge* network of the cluster's own the ports are published on loopback; on the *host*
network they are the machine's. Containers and networks carry the label
``rocketmq-conformance``: ``docker ps -a --filter label=rocketmq-conformance`` shows
what there is, and a guard removes it even when the run was killed.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import docker
import requests

import conformance
from conformance.harness import cluster_info
from conformance.harness.address import Address
from conformance.harness.apache import (
    GUEST_SETTINGS,
    JAVA_PROPERTIES,
    LOOPBACK,
    READY_DEADLINE_S,
    both_spellings,
    write_properties,
)
from conformance.harness.java import FAST_START
from conformance.harness.peer import PeerError
from conformance.harness.ports import free_port_block
from conformance.harness.process import POLL_S, TAIL_LINES, ProcessError
from conformance.harness.speaker import Speaker

Docker: TypeAlias = docker.DockerClient
LABEL = "rocketmq-conformance"
NETWORKS = ("host", "bridge") if sys.platform == "linux" else ("bridge", "host")
"""The usual one first. On a bridge a broker does not see its clients' own address."""
MOUNT = "/rmqc"
"""Where a container sees its settings, its home directory and the store."""
ASK_TIMEOUT_S = 120
STOP_TIMEOUT_S = 60
_END_JAVA = """\
for one in /proc/[0-9]*; do
    read -r name 2>/dev/null <"$one/comm"
    [ "$name" = java ] && kill -TERM "${one#/proc/}" && found=1
done
[ -n "$found" ]
"""
_ERRORS = (docker.errors.DockerException, requests.RequestException)


class EngineError(Exception):
    """No Docker engine answers, or it does not do what it is told."""


class ContainerEndedError(EngineError, ProcessError):
    """A program in a container ended before it served: the fault is its own."""


def connect() -> Docker:
    """Return a connection to the engine of this machine, as the environment says."""
    _knock(os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock")
    try:
        return docker.from_env(timeout=ASK_TIMEOUT_S)
    except _ERRORS as error:
        raise EngineError(f"no Docker engine answers: {error}") from None


def _knock(host: str) -> None:
    """Raise unless somebody listens at *host*, which has to be a local socket.

    The SDK would leave a socket open where nobody does.
    """
    scheme, _, path = host.partition("://")
    if scheme != "unix":
        raise EngineError(f"{host} is no local engine: files are shared with it")
    with socket.socket(socket.AF_UNIX) as door:
        try:
            door.connect(path)
        except OSError as error:
            reason = error.strerror or error
            raise EngineError(f"no Docker engine answers: {host}: {reason}") from None


def remove_labelled(engine: Docker, owner: str) -> None:
    """Remove the containers and networks of *owner*."""
    wanted = {"label": f"{LABEL}={owner}"}
    for container in engine.containers.list(all=True, filters=wanted, sparse=True):
        container.remove(force=True, v=True)
    for network in engine.networks.list(filters=wanted):
        network.remove()


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
        self.directory = directory
        self.store_path = (store or directory / "store").resolve()
        self._network = network
        self._ports = free_port_block()
        self.namesrv = Address(LOOPBACK, self._ports.name_server)
        self.broker = Address(LOOPBACK, self._ports.broker)
        self._engine = connect()
        self._guard: subprocess.Popen[bytes] | None = None
        self._containers: dict[str, Any] = {}
        settings = {**both_spellings(GUEST_SETTINGS), **both_spellings(conf)}
        # What listens on loopback in a container cannot be reached from outside.
        del settings["bindAddress"]
        self._java_properties = {
            key: value
            for key, value in settings.items()
            if key.startswith(JAVA_PROPERTIES)
        }
        self._write_files(settings)

    def start(self) -> None:
        """Start both containers; return when the broker is registered."""
        open_to_all(self.store_path)
        try:
            if not self._containers:
                self._create()
            self._start("namesrv", lambda: _answers(self.namesrv))
            self._start("broker", self._is_registered)
        except _ERRORS as error:
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

    def logs(self) -> dict[str, str]:
        """Return what each container has printed."""
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
            [sys.executable, "-m", "conformance.harness.docker_guard", self.owner],
            cwd=Path(conformance.__file__).parents[1],
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
                environment=self._environment(),
                volumes=self._volumes(),
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
                raise ContainerEndedError(self._told(name, how))
            if time.monotonic() > give_up_at:
                how = f"is not ready after {READY_DEADLINE_S:g} s"
                raise EngineError(self._told(name, how))
            time.sleep(POLL_S)

    def _told(self, name: str, how: str) -> str:
        """Return what became of a container, and the last that it printed."""
        tail = "\n    ".join(self.logs()[name].splitlines()[-TAIL_LINES:])
        return f"{name} of {self.image} {how}; it printed:\n    {tail}"

    def _is_registered(self) -> bool:
        return str(self.broker) in cluster_info.broker_addresses(self.namesrv)

    def _environment(self) -> dict[str, str]:
        options = [word for word in FAST_START if word.startswith("--add-opens")]
        extra = ["-Xms64m", "-Xmx512m", "-Xmn32m", f"-Duser.home={MOUNT}/home"]
        extra += ["-XX:TieredStopAtLevel=1", "-Djava.net.preferIPv4Stack=true"]
        extra += [f"-D{key}={value}" for key, value in self._java_properties.items()]
        return {
            "JAVA_OPT_EXT": " ".join(extra),
            # Java 8, of the official images, neither knows these nor reads them here.
            "JDK_JAVA_OPTIONS": " ".join(options),
        }

    def _volumes(self) -> dict[str, dict[str, str]]:
        inside = {
            self.directory / "conf": ("conf", "ro"),
            self.directory / "home": ("home", "rw"),
            self.store_path: ("store", "rw"),
        }
        return {
            str(path): {"bind": f"{MOUNT}/{name}", "mode": mode}
            for path, (name, mode) in inside.items()
        }

    def _write_files(self, conf: Mapping[str, str]) -> None:
        for name in ("conf", "home"):
            open_to_all(self.directory / name)
        host = LOOPBACK if self._network == "host" else f"rmqc-{self.owner}-namesrv"
        broker = {
            **{k: v for k, v in conf.items() if not k.startswith(JAVA_PROPERTIES)},
            "namesrvAddr": ";".join(
                filter(None, (f"{host}:{self.namesrv.port}", conf.get("namesrvAddr")))
            ),
            "listenPort": str(self.broker.port),
            "haListenPort": str(self._ports.ha),
            "storePathRootDir": f"{MOUNT}/store",
            "storePathCommitLog": f"{MOUNT}/store/commitlog",
        }
        name_server = {
            "listenPort": str(self.namesrv.port),
            "kvConfigPath": f"{MOUNT}/home/kvConfig.json",
        }
        for name, settings in (("namesrv", name_server), ("broker", broker)):
            path = self.directory / "conf" / f"{name}.conf"
            write_properties(path, settings)
            path.chmod(0o644)


def open_to_all(directory: Path) -> None:
    """Let any user read and write what is in *directory*, which is made if missing."""
    directory.mkdir(parents=True, exist_ok=True)
    for path in (directory, *directory.rglob("*")):
        mode = 0o777 if path.is_dir() else 0o666
        if path.stat().st_mode & mode != mode:
            path.chmod(mode)


def _published(ports: list[int]) -> dict[str, tuple[str, int]]:
    return {f"{port}/tcp": (LOOPBACK, port) for port in ports}


def _answers(namesrv: Address) -> bool:
    """Return whether a name server answers; a published port alone always accepts."""
    try:
        with Speaker.connect(namesrv) as speaker:
            speaker.cluster_info()
    except (PeerError, AssertionError):
        return False
    return True
