"""
Java process with the classes of one release, callable from Python through py4j.

pyspark brings py4j: its jar for the Java process, its package for Python. Java never
calls Python: the listeners are those of conformance/client/adapters/java.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway

from conformance.interop.java.client import JavaClient

_GATEWAY_CLASS = "py4j.GatewayServer"
_ANY_PORT = "0"
_UNUSED_ADDRESS = "127.0.0.1:9"


@contextmanager
def java_gateway(client: JavaClient) -> Iterator[Any]:
    """Yield the py4j gateway of a new Java process, which ends afterwards."""
    jars = Path(pyspark.__file__).parent / "jars"
    whole = [str(jar) for jar in jars.glob("py4j-*.jar")] + [client.class_path()]
    child = client.run(_GATEWAY_CLASS, [_ANY_PORT], class_path=os.pathsep.join(whole))
    try:
        child.wait_until(
            lambda: child.output().partition("\n")[0].isdecimal(),
            what="port of the gateway",
        )
        port = int(child.output().partition("\n")[0])
        # With memory management, a late finalizer would call an ended Java process.
        parameters = GatewayParameters(port=port, enable_memory_management=False)
        gateway = JavaGateway(gateway_parameters=parameters)
        try:
            yield gateway
        finally:
            gateway.close()
    finally:
        child.kill()


@contextmanager
def java_classes(release: str) -> Iterator[Any]:
    """Yield the Java classes of *release*, by package, without any server."""
    with tempfile.TemporaryDirectory() as temporary:
        client = JavaClient(
            release=release, namesrv=_UNUSED_ADDRESS, directory=Path(temporary)
        )
        with java_gateway(client) as gateway:
            yield gateway.jvm
