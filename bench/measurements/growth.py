"""
Cost of a message for a broker with many messages, and for one with many topics.

The same frames go to the reference and to Apache's broker, pipelined over one
connection. The figures are the server's processor time for a message in the last
stretch before each mark, and its memory there. Topics are in the store's configuration
before the brokers start, so that their creation costs nothing.
"""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from bench.longrun.memory import REAL_SIZES
from bench.processes.namesrv_client import RouteConnection
from bench.processes.servers import (
    OPENS,
    Server,
    apache_server,
    check_release,
    reference_server,
)
from bench.report.result import (
    OURS,
    THEIRS,
    Limit,
    Report,
    Row,
    Turn,
    limit,
    machine_facts,
    row,
)
from conformance.harness.java.apache import ApacheCluster
from conformance.harness.targets.started.embedded import EmbeddedTarget
from spec.routing.topic_config import (
    DataVersion,
    TopicConfig,
    TopicTable,
    encode_topic_table,
)
from spec.wire.message.properties import encode_properties
from spec.wire.remoting.command import Command, encode_command
from spec.wire.remoting.request_code import RequestCode

BODY = b"b" * 1024
STRETCH = 5_000
"""Messages whose cost is taken, the last ones before a mark."""
OUTSTANDING = 64
KEYS = 10_000
"""Unique keys at least: a broker that caches the hash of one would seem too fast."""
RESPONSE_TIMEOUT_S = 120.0
FLAT = 1.5
"""The last mark may cost so many times what the first did: a machine has moods."""
RSS_SHARE = 0.5
LETTERS = "abcdefghijkm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Numbers of messages at which the cost is measured."""

    messages: tuple[int, ...] = (10_000, 100_000)
    topics: tuple[int, ...] = (1, 100, 10_000)


def marks_up_to(most: int, *, first: int, factor: int) -> tuple[int, ...]:
    """Return *first*, *factor* times as much, and so on; *most* is the last."""
    found = []
    while first < most:
        found.append(first)
        first *= factor
    return (*found, most)


def measure(release: str, marks: Marks, *, progress: Callable[[str], None]) -> Report:
    """Fill the reference and Apache's *release* side by side; return the report."""
    check_release(release)
    machine = machine_facts(release)
    rows, goals = [], []
    found = _filled(release, 1, marks.messages, progress=progress)
    costs = [turns[OURS][0]["cpu_us"] for turns in found]
    for mark, turns in zip(marks.messages, found, strict=True):
        rows.append(_row(f"after {mark:,} messages", turns))
    goals.append(_flat("messages", costs))
    share = _rss(found[-1], OURS) / _rss(found[-1], THEIRS)
    what = "memory, as a share of theirs"
    goals.append(limit(what, share, at_most=RSS_SHARE, unit="x"))
    costs = []
    for count in marks.topics:
        (turns,) = _filled(
            release, count, (2 * max(count, STRETCH),), progress=progress
        )
        rows.append(_row(f"in {count:,} topics", turns))
        costs.append(turns[OURS][0]["cpu_us"])
    goals.append(_flat("topics", costs))
    return Report(
        bench="growth",
        machine=machine,
        rounds=1,
        rows=rows,
        goals=goals,
    )


def _row(what: str, turns: dict[str, list[Turn]]) -> Row:
    return row(what, turns, unit="us CPU/message", of="cpu_us")


def _flat(what: str, costs: Sequence[float]) -> Limit:
    growth = costs[-1] / costs[0]
    return limit(f"cost by number of {what}", growth, at_most=FLAT, unit="x")


def _rss(turns: dict[str, list[Turn]], who: str) -> float:
    return turns[who][0]["own_mb"] + turns[who][0]["mapped_mb"]


def _filled(
    release: str,
    count: int,
    marks: Sequence[int],
    *,
    progress: Callable[[str], None],
) -> list[dict[str, list[Turn]]]:
    """Fill both brokers; return what each was like at each of the *marks*."""
    names = [f"BenchGrowth_{number:05}" for number in range(count)]
    found: list[dict[str, list[Turn]]] = [{OURS: [], THEIRS: []} for _ in marks]
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        stores = {who: Path(folder) / who / "store" for who in (OURS, THEIRS)}
        for store in stores.values():
            _write_topics(store, names)
        with ExitStack() as stack:
            cluster = ApacheCluster(
                release,
                directory=stores[THEIRS].parent,
                conf=REAL_SIZES,
                store=stores[THEIRS],
                java_options=OPENS,
            )
            stack.enter_context(cluster)
            target = EmbeddedTarget("embedded:", conf=REAL_SIZES, store=stores[OURS])
            stack.enter_context(target)
            for server in (reference_server(target), apache_server(cluster)):
                sender = stack.enter_context(_Sender(server, names))
                for mark, turns in zip(marks, found, strict=True):
                    progress(f"{server.who}: {count:,} topics, {mark:,} messages")
                    turns[server.who].append(sender.fill(mark))
    return found


def _write_topics(store: Path, names: Sequence[str]) -> None:
    """Write the configuration that a broker with these topics would have."""
    topics = [
        TopicConfig(topic=one, read_queue_count=1, write_queue_count=1) for one in names
    ]
    version = DataVersion(timestamp_ms=1_600_000_000_000, counter=1)
    table = TopicTable.of(*topics, version=version)
    config = store / "config"
    config.mkdir(parents=True)
    (config / "topics.json").write_bytes(encode_topic_table(table))


class _Sender:
    """A connection that sends to all topics in turn."""

    def __init__(self, server: Server, names: Sequence[str]) -> None:
        self._server = server
        self._sent = 0
        self._link = socket.create_connection(server.broker, RESPONSE_TIMEOUT_S)
        count = -(-KEYS // len(names)) * len(names)
        frames = [_send(number, names[number % len(names)]) for number in range(count)]
        self._connection = RouteConnection(self._link, frames, cycle(range(count)))

    def __enter__(self) -> _Sender:
        return self

    def __exit__(self, *_: object) -> None:
        self._link.close()

    def fill(self, mark: int) -> Turn:
        """Send until *mark* messages are stored; return what the last ones cost."""
        self._send(max(mark - STRETCH - self._sent, 0))
        before, count = self._server.cpu_s(), mark - self._sent
        self._send(count)
        cpu_s = self._server.cpu_s() - before
        memory = self._server.memory()
        return {
            "cpu_us": cpu_s / count * 1e6,
            "own_mb": memory.own / 1e6,
            "mapped_mb": memory.files / 1e6,
        }

    def _send(self, count: int) -> None:
        sent = min(count, OUTSTANDING)
        answered = 0
        self._connection.send(sent)
        while answered < count:
            new = self._connection.take()
            answered += new
            more = min(new, count - sent)
            if more:
                self._connection.send(more)
                sent += more
        self._sent += count
        self._connection.times_s.clear()


def _send(number: int, topic: str) -> bytes:
    """Return the frame of a send as a Java client has it."""
    properties = encode_properties({"UNIQ_KEY": f"{number:032X}", "WAIT": "true"})
    values = ("bench", topic, "TBW102", "4", "0", "0", "1600000000000", "0")
    fields = (*values, properties, "0", "false", "false")
    return encode_command(
        Command(
            code=RequestCode.SEND_MESSAGE_V2,
            opaque=number,
            language="JAVA",
            fields=dict(zip(LETTERS, fields, strict=True)),
            body=BODY,
        )
    )
