"""
Put the Java client of a release under test.

    python -m conformance.client.adapters.java 4.6.0

The classes beside this file are compiled against the release's jars when they are
first needed. Java's standard streams are ours; what the client keeps on disk is in a
directory that goes with it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from conformance.harness.java.apache import class_path
from conformance.harness.java.compile import compile_sources
from conformance.harness.java.runtime import FAST_START
from conformance.harness.releases import PINNED
from java_runtime.find_java import find_java

FOLDER = Path(__file__).parent
CACHE = "adapters"
SOON_MS = 2000
LOCK_LIVES_MS = 10_000
"""Pause between rebalances, and between locks; 20 s by default.

Only the period of the client changes; the adapter reports it to the suite.
"""
MAIN = "Adapter"
_SERVERS = ("auth", "broker", "controller", "namesrv", "store", "tiered-store", "tools")
"""Modules that a client does not need; the broker's jar brings a slow logging."""
_LOGBACK = """\
<configuration>
  <statusListener class="{package}.core.status.NopStatusListener"/>
  <appender name="errors" class="{package}.core.ConsoleAppender">
    <target>System.err</target>
    <encoder><pattern>%d %level %logger{{20}} - %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="errors"/></root>
</configuration>
"""
_LOGGINGS = {
    "logback.xml": "ch.qos.logback",
    "rmq.logback.xml": "org.apache.rocketmq.logging.ch.qos.logback",
}
"""File of a logging library, and the package of that library."""


def command(release: str, home: Path) -> list[str]:
    """Return the command that starts Java, with *home* as its home."""
    sources = sorted(FOLDER.glob("*.java"))
    classes = compile_sources(sources, release, room=CACHE)
    return [
        *(str(find_java()), *FAST_START, "-Xmx256m", f"-Duser.home={home}"),
        *("-Drocketmq.client.logUseSlf4j=true", "-Drocketmq.client.logLevel=WARN"),
        f"-Drocketmq.client.rebalance.waitInterval={SOON_MS}",
        f"-Drocketmq.client.rebalance.lockInterval={SOON_MS}",
        f"-Drocketmq.client.rebalance.lockMaxLiveTime={LOCK_LIVES_MS}",
        *("-cp", os.pathsep.join([str(home), str(classes), *_jars(release)]), MAIN),
    ]


def _jars(release: str) -> list[str]:
    servers = {f"rocketmq-{name}-{release}.jar" for name in _SERVERS}
    jars = class_path(release).split(os.pathsep)
    return [jar for jar in jars if Path(jar).name not in servers]


def write_logging(home: Path) -> None:
    """Let warnings go to standard error, whichever logging the client has."""
    for name, package in _LOGGINGS.items():
        text = _LOGBACK.format(package=package)
        (home / name).write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Run the adapter until its standard input ends."""
    if len(arguments) != 1 or arguments[0] not in PINNED:
        sys.stderr.write(f"usage: one release, of {', '.join(PINNED)}\n")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with tempfile.TemporaryDirectory(prefix="java-client-") as home:
        write_logging(Path(home))
        words = command(arguments[0], Path(home))
        return subprocess.run(words, cwd=home, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
