"""
One soak: a broker, the clients that come and go, and what is seen meanwhile.
"""

from __future__ import annotations

import functools
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from bench.longrun.memory import Memory, resident_memory
from bench.longrun.soak_clients import Clients, java_client
from conformance.harness.client.client import require_success
from conformance.harness.pytest_plugin.fixtures import unique_name
from conformance.harness.targets.target import Target
from spec.wire.remoting.response_code import ResponseCode

QUEUES = 8
PAUSES_S = 8.0, 25.0
"""Between two restarts, at least and at most."""
GONE_MAX_S = 3.0
"""Longest absence of a client that has ended."""
START_DEADLINE_S = 90.0
"""From the start of a client to its first message, on a machine that is busy."""
LOOK_S = 1.0
DRAIN_DEADLINE_S = 60.0
"""Without any progress; a consumer that is late may take longer."""
DISK_LEFT_MIN = 10**9


class SoakError(Exception):
    """The run cannot continue, for a reason outside the broker."""


def megabytes(size: int) -> float:
    """Return a size in MB, for people."""
    return round(size / 10**6, 1)


class Soak:
    """One broker, its clients, and what is seen of them."""

    def __init__(self, target: Target, process_id: int, folder: Path, seed: int):
        assert target.namesrv is not None
        self.topic, self.group = unique_name("soak"), unique_name("soak-group")
        java = java_client(target.namesrv, folder)
        self.producers = Clients.producers(java, self.topic)
        self.consumers = Clients.consumers(java, self.topic, self.group)
        self.memory: list[Memory] = []
        self._target = target
        self._process_id = process_id
        self._folder = folder
        # A seed makes the order of events the same; the rest is the machine's.
        self._chance = random.Random(seed)  # noqa: S311

    def run(self, duration_s: float, progress: Callable[[str], None]) -> None:
        """Let the clients work, and end and start them in turn; then drain."""
        with self._target.connect_to_broker() as broker:
            require_success(broker.create_topic(topic=self.topic, queue_count=QUEUES))
        self.consumers.start()
        self.producers.start()
        self._await_work(self.consumers, progress)
        end = time.monotonic() + duration_s
        turns = [self.producers, self.consumers]
        while time.monotonic() < end:
            pause = self._chance.uniform(*PAUSES_S)
            self._watch(min(end, time.monotonic() + pause), end, progress)
            if time.monotonic() + PAUSES_S[0] < end:
                self._restart(turns[0], progress)
                turns.reverse()
        self.producers.end()
        self._drain(progress)
        self.consumers.end()

    def close(self) -> None:
        """End the clients that still run."""
        self.producers.close()
        self.consumers.close()

    def committed(self) -> dict[int, int]:
        """Return the group's committed offset of each queue."""
        with self._target.connect_to_broker() as broker:
            found = {}
            for queue_id in range(QUEUES):
                response = broker.query_offset(
                    group=self.group, topic=self.topic, queue_id=queue_id
                )
                if response.code != ResponseCode.QUERY_NOT_FOUND:
                    found[queue_id] = int(require_success(response).fields["offset"])
            return found

    def _ends(self) -> dict[int, int]:
        with self._target.connect_to_broker() as broker:
            max_offset = functools.partial(broker.max_offset, topic=self.topic)
            return {
                queue_id: int(
                    require_success(max_offset(queue_id=queue_id)).fields["offset"]
                )
                for queue_id in range(QUEUES)
            }

    def _restart(self, clients: Clients, progress: Callable[[str], None]) -> None:
        """End a client, start the next after a while, and see it at work."""
        clients.end(self._chance)
        time.sleep(self._chance.uniform(0, GONE_MAX_S))
        clients.start(self.committed())
        self._await_work(clients, progress)

    def _await_work(self, clients: Clients, progress: Callable[[str], None]) -> None:
        """Return when the client that runs has noted its first message."""
        give_up_at = time.monotonic() + START_DEADLINE_S
        while not clients.is_at_work:
            if time.monotonic() > give_up_at:
                raise SoakError(f"no {clients.program} works after a start")
            self._look()
            progress(f"{clients.program} starts, {self._counts()}")
            time.sleep(LOOK_S)

    def _watch(self, until: float, end: float, progress: Callable[[str], None]) -> None:
        """Check broker, clients and disk each second *until* then."""
        while time.monotonic() < until:
            self._look()
            progress(f"{max(0, end - time.monotonic()):4.0f} s left, {self._counts()}")
            time.sleep(max(0, min(LOOK_S, until - time.monotonic())))

    def _look(self) -> None:
        try:
            self.memory.append(resident_memory(self._process_id))
        except OSError:
            raise SoakError("the broker has ended") from None
        self.producers.check()
        self.consumers.check()
        if shutil.disk_usage(self._folder).free < DISK_LEFT_MIN:
            raise SoakError(f"less than {DISK_LEFT_MIN} bytes of disk are left")

    def _counts(self) -> str:
        own, files = self.memory[-1]
        clients = self.producers, self.consumers
        noted = ", ".join(f"{c.program} {c.events}, {c.ends} ends" for c in clients)
        return f"{noted}, memory {megabytes(own)} + {megabytes(files)} MB"

    def _drain(self, progress: Callable[[str], None]) -> None:
        """Return when the group has committed all there is, or makes no progress."""
        before: dict[int, int] = {}
        give_up_at = time.monotonic() + DRAIN_DEADLINE_S
        while (committed := self.committed()) != (ends := self._ends()):
            if committed != before:
                before = committed
                give_up_at = time.monotonic() + DRAIN_DEADLINE_S
            if time.monotonic() > give_up_at:
                return  # Missing messages are counted, and fail the run.
            self._look()
            left = sum(ends.values()) - sum(committed.values())
            progress(f"{left} messages left to consume, {self._counts()}")
            time.sleep(LOOK_S)
