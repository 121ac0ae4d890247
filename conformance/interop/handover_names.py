"""
A name server's key values change hands: one writes kvConfig.json, another reads it.

Orders of topics are such values. A name server writes the file after every change, so
that it may be killed at any time.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from conformance.harness.address import Address
from conformance.harness.apache import ApacheCluster
from conformance.harness.apache_conf import LOOPBACK
from conformance.harness.embedded import SOURCES
from conformance.harness.ports import free_port_block
from conformance.harness.process import start
from conformance.harness.speaker import Speaker, body_of, succeeded
from conformance.interop.handover import REFERENCE, STEPS

NAME = "kvConfig.json"
ORDER = "ORDER_TOPIC_CONFIG"
"""The namespace in which clients look for the queues of an ordered topic."""
FIRST = {STEPS: "broker-a:2;broker-b:4", "an odd key": 'a "quoted" \\ 値'}
MORE = {"HandoverLater": "broker-a:1"}


@contextmanager
def name_server(make: str, file: Path, home: Path) -> Iterator[Speaker]:
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
        yield ending.enter_context(Speaker.connect(address))
    shutil.copy2(place, file)


def _start_ours(home: Path, ending: ExitStack) -> Address:
    ports = free_port_block()
    ending.callback(ports.release)
    port = str(ports.name_server)
    words = [sys.executable, "-m", "reference.shell.name_server"]
    words += ["--port", port, "--home", str(home)]
    child = start("our name server", words, log=home / "log", directory=SOURCES)
    ending.callback(child.kill)
    child.wait_for_line("ready ")
    return Address(LOOPBACK, ports.name_server)


def put(speaker: Speaker, values: Mapping[str, str]) -> None:
    """Set the orders of topics."""
    for key, value in values.items():
        succeeded(speaker.put_kv(namespace=ORDER, key=key, value=value))


def listed(speaker: Speaker) -> object:
    """Return the orders of all topics."""
    body = body_of(speaker.kv_list(namespace=ORDER))
    assert isinstance(body, Mapping)
    return body["table"]
