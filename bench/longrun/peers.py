"""
Memory of a broker whose peers do not read, or do not finish a frame.

    python -m bench.longrun.peers [COUNT] [--against RELEASE]

Half of the COUNT peers pull large messages and read no response. The others send 3 MB
of a frame without its last byte. Meanwhile a client sends and pulls one message after
the other, and its response times are noted. With `--against` Apache's broker of that
release has the same peers afterwards.

The exit code is 1 if the reference fails the client. It is also 1 if its own memory
exceeds the 256 MB that all peers share, plus an allowance.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import quantiles

from bench.longrun.memory import MEBIBYTE, REAL_SIZES
from bench.processes.servers import (
    OPENS,
    Server,
    apache_server,
    check_release,
    reference_server,
)
from conformance.harness.client.address import Address
from conformance.harness.client.client import Client, RefusedError, require_success
from conformance.harness.client.frame_socket import open_socket
from conformance.harness.client.peer_errors import PeerError, PeerMisbehavedError
from conformance.harness.java.apache import ApacheCluster
from conformance.harness.pytest_plugin.fixtures import unique_name
from conformance.harness.targets.started.embedded import EmbeddedTarget

COUNT = 1000
FRAME_SIZE = 3 * MEBIBYTE
FRAME_BEGIN = FRAME_SIZE.to_bytes(4, "big") + bytes(FRAME_SIZE - 1)
BODY = bytes(64 * 1024)
STORED = 32
"""Large messages of the pulled queue: 2 MB in a response."""
PULLS_EACH = 16
DURATION_S = 20
MEMORY_MAX = (256 + 96) * MEBIBYTE
"""Memory that all peers may hold, and an allowance for the process, in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Figures of one broker with its peers."""

    who: str
    peers: int
    own_memory_max: int
    """Largest anonymous memory, in bytes."""
    exchanges: int
    """Messages that the client sent and pulled."""
    p50_ms: float | None
    p99_ms: float | None
    failure: str | None
    """Error that ended the client, if any."""


@contextlib.contextmanager
def peers_at(broker: Address, topic: str, count: int) -> Iterator[list[socket.socket]]:
    """Connect *count* peers; yield the sockets of those with an unfinished frame."""
    with contextlib.ExitStack() as stack:
        for _ in range(count // 2):
            client = stack.enter_context(Client.connect(broker))
            for _ in range(PULLS_EACH):
                client.begin_pull(topic=topic, offset=0)
        unfinished = []
        for _ in range(count - count // 2):
            peer = stack.enter_context(open_socket(broker))
            peer.setblocking(False)
            unfinished.append(peer)
        yield unfinished


def measure(server: Server, count: int) -> Figures:
    """Return the figures of *server* with *count* peers."""
    large, small = unique_name("large"), unique_name("small")
    for topic in (large, small):
        server.create_topic(topic, queues=1)
    times_ms: list[float] = []
    most, failure = 0, None
    try:
        with Client.connect(server.broker) as client:
            for _ in range(STORED):
                require_success(client.send_message(topic=large, body=BODY))
            with peers_at(server.broker, large, count) as unfinished:
                rests = {peer: memoryview(FRAME_BEGIN) for peer in unfinished}
                end_s = time.monotonic() + DURATION_S
                while time.monotonic() < end_s:
                    send_rests(rests)
                    times_ms.append(exchange_ms(client, small, len(times_ms)))
                    most = max(most, server.memory().own)
    except (OSError, PeerError, PeerMisbehavedError, RefusedError) as error:
        failure = str(error).partition("\n")[0]
    percentiles = quantiles(times_ms, n=100) if len(times_ms) > 1 else None
    return Figures(
        who=server.who,
        peers=count,
        own_memory_max=most,
        exchanges=len(times_ms),
        p50_ms=round(percentiles[49], 2) if percentiles else None,
        p99_ms=round(percentiles[98], 2) if percentiles else None,
        failure=failure,
    )


def send_rests(rests: dict[socket.socket, memoryview]) -> None:
    """Send what each connection takes of its frame; drop those that were closed."""
    for peer, rest in list(rests.items()):
        try:
            sent = peer.send(rest)
        except BlockingIOError:
            continue
        except OSError:
            del rests[peer]
            continue
        rests[peer] = rest[sent:]
        if not rests[peer]:
            del rests[peer]


def exchange_ms(client: Client, topic: str, number: int) -> float:
    """Send message *number* and pull it; return the milliseconds that this took."""
    begun_s = time.perf_counter()
    require_success(client.send_message(topic=topic))
    pulled = require_success(client.pull(topic=topic, offset=number, max_count=1))
    if pulled.fields["nextBeginOffset"] != str(number + 1):
        raise RefusedError(pulled)
    return (time.perf_counter() - begun_s) * 1000


def main(words: Sequence[str] | None = None) -> int:
    """Measure the reference, and Apache's release if given; return an exit code."""
    arguments = _parser().parse_args(words)
    with EmbeddedTarget("embedded:", conf=REAL_SIZES) as embedded:
        ours = measure(reference_server(embedded), arguments.count)
    figures = [ours]
    if arguments.against:
        check_release(arguments.against)
        with (
            tempfile.TemporaryDirectory(prefix="bench-") as folder,
            ApacheCluster(
                arguments.against,
                directory=Path(folder),
                conf=REAL_SIZES,
                java_options=OPENS,
            ) as cluster,
        ):
            figures.append(measure(apache_server(cluster), arguments.count))
    for one in figures:
        sys.stdout.write(json.dumps(asdict(one)) + "\n")
    is_bounded = ours.own_memory_max <= MEMORY_MAX
    return 0 if is_bounded and ours.failure is None and ours.exchanges else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench.longrun.peers", description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=COUNT)
    parser.add_argument("--against", metavar="RELEASE")
    return parser


if __name__ == "__main__":
    sys.exit(main())
