"""
A client that requests routes as fast as the responses arrive.

    python -m bench.processes.namesrv_client HOST PORT CONNECTIONS OUTSTANDING
        SECONDS TOPICS

It is a process of its own, so that it shares no interpreter with the measured server.
All requests are made before the clock starts. Of a response it reads only the length,
the code and the opaque. Every connection has a fixed number of requests outstanding and
sends the next one when a response arrives. The output is one line of JSON with the
responses, the seconds, and the response times.
"""

from __future__ import annotations

import json
import random
import selectors
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import cycle

from spec.wire.remoting.command import Command, encode_command
from spec.wire.remoting.request_code import RequestCode

RECEIVE_SIZE = 256 * 1024
SILENCE_MAX_S = 10.0
_HEADER_START = 8
_SUCCESS = b'"code":0,'
_OPAQUE = b'"opaque":'


class BadResponseError(Exception):
    """A name server did not answer a route, or not at all."""


def topic_name(number: int) -> str:
    """Return the name of topic *number* of a measurement."""
    return f"BenchNamesrv_{number:05}"


class RouteConnection:
    """One connection with requests outstanding."""

    def __init__(
        self, link: socket.socket, requests: Sequence[bytes], order: Iterator[int]
    ) -> None:
        self.link = link
        self.times_s: list[float] = []
        self._requests = requests
        self._order = order
        self._sent_at = [0.0] * len(requests)
        self._pending = b""

    def send(self, count: int) -> None:
        """Send *count* more requests."""
        now = time.perf_counter()
        frames = []
        for _ in range(count):
            number = next(self._order)
            self._sent_at[number] = now
            frames.append(self._requests[number])
        self.link.sendall(b"".join(frames))

    def take(self) -> int:
        """Read what has arrived; return how many answers that completes."""
        arrived = self.link.recv(RECEIVE_SIZE)
        if not arrived:
            raise BadResponseError("the name server closed a connection")
        now = time.perf_counter()
        data = self._pending + arrived if self._pending else arrived
        start, end, count = 0, len(data), 0
        while end - start >= _HEADER_START:
            stop = start + 4 + int.from_bytes(data[start : start + 4], "big")
            if stop > end:
                break
            number = _opaque_of(data, start)
            self.times_s.append(now - self._sent_at[number])
            start = stop
            count += 1
        self._pending = data[start:]
        return count


def run(
    address: tuple[str, int],
    *,
    connections: int,
    outstanding: int,
    seconds: float,
    topic_count: int,
) -> dict[str, float]:
    """Send requests for *seconds*; return answers, seconds, and percentiles in ms."""
    requests = [_request(number) for number in range(topic_count)]
    opened = []
    for number in range(connections):
        link = socket.create_connection(address, SILENCE_MAX_S)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        opened.append(RouteConnection(link, requests, _order(topic_count, seed=number)))
    took = _converse(opened, outstanding, seconds)
    for connection in opened:
        connection.link.close()
    times = sorted(one for connection in opened for one in connection.times_s)
    if not times:
        raise BadResponseError("no answer at all")
    return {
        "responses": len(times),
        "seconds": took,
        "p50_ms": times[len(times) // 2] * 1000,
        "p99_ms": times[len(times) * 99 // 100] * 1000,
    }


def _converse(
    connections: Sequence[RouteConnection], outstanding: int, seconds: float
) -> float:
    """Send on every connection for *seconds*; return the time spent, in seconds."""
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            selector.register(connection.link, selectors.EVENT_READ, connection)
        began = time.perf_counter()
        for connection in connections:
            connection.send(outstanding)
        while time.perf_counter() - began < seconds:
            ready = selector.select(SILENCE_MAX_S)
            if not ready:
                raise BadResponseError(f"no answer for {SILENCE_MAX_S:g} s")
            for key, _ in ready:
                count = key.data.take()
                if count:
                    key.data.send(count)
        return time.perf_counter() - began


def _opaque_of(data: bytes, start: int) -> int:
    """Return the opaque of the response at *start*, which must be a success."""
    header = start + _HEADER_START
    stop = header + int.from_bytes(data[start + 5 : header], "big")
    if data.find(_SUCCESS, header, stop) < 0:
        raise BadResponseError(f"no route: {data[header:stop]!r}")
    at = data.find(_OPAQUE, header, stop) + len(_OPAQUE)
    return int(data[at : data.find(b",", at, stop)])


def _request(number: int) -> bytes:
    return encode_command(
        Command(
            code=RequestCode.GET_ROUTEINFO_BY_TOPIC,
            opaque=number,
            language="JAVA",
            fields={"topic": topic_name(number)},
        )
    )


def _order(count: int, *, seed: int) -> Iterator[int]:
    numbers = list(range(count))
    random.Random(seed).shuffle(numbers)  # noqa: S311 - the same order each time
    return cycle(numbers)


def main(words: Sequence[str]) -> int:
    """Measure with the options in *words* and print the result as one line."""
    host, port, connections, outstanding, seconds, topic_count = words
    try:
        found = run(
            (host, int(port)),
            connections=int(connections),
            outstanding=int(outstanding),
            seconds=float(seconds),
            topic_count=int(topic_count),
        )
    except (BadResponseError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{json.dumps(found)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
