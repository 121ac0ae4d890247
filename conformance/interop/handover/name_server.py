"""
A name server's key values change hands: one writes kvConfig.json, another reads it.

Orders of topics are such values. A name server writes the file after every change, so
that it may be killed at any time.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from conformance.harness.client.address import LOOPBACK, Address
from conformance.harness.client.client import Client, body_of, require_success
from conformance.harness.java.apache import ApacheCluster
from conformance.harness.process.ports import free_port_block
from conformance.harness.process.process import start
from conformance.harness.targets.started.embedded import SOURCES
from conformance.interop.handover.handover import REFERENCE, STEPS
from rocketmq_conformance.paths import module_command

NAME = "kvConfig.json"
ORDER = "ORDER_TOPIC_CONFIG"
"""Namespace in which clients find the queues of an ordered topic."""
FIRST = {STEPS: "broker-a:2;broker-b:4", "an odd key": 'a "quoted" \\ 値'}
MORE = {"HandoverLater": "broker-a:1"}


@contextmanager
def name_server(make: str, file: Path, home: Path) -> Iterator[Client]:
    """Run a name server on a copy of *file*, if it is there; copy it back and kill."""
    home.mkdir()
    place = home / "namesrv" / NAME
    place.parent.mkdir()
    if file.exists():
        shutil.copy2(file, place)
    with ExitStack() as ending:
        if make == REFERENCE:
            address = _start_ours(place.parent, ending)
        else:
            cluster = ApacheCluster(make, directory=home)
            ending.callback(cluster.close)
            cluster.start(broker=False)
            address = cluster.namesrv
        yield ending.enter_context(Client.connect(address))
    shutil.copy2(place, file)


def _start_ours(home: Path, ending: ExitStack) -> Address:
    ports = free_port_block()
    ending.callback(ports.release)
    port = str(ports.name_server)
    words = module_command("reference.shell.name_server")
    words += ["--port", port, "--home", str(home)]
    child = start("our name server", words, log=home / "log", directory=SOURCES)
    ending.callback(child.kill)
    child.wait_for_line("ready ")
    return Address(LOOPBACK, ports.name_server)


def put(client: Client, values: Mapping[str, str]) -> None:
    """Set the orders of topics."""
    for key, value in values.items():
        require_success(client.put_kv(namespace=ORDER, key=key, value=value))


def listed(client: Client) -> object:
    """Return the orders of all topics."""
    body = body_of(client.kv_list(namespace=ORDER))
    assert isinstance(body, Mapping)
    return body["table"]
