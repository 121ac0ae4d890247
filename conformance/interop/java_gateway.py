"""
A Java machine with the classes of one release, and calls in both directions.

Python calls Java as ``admin_tool`` does, through py4j. What Java calls, the listeners
that a client is given, are Python objects: no Java of our own is compiled, and one
program fits the clients of every release.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
from py4j.java_gateway import CallbackServerParameters, GatewayParameters, JavaGateway

from conformance.interop.java_client import JavaClient

_GATEWAY_CLASS = "py4j.GatewayServer"
_ANY_PORT = 0


@contextmanager
def java_gateway(client: JavaClient) -> Iterator[Any]:
    """Start a Java machine whose objects can be called, and can call; end it after."""
    jars = Path(pyspark.__file__).parent / "jars"
    whole = [str(jar) for jar in jars.glob("py4j-*.jar")] + [client.class_path()]
    words = [str(_ANY_PORT)]
    child = client.run(_GATEWAY_CLASS, words, class_path=os.pathsep.join(whole))
    try:
        child.wait_until(
            lambda: child.output().partition("\n")[0].isdecimal(),
            what="port of the gateway",
        )
        port = int(child.output().partition("\n")[0])
        gateway = JavaGateway(
            # Else whatever is forgotten here later would call a machine that is gone.
            gateway_parameters=GatewayParameters(
                port=port, enable_memory_management=False
            ),
            callback_server_parameters=CallbackServerParameters(
                port=_ANY_PORT, daemonize=True, daemonize_connections=True
            ),
        )
        try:
            ours = gateway.get_callback_server().get_listening_port()
            java = gateway.java_gateway_server
            java.resetCallbackClient(java.getCallbackClient().getAddress(), ours)
            yield gateway
        finally:
            gateway.shutdown_callback_server()
            gateway.close()
    finally:
        child.kill()
