"""
mqadmin, many commands in one Java machine.

The tool's own main is called once for each command, and what it prints is caught in
between. A Java machine that starts for each would take most of the time. The calls go
through py4j, which pyspark brings along: its jar in the machine, its package here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway

from conformance.interop.java_client import JavaClient

_GATEWAY_CLASS = "py4j.GatewayServer"
_ANY_PORT = "0"

_NOT_THE_TOOLS = re.compile(r"\|-(INFO|WARN|ERROR) in |^\s+at |^\s+\.\.\. \d+ more")
"""What logging says of itself while it starts, and where in Java an error was thrown.
"""
_COMMANDS = ("subCommandList", "SUB_COMMANDS")
"""What releases call the tool's list of commands: that of 4.x, that of 5.x."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminTool:
    """A running mqadmin of one release."""

    client: JavaClient
    gateway: Any

    def run(self, *words: str) -> list[str]:
        """Run one command; return the lines that it printed."""
        java = self.gateway.jvm.java
        printed = java.io.ByteArrayOutputStream()
        stream = java.io.PrintStream(printed, True)
        java.lang.System.setOut(stream)
        java.lang.System.setErr(stream)
        command, *rest = words
        whole = [command, "-n", str(self.client.namesrv), *rest]
        arguments = self.gateway.new_array(java.lang.String, len(whole))
        for index, word in enumerate(whole):
            arguments[index] = word
        self.forget_commands()
        tools = self.gateway.jvm.org.apache.rocketmq.tools
        tools.command.MQAdminStartup.main(arguments)
        lines = str(printed.toString()).splitlines()
        return [line for line in lines if line and not _NOT_THE_TOOLS.search(line)]

    def commands(self) -> list[str]:
        """Return the names of all commands that the tool has, in its order."""
        tools = self.gateway.jvm.org.apache.rocketmq.tools
        known = self.forget_commands()
        tools.command.MQAdminStartup.initCommand()
        return [command.commandName() for command in known]

    def forget_commands(self) -> Any:
        """Give the tool an empty list of commands, and return it.

        The tool makes its commands for each call, keeps those of the call before, and
        some are of no use a second time.
        """
        name = "org.apache.rocketmq.tools.command.MQAdminStartup"
        fields = self.gateway.jvm.Class.forName(name).getDeclaredFields()
        (field,) = (one for one in fields if one.getName() in _COMMANDS)
        field.setAccessible(True)
        known = field.get(None)
        # Py4J's own clear takes one after the other, until there is an error.
        known.removeAll(self.gateway.jvm.java.util.ArrayList(known))
        return known


@contextmanager
def admin_tool(client: JavaClient) -> Iterator[AdminTool]:
    """Start a Java machine for the commands; end it afterwards."""
    jars = Path(pyspark.__file__).parent / "jars"
    whole = [str(jar) for jar in jars.glob("py4j-*.jar")] + [client.class_path()]
    child = client.run(_GATEWAY_CLASS, [_ANY_PORT], class_path=os.pathsep.join(whole))
    try:
        child.wait_until(
            lambda: child.output().strip().isdecimal(), what="port of the gateway"
        )
        port = int(child.output())
        # Else whatever is forgotten here later would call a machine that is gone.
        parameters = GatewayParameters(port=port, enable_memory_management=False)
        gateway = JavaGateway(gateway_parameters=parameters)
        try:
            yield AdminTool(client=client, gateway=gateway)
        finally:
            gateway.close()
    finally:
        child.kill()
