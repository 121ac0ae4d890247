"""
The two brokers of a measurement: the reference, and Apache's of a release.

Both run at the same time, on stores of their own with the file sizes of a real broker.
One works while the other idles. Apache's runs with the compiler and collector
that Java itself chooses, and with the small heap that every target here has.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.longrun.memory import REAL_SIZES, Memory, resident_memory
from bench.processes.measured_process import processor_s
from bench.report.result import OURS, THEIRS
from conformance.harness.client.address import Address
from conformance.harness.client.client import Client, require_success
from conformance.harness.java.apache import ApacheCluster
from conformance.harness.java.runtime import FAST_START
from conformance.harness.releases import PINNED
from conformance.harness.targets.started.embedded import EmbeddedTarget

OPENS = tuple(word for word in FAST_START if word.startswith(("--", "-D")))
"""Options that 4.x requires of Java, without those that shorten its life."""
QUEUES = 8


class ServerBenchError(Exception):
    """A server or a client did not do its part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A name server and a broker, in one process or in two."""

    who: str
    namesrv: Address
    broker: Address
    process_ids: tuple[int, ...]

    def cpu_s(self) -> float:
        """Return the processor time that it has used since its start."""
        return sum(map(processor_s, self.process_ids))

    def memory(self) -> Memory:
        """Return its resident memory: its own, and that of the files it has mapped."""
        parts = [resident_memory(one) for one in self.process_ids]
        return Memory(sum(p.own for p in parts), sum(p.files for p in parts))

    def create_topic(self, topic: str, *, queues: int = QUEUES) -> None:
        """Create a topic."""
        with Client.connect(self.broker) as client:
            require_success(client.create_topic(topic=topic, queue_count=queues))

    def stored(self, topic: str, *, queues: int = QUEUES) -> int:
        """Return the number of readable messages of *topic*."""
        with Client.connect(self.broker) as client:
            responses = [
                require_success(client.max_offset(topic=topic, queue_id=queue_id))
                for queue_id in range(queues)
            ]
        return sum(int(response.fields["offset"]) for response in responses)


@contextmanager
def both(
    release: str, settings: Mapping[str, str] | None = None
) -> Iterator[tuple[Server, Server]]:
    """Run the reference and Apache's *release*, with the same settings."""
    check_release(release)
    conf = {**REAL_SIZES, **(settings or {})}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        cluster = ApacheCluster(
            release, directory=Path(folder), conf=conf, java_options=OPENS
        )
        with cluster, EmbeddedTarget("embedded:", conf=conf) as embedded:
            yield reference_server(embedded), apache_server(cluster)


def check_release(release: str) -> None:
    """Complain about a release that is not pinned."""
    if release not in PINNED:
        raise ServerBenchError(f"the release is one of {', '.join(PINNED)}")


def reference_server(target: EmbeddedTarget) -> Server:
    """Return the reference that runs as *target*."""
    assert target.namesrv is not None
    assert target.broker is not None
    assert target.process_id is not None
    return Server(
        who=OURS,
        namesrv=target.namesrv,
        broker=target.broker,
        process_ids=(target.process_id,),
    )


def apache_server(cluster: ApacheCluster) -> Server:
    """Return Apache's broker and name server that run as *cluster*."""
    return Server(
        who=THEIRS,
        namesrv=cluster.namesrv,
        broker=cluster.broker,
        process_ids=cluster.process_ids,
    )
