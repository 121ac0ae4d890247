"""
A thousand consumers that wait, while sixteen producers send.

Each waiting consumer is a connection with one pull that the broker holds, on an empty
queue. When the pull times out, the consumer sends it again. The producers are Apache's
benchmark, as in ``send.py``, and their sends are timed.
"""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from bench.processes.servers import QUEUES, Server, both
from bench.processes.timed_client import TimedClient, producer
from bench.report.result import Report, Turn, limit, machine_facts, row
from conformance.harness.process.context import Closing
from conformance.harness.pytest_plugin.fixtures import unique_name
from spec.wire.remoting.command import Command, encode_command
from spec.wire.remoting.request_code import RequestCode

RSS_MAX_MB = 300.0
THREADS = 16
WARM_UP_S = 3.0
HELD_MS = 15_000
CONNECT_TIMEOUT_S = 60.0
RECEIVE_SIZE = 64 * 1024
_LOOK_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Extent of a measurement."""

    consumers: int = 1000
    rounds: int = 3
    seconds: float = 3.0
    body_size: int = 1024


def measure(release: str, size: Size, *, progress: Callable[[str], None]) -> Report:
    """Send to both brokers while consumers wait at them; return the report."""
    machine = machine_facts(release)
    turns: dict[str, list[Turn]] = {}
    with both(release) as servers:
        for server in servers:
            progress(f"{server.who}: {size.consumers} consumers wait")
            turns[server.who] = _turns(server, size)
    what = f"{size.consumers} waiting consumers, {THREADS} producers"
    found = row(what, turns, unit="messages/s", of="per_s")
    ours = found.sides["reference"].medians
    memory = ours["own_mb"] + ours["mapped_mb"]
    return Report(
        bench="idle",
        machine=machine,
        rounds=size.rounds,
        rows=[found],
        goals=[limit("memory", memory, at_most=RSS_MAX_MB, unit="MB")],
    )


def _turns(server: Server, size: Size) -> list[Turn]:
    topic, quiet = unique_name("bench"), unique_name("quiet")
    server.create_topic(topic)
    server.create_topic(quiet)
    waiting = WaitingConsumers(server, quiet, size.consumers)
    client = producer(server, topic, threads=THREADS, size=size.body_size)
    with waiting, client:
        client.send(WARM_UP_S)
        return [_turn(server, client, size.seconds) for _ in range(size.rounds)]


def _turn(server: Server, client: TimedClient, seconds: float) -> Turn:
    before = server.cpu_s()
    sends = client.send(seconds)
    memory = server.memory()
    return {
        "per_s": sends.count / sends.seconds,
        "p50_ms": sends.p50_ms,
        "p99_ms": sends.p99_ms,
        "max_ms": sends.max_ms,
        "cpu_us": (server.cpu_s() - before) / sends.count * 1e6,
        "own_mb": memory.own / 1e6,
        "mapped_mb": memory.files / 1e6,
    }


class WaitingConsumers(Closing):
    """Connections, each with a pull that is held."""

    def __init__(self, server: Server, topic: str, count: int) -> None:
        self._links = [
            socket.create_connection(server.broker, CONNECT_TIMEOUT_S)
            for _ in range(count)
        ]
        self._pulls = [encode_command(_pull(topic, number)) for number in range(count)]
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._wait, daemon=True)

    def __enter__(self) -> Self:
        for link, pull in zip(self._links, self._pulls, strict=True):
            link.sendall(pull)
        self._thread.start()
        return self

    def close(self) -> None:
        """End the thread, and close the connections."""
        self._ended.set()
        self._thread.join()
        for link in self._links:
            link.close()

    def _wait(self) -> None:
        """Send the pull again on each connection whose pull was answered."""
        with selectors.DefaultSelector() as selector:
            for link, pull in zip(self._links, self._pulls, strict=True):
                selector.register(link, selectors.EVENT_READ, (link, pull))
            while not self._ended.is_set():
                for key, _ in selector.select(_LOOK_S):
                    link, pull = key.data
                    if link.recv(RECEIVE_SIZE):
                        link.sendall(pull)
                    else:
                        selector.unregister(link)


def _pull(topic: str, number: int) -> Command:
    fields = {
        "consumerGroup": f"bench-waiting-{number}",
        "topic": topic,
        "queueId": str(number % QUEUES),
        "queueOffset": "0",
        "maxMsgNums": "32",
        "sysFlag": "6",  # may be held, and brings its subscription
        "commitOffset": "0",
        "suspendTimeoutMillis": str(HELD_MS),
        "subscription": "*",
        "subVersion": "0",
        "expressionType": "TAG",
    }
    return Command(
        code=RequestCode.PULL_MESSAGE, opaque=number, language="JAVA", fields=fields
    )
