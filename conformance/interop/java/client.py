"""
Java programs that users run: the examples of a release, its clients, its mqadmin.

They run unmodified, from the jars of a release, and their output is compared. A client
without a name server queries a host on the internet for one, so every program gets one
here.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.harness.client.address import Address
from conformance.harness.java.apache import class_path
from conformance.harness.java.apache_conf import write_logging
from conformance.harness.java.jars import resolve
from conformance.harness.java.runtime import FAST_START
from conformance.harness.process.process import Child, start
from java_runtime.find_java import find_java

EXAMPLES = "org.apache.rocketmq:rocketmq-example:4.6.0"
"""The examples that the project's own quick start runs, as every tutorial does."""

EXAMPLE_PACKAGE = "org.apache.rocketmq.example.quickstart"
ADMIN_CLASS = "org.apache.rocketmq.tools.command.MQAdminStartup"
ADMIN_DEADLINE_S = 60.0

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaClient:
    """Runner of client programs of one release in one cluster."""

    release: str
    namesrv: Address | str
    """One name server, or several with semicolons between."""
    directory: Path
    """Home of the programs: their logs, and what they print."""
    options: tuple[str, ...] = ()
    """More options for the Java machine, such as system properties of the client."""

    def run(
        self, class_name: str, arguments: Sequence[str] = (), *, class_path: str = ""
    ) -> Child:
        """Start *class_name*; what it prints is in the child's output."""
        write_logging(self.directory)
        words: list[str | Path] = [
            *(find_java(), *FAST_START, "-Xmx256m", f"-Duser.home={self.directory}"),
            *(f"-Drocketmq.home.dir={self.directory}", *self.options),
            *("-cp", class_path or self.class_path(), class_name, *arguments),
        ]
        short = class_name.rpartition(".")[2]
        return start(
            f"{short} {self.release}",
            words,
            log=self.directory / f"{short}-{next(_numbers)}.log",
            environment={"NAMESRV_ADDR": str(self.namesrv)},
            directory=self.directory,  # some programs write files where they stand
        )

    def class_path(self) -> str:
        """Return the class path of this release."""
        return class_path(self.release)

    def run_example(self, name: str) -> Child:
        """Start ``Producer`` or ``Consumer`` of the quick start, as published."""
        examples = [str(jar) for jar in resolve([EXAMPLES], transitive=False)]
        whole = os.pathsep.join([*examples, self.class_path()])
        return self.run(f"{EXAMPLE_PACKAGE}.{name}", class_path=whole)

    def admin(self, command: str, *arguments: str) -> str:
        """Run one mqadmin command to its end and return what it printed."""
        words = [command, "-n", str(self.namesrv), *arguments]
        child = self.run(ADMIN_CLASS, words)
        child.wait_end(deadline_s=ADMIN_DEADLINE_S)
        return child.output()
