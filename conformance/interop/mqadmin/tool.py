"""
mqadmin: many commands in one Java process.

MQAdminStartup#main is called once for each command, with its output captured. A Java
process for each command would spend most of the time on starting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from conformance.interop.java.client import JavaClient
from conformance.interop.java.gateway import java_gateway

_NOT_THE_TOOLS = re.compile(r"\|-(INFO|WARN|ERROR) in |^\s+at |^\s+\.\.\. \d+ more")
"""Lines of the logging library's own start, and of Java stack traces."""
_COMMANDS = ("subCommandList", "SUB_COMMANDS")
"""Name of the tool's list of commands in 4.x and in 5.x."""


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
    """Yield mqadmin of the client's release in a Java process of its own."""
    with java_gateway(client) as gateway:
        yield AdminTool(client=client, gateway=gateway)
