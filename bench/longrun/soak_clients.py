"""
Apache's benchmark producer and consumer of 4.6.0, run as published and watched.

``java/WatchedClient.java`` runs their main methods and appends an event to a file for
each message that was answered, failed or consumed. A client is ended without a clean
shutdown: the benchmarks stop in no other way.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.longrun.soak_events import EVENT, ClientRun, read_events
from bench.processes.java_classes import FOLDER, HOOKED_CLIENTS, whole_class_path
from conformance.harness.client.address import Address
from conformance.harness.java.jars import resolve
from conformance.harness.process.process import Child
from conformance.interop.java.client import EXAMPLES, JavaClient

RELEASE = "4.6.0"
SOURCE = FOLDER / "WatchedClient.java"
PACKAGE = "org.apache.rocketmq.example.benchmark"
THREADS = 64
"""Threads of a producer; each has one message in flight."""
BODY_SIZE = 128


class ClientEndedError(Exception):
    """A client ended by itself, which the benchmarks never do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A client that runs, where it notes, and what was committed when it began."""

    child: Child
    notes: Path
    begins: Mapping[int, int]

    @property
    def events(self) -> int:
        """Number of events that it has recorded so far."""
        size = self.notes.stat().st_size if self.notes.exists() else 0
        return size // EVENT.itemsize


class Clients:
    """One producer or consumer after the other, and what they noted."""

    def __init__(self, program: str, arguments: tuple[str, ...], java: JavaClient):
        self.program = program
        self.ends = 0
        self._arguments = arguments
        self._java = java
        self._past: list[Running] = []
        self._past_events = 0
        self._now: Running | None = None

    @classmethod
    def producers(cls, java: JavaClient, topic: str) -> Clients:
        """Return the benchmark's producers of *topic*; none runs yet."""
        sizes = ("-w", str(THREADS), "-s", str(BODY_SIZE))
        return cls("Producer", ("-t", topic, *sizes), java)

    @classmethod
    def consumers(cls, java: JavaClient, topic: str, group: str) -> Clients:
        """Return the benchmark's consumers of *topic*; none runs yet."""
        return cls("Consumer", ("-t", topic, "-g", group, "-p", "false"), java)

    @property
    def events(self) -> int:
        """Number of events that all of them have recorded so far."""
        return self._past_events + (self._now.events if self._now else 0)

    def start(self, begins: Mapping[int, int] | None = None) -> None:
        """Start one; for a consumer, *begins* is what is committed by now."""
        assert self._now is None, f"a {self.program} runs already"
        directory = self._java.directory
        notes = directory / f"{self.program}-{len(self._past)}.events"
        (examples,) = resolve([EXAMPLES], transitive=False)
        words = [str(notes), f"{PACKAGE}.{self.program}", *self._arguments]
        child = self._java.run(
            SOURCE.stem,
            [*words, "-n", str(self._java.namesrv)],
            class_path=whole_class_path(
                SOURCE, HOOKED_CLIENTS, release=RELEASE, more=[examples]
            ),
        )
        self._now = Running(child=child, notes=notes, begins=begins or {})

    @property
    def is_at_work(self) -> bool:
        """Whether the one that runs has noted anything."""
        return self._now is not None and self._now.events > 0

    def check(self) -> None:
        """Complain if the one that should run has ended."""
        if self._now is not None and not self._now.child.running:
            child = self._now.child
            tail = child.log_tail()
            raise ClientEndedError(f"{self.program} ended: {child.exit_code}\n{tail}")

    def end(self, chance: random.Random | None = None) -> None:
        """End the one that runs: with SIGTERM, or with SIGKILL by *chance*."""
        assert self._now is not None
        if chance is not None and chance.random() < 0.5:
            self._now.child.kill()
        else:
            self._now.child.terminate()
        self.ends += 1
        self._past_events += self._now.events
        self._past.append(self._now)
        self._now = None

    def close(self) -> None:
        """End the one that still runs, if one does."""
        if self._now is not None:
            self._now.child.kill()
            self._now = None

    def runs(self) -> list[ClientRun]:
        """Return the events of the clients that have ended."""
        return [
            ClientRun(events=read_events(past.notes), begins=past.begins)
            for past in self._past
        ]


def java_client(namesrv: Address, directory: Path) -> JavaClient:
    """Return the runner for clients in the cluster of *namesrv*."""
    return JavaClient(release=RELEASE, namesrv=namesrv, directory=directory)
