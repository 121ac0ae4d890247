"""
The Docker engine of this machine, and what a run leaves in it.

Containers and networks of a run carry the label ``rocketmq-conformance``, whose value
is their owner: ``docker ps -a --filter label=rocketmq-conformance`` shows them.
"""

from __future__ import annotations

import os
import socket
from typing import TypeAlias

import docker
import requests

from conformance.harness.process.process import ProcessError

Docker: TypeAlias = docker.DockerClient
LABEL = "rocketmq-conformance"
REQUEST_TIMEOUT_S = 120
FAILURES = (docker.errors.DockerException, requests.RequestException)
"""Exceptions of the SDK when the engine fails."""


class EngineError(Exception):
    """The Docker engine is unavailable or fails."""


class ContainerEndedError(EngineError, ProcessError):
    """A program in a container ended before it served: the fault is its own."""


def connect() -> Docker:
    """Return a connection to the engine that the environment names."""
    _check_socket(os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock")
    try:
        return docker.from_env(timeout=REQUEST_TIMEOUT_S)
    except FAILURES as error:
        raise EngineError(f"no Docker engine answers: {error}") from None


def _check_socket(host: str) -> None:
    """Raise unless *host* listens, which has to be a local socket.

    Otherwise the SDK leaks a socket.
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
