"""
Commands ``rmqc produce`` and ``rmqc consume`` at a cluster.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

from conformance.harness.process.process import Child, start
from conformance.harness.targets.started.embedded import SOURCES
from conformance.harness.targets.target import Target
from rocketmq_conformance.paths import module_command

DEADLINE_S = 90.0
PATIENT = ("--timeout-ms", "20000")
"""A busy machine is no broker that is lost."""

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Line:
    """Message as printed by ``rmqc consume``."""

    queue: int
    offset: int
    tag: str
    message_id: str
    body: str


@dataclass(frozen=True, slots=True)
class RmqcClients:
    """The two commands, at one cluster."""

    target: Target
    directory: Path
    options: tuple[str, ...] = ()
    """More options of both, such as those about access."""

    def start(self, command: str, *words: str) -> Child:
        """Start ``rmqc`` *command* with *words*."""
        given = ["-n", str(self.target.namesrv), *self.options, *words]
        return start(
            f"rmqc {command}",
            module_command("cli", command, *given),
            log=self.directory / f"{command}-{next(_numbers)}.log",
            directory=SOURCES,
        )

    def produce(self, topic: str, *words: str) -> list[str]:
        """Send with ``rmqc produce``; return the lines that it printed."""
        child = self.start("produce", *PATIENT, topic, *words)
        assert child.wait_end(deadline_s=DEADLINE_S) == 0, child.output()
        return child.output().splitlines()

    def consume(self, topic: str, count: int, *words: str) -> list[Line]:
        """Read *count* messages with ``rmqc consume``."""
        given = ("--from", "first", "--count", str(count), "--idle-s", "60")
        child = self.start("consume", *given, *words, topic)
        assert child.wait_end(deadline_s=DEADLINE_S) == 0, child.output()
        return lines_of(child)


def lines_of(child: Child) -> list[Line]:
    """Return the messages that *child* has printed so far, whole lines only."""
    found = []
    for text in child.output().splitlines(keepends=True):
        if text.endswith("\n"):
            _, _, queue, _, offset, tag, message_id, body = text.rstrip("\n").split(" ")
            found.append(Line(int(queue), int(offset), tag, message_id, body))
    return found
