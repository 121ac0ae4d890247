"""
A Java client program that works in turns, and reports the times of its sends.

``java/TimedClient.java`` runs the published main method of a benchmark, or of
``java/SendLoop.java``. Between turns it holds its producers before their next send. The
client of one server thus rests, warm and connected, while the other
server has its turn.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass

from bench.processes.command_process import CommandProcess
from bench.processes.java_classes import (
    FOLDER,
    HOOKED_CLIENTS,
    compiled,
    whole_class_path,
)
from bench.processes.servers import OPENS, Server, ServerBenchError
from conformance.harness.java.jars import resolve
from conformance.interop.java.client import EXAMPLES
from java_runtime.find_java import find_java

RELEASE = "4.6.0"
"""Release of the client; the same for both servers."""
SOURCE, LOOP = FOLDER / "TimedClient.java", FOLDER / "SendLoop.java"
PACKAGE = "org.apache.rocketmq.example.benchmark"
OPTIONS = (*OPENS, "-Xmx512m")
FIRST_SEND_DEADLINE_S = 60.0
_MARK = "turn "


@dataclass(frozen=True, slots=True, kw_only=True)
class Sends:
    """Sends of the producers in a turn; a batch is one send."""

    count: int
    failed: int
    seconds: float
    p50_ms: float
    p99_ms: float
    max_ms: float


class TimedClient(CommandProcess):
    """A Java process that works on order."""

    def __init__(self, server: Server, program: str, arguments: Sequence[str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="bench-client-")
        self._has_sent = False
        (examples,) = resolve([EXAMPLES], transitive=False)
        path = whole_class_path(
            SOURCE,
            HOOKED_CLIENTS,
            release=RELEASE,
            more=[compiled(LOOP, release=RELEASE), examples],
        )
        home = f"-Duser.home={self._folder.name}"
        words = [find_java(), *OPTIONS, home, "-cp", path, SOURCE.stem]
        super().__init__(
            [*map(str, words), program, *arguments],
            environment={"NAMESRV_ADDR": str(server.namesrv)},
            directory=self._folder.name,
        )

    def close(self) -> None:
        """End the process; closing twice is harmless."""
        super().close()
        self._folder.cleanup()

    def send(self, seconds: float) -> Sends:
        """Let the producers go for *seconds*; return what came of it.

        The first turn may take longer, to find a route and to warm up Java.
        """
        order = f"send {round(seconds * 1000)}"
        figures = self._turn(order)
        give_up_at = time.monotonic() + FIRST_SEND_DEADLINE_S
        while not (self._has_sent or any(figures[:2]) or time.monotonic() > give_up_at):
            figures = self._turn(order)
        self._has_sent = True
        count, failed, duration, p50, p99, longest = figures
        if failed or not count:
            self._complain(f"{count} sends, {failed} of them failed")
        return Sends(
            count=count,
            failed=failed,
            seconds=duration / 1e9,
            p50_ms=p50 / 1e6,
            p99_ms=p99 / 1e6,
            max_ms=longest / 1e6,
        )

    def consume(self, count: int) -> tuple[int, float]:
        """Wait until *count* messages are consumed; return how many, and seconds."""
        consumed, duration = self._turn(f"consume {count}")
        return consumed, duration / 1e9

    def _turn(self, order: str) -> list[int]:
        try:
            self._order(order)
        except BrokenPipeError:
            self._complain("the client has ended")
        while line := self._line():
            if line.startswith(_MARK):
                return [int(word) for word in line.removeprefix(_MARK).split()]
        return self._complain("the client has ended")

    def _complain(self, what: str) -> list[int]:
        raise ServerBenchError(f"{what}: {self._complaint()[-400:]}")


def producer(server: Server, topic: str, *, threads: int, size: int) -> TimedClient:
    """Return the benchmark's producer: so many threads that send one by one."""
    words = ["-t", topic, "-w", threads, "-s", size, "-n", server.namesrv]
    return TimedClient(server, f"{PACKAGE}.Producer", [*map(str, words)])


def loop(
    server: Server, topic: str, *, threads: int, size: int, batch: int
) -> TimedClient:
    """Return a producer of batches, or of oneway messages if *batch* is 0."""
    words = [server.namesrv, topic, threads, size, batch]
    return TimedClient(server, LOOP.stem, [*map(str, words)])


def consumer(server: Server, topic: str, group: str) -> TimedClient:
    """Return the benchmark's push consumer."""
    words = ["-t", topic, "-g", group, "-p", "false", "-n", str(server.namesrv)]
    return TimedClient(server, f"{PACKAGE}.Consumer", words)
