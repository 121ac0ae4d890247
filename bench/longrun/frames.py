"""
Wrong frames at a name server.

    python -m bench.longrun.frames [COUNT] [--at HOST:PORT]

Recorded frames of all releases are changed and sent over several connections, a million
by default. A batch is one connection. Frames that can still be read come first. One
that breaks the connection comes last. Then our side is closed, and the name server has
to close its own. Meanwhile another connection requests the route of a broker that
nothing else touches.

The exit code is 1 if the name server ends, or does not close a connection or answer a
route in time. It is also 1 if a route is wrong, or if the name server's memory grows.

Requests with a permanent effect on the name server (PUT_KV_CONFIG) are sent only a few
times. The effect of a registration ends with its connection.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from conformance.harness.client.address import Address
from conformance.harness.client.peer import Peer
from conformance.harness.client.peer_errors import PeerError, PeerMisbehavedError
from conformance.harness.targets.started.embedded import EmbeddedTarget
from spec.layout import LayoutError
from spec.routing.broker_registration import (
    BrokerIdentity,
    RegistrationBody,
    encode_registration,
    registration_fields,
)
from spec.routing.route_data import decode_route
from spec.routing.topic_config import DataVersion, TopicConfig, TopicTable
from spec.wire.remoting.command import Command, decode_command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

FIXTURES = Path(__file__).parents[2] / "fixtures" / "wire"
COUNT = 1_000_000
CONNECTIONS = 8
BATCH_MAX = 64
DEADLINE_S = 10.0
"""For a route, and for the end of a connection; what is late hangs."""
WARM_UP_SHARE = 0.2
"""Part of the run after which memory has to stay as it is."""
GROWTH_MAX = 32 * 1024 * 1024
KEPT_MAX = 200
"""Most requests of a kind that the server keeps for ever."""
CHECK_EVERY = 8
"""Rounds of batches between two route requests from the other connection."""
RENEW_S = 20.0
"""Between two life signs of the broker that is routed to: it is given up after 120."""
FRAME_SIZE_MAX = 8192
"""Recorded frames longer than this are left out: a million have to pass."""
HONEST_LENGTHS = 0.9
"""The share of frames whose length word is set right after all changes."""
TOPIC = "BenchFrames"
_INTERESTING = (0, 1, 2, 0x7F, 0x80, 0xFF, ord('"'), ord("{"), ord("}"), ord("\\"))
_NUMBERS = (b"0", b"-1", b"2147483647", b"2147483648", b"9223372036854775808", b"1e9")


class NameServerFailedError(Exception):
    """The name server did what no frame may make it do."""


@dataclass(slots=True)
class Figures:
    """Observations of a run so far."""

    frames: int = 0
    readable: int = 0
    connections: int = 0
    routes: int = 0
    slowest_route_ms: float = 0.0
    memory: list[int] = field(default_factory=list)
    """Bytes of the name server's process, from time to time."""

    def growth(self) -> int:
        """Return by how many bytes memory has grown since the run was warm."""
        warm = self.memory[int(len(self.memory) * WARM_UP_SHARE) :]
        return warm[-1] - warm[0] if warm else 0


class Mutator:
    """A source of wrong frames, the same ones for the same seed."""

    def __init__(self, recorded: Sequence[bytes], seed: int) -> None:
        self._recorded = recorded
        self._chance = random.Random(seed)  # noqa: S311 - to be repeated
        self._kept = 0

    def batch(self) -> tuple[list[bytes], int]:
        """Return frames for one connection, and how many of them can be read."""
        frames: list[bytes] = []
        while len(frames) < BATCH_MAX:
            frame = self.frame()
            code = _code(frame)
            if code == RequestCode.PUT_KV_CONFIG:
                if self._kept >= KEPT_MAX:
                    continue
                self._kept += 1
            frames.append(frame)
            if code is None:
                return frames, len(frames) - 1
            if code == RequestCode.REGISTER_BROKER:
                break  # its connection may hold one
        return frames, len(frames)

    def frame(self) -> bytes:
        """Return a recorded frame that was changed in one to four places."""
        chance = self._chance
        recorded = chance.choice(self._recorded)
        data = bytearray(recorded)
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            chance.choice(_CHANGES)(data, chance)
        if chance.random() < HONEST_LENGTHS:
            data[:4] = (len(data) - 4).to_bytes(4, "big")
        return bytes(data) if data != recorded else self.frame()


def _flip(data: bytearray, chance: random.Random) -> None:
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _put(data: bytearray, chance: random.Random) -> None:
    data[chance.randrange(len(data))] = chance.choice(_INTERESTING)


def _number(data: bytearray, chance: random.Random) -> None:
    """Put another number where a number stands; the header's length is kept up."""
    digits = [at for at in range(8, len(data)) if 48 <= data[at] < 58]
    if not digits:
        return
    start = stop = chance.choice(digits)
    while stop < len(data) and 48 <= data[stop] < 58:
        stop += 1
    header = int.from_bytes(data[5:8], "big")
    number = chance.choice(_NUMBERS)
    data[start:stop] = number
    if start < 8 + header:
        size = max(header + len(number) - (stop - start), 0)
        data[5:8] = (size & 0xFFFFFF).to_bytes(3, "big")


def _cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(8, len(data) + 1) if len(data) > 8 else 8 :]


def _repeat(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data))
    data[start:start] = data[start : start + chance.randrange(1, 64)]


_CHANGES: Sequence[Callable[[bytearray, random.Random], None]] = (
    _flip,
    _put,
    _number,
    _number,
    _number,
    _number,
    _cut,
    _repeat,
)


def _code(frame: bytes) -> int | None:
    """Return the code of *frame*, or None where it breaks its connection."""
    try:
        return decode_command(frame).code
    except LayoutError:
        return None


def recorded_frames() -> list[bytes]:
    """Return the recorded frames of all releases, requests and responses, once each."""
    found = {path.read_bytes() for path in FIXTURES.rglob("*.bin")}
    return sorted(one for one in found if len(one) <= FRAME_SIZE_MAX and _code(one))


class Run:
    """A name server, the connection that checks it, and the observations."""

    def __init__(self, address: Address, process: psutil.Process | None) -> None:
        self.address = address
        self.figures = Figures()
        self._process = process
        self._broker = _broker()
        self._renew_at = 0.0
        self._looking = Peer(address)
        self._registering = Peer(address)

    def close(self) -> None:
        """Close the connections that are our own."""
        self._looking.close()
        self._registering.close()

    def send(self, mutator: Mutator, count: int) -> None:
        """Send *count* frames of *mutator*, and check the name server meanwhile."""
        figures = self.figures
        rounds = 0
        while figures.frames < count:
            with contextlib.ExitStack() as links:
                opened = [
                    links.enter_context(self._send_batch(mutator))
                    for _ in range(CONNECTIONS)
                ]
                if rounds % CHECK_EVERY == 0:
                    self._check_route()
                for link in opened:
                    _await_close(link)
            rounds += 1

    def _send_batch(self, mutator: Mutator) -> socket.socket:
        frames, readable = mutator.batch()
        try:
            link = socket.create_connection(self.address, DEADLINE_S)
        except OSError as error:
            raise NameServerFailedError(f"no connection any more: {error}") from None
        with contextlib.suppress(ConnectionError):
            link.sendall(b"".join(frames))
            link.shutdown(socket.SHUT_WR)
        self.figures.frames += len(frames)
        self.figures.readable += readable
        self.figures.connections += 1
        return link

    def _check_route(self) -> None:
        """Request the route; record the response time and the memory in use."""
        figures = self.figures
        if time.monotonic() >= self._renew_at:
            self._register()
            self._renew_at = time.monotonic() + RENEW_S
        began = time.monotonic()
        request = Command(
            code=RequestCode.GET_ROUTEINFO_BY_TOPIC, fields={"topic": TOPIC}
        )
        response = self._looking.request(request, timeout_s=DEADLINE_S)
        took_ms = (time.monotonic() - began) * 1000
        names = {data.broker_name for data in decode_route(response.body).broker_datas}
        if names != {self._broker.broker_name}:
            raise NameServerFailedError(f"the route is wrong: {names}")
        figures.slowest_route_ms = max(figures.slowest_route_ms, took_ms)
        figures.routes += 1
        if self._process is not None:
            figures.memory.append(self._process.memory_info().rss)

    def _register(self) -> None:
        """Renew the registration on new connections, which have no earlier frames."""
        old = self._looking, self._registering
        self._looking, self._registering = Peer(self.address), Peer(self.address)
        body = encode_registration(
            RegistrationBody(
                topics=TopicTable.of(
                    TopicConfig(topic=TOPIC),
                    TopicConfig(topic=self._broker.broker_name),
                    version=DataVersion(timestamp_ms=1, counter=1),
                )
            )
        )
        for peer in old:
            peer.close()
        fields = registration_fields(self._broker, body)
        code = RequestCode.REGISTER_BROKER
        sent = Command(code=code, fields=fields, body=body)
        response = self._registering.request(sent, timeout_s=DEADLINE_S)
        if response.code != ResponseCode.SUCCESS:
            raise NameServerFailedError(f"a registration is refused: {response.remark}")


def _broker() -> BrokerIdentity:
    return BrokerIdentity(
        cluster="BenchFramesCluster",
        broker_name="bench-frames-broker",
        address="127.0.0.1:29999",
    )


def _await_close(link: socket.socket) -> None:
    """Read what comes until the name server closes its side, too."""
    link.settimeout(DEADLINE_S)
    with link:
        try:
            while link.recv(65536):
                pass
        except ConnectionError:
            return  # Closed before it had read all that we sent.
        except TimeoutError:
            reason = f"a connection is still open after {DEADLINE_S:g} s"
            raise NameServerFailedError(reason) from None


@contextmanager
def _name_server(at: str | None) -> Iterator[tuple[Address, psutil.Process | None]]:
    """Yield a name server's address and, where it is ours, its process."""
    if at is not None:
        yield Address.parse(at), None
        return
    with EmbeddedTarget("embedded:") as target:
        assert target.namesrv is not None
        assert target.process_id is not None
        yield target.namesrv, psutil.Process(target.process_id)


def main(words: Sequence[str]) -> int:
    """Send so many frames; print the figures, and return 1 where something failed."""
    options = _options().parse_args(words)
    mutator = Mutator(recorded_frames(), options.seed)
    began = time.monotonic()
    with _name_server(options.at) as (address, process):
        run = Run(address, process)
        failure = ""
        try:
            run.send(mutator, options.count)
            if run.figures.growth() > GROWTH_MAX:
                failure = f"memory has grown by {run.figures.growth()} bytes"
        except (NameServerFailedError, PeerError, PeerMisbehavedError) as error:
            failure = str(error)
        except KeyboardInterrupt:
            failure = "interrupted"  # The figures so far are reported all the same.
        if process is not None and not process.is_running():
            failure += "; the name server has ended"
        run.close()
    report = _report(run.figures, seconds=time.monotonic() - began, failure=failure)
    sys.stdout.write(f"{json.dumps(report, indent=1)}\n")
    return 1 if failure else 0


def _report(figures: Figures, *, seconds: float, failure: str) -> dict[str, object]:
    memory = [round(size / 2**20, 1) for size in figures.memory]
    return {
        "frames": figures.frames,
        "readable": figures.readable,
        "connections": figures.connections,
        "seconds": round(seconds, 1),
        "routes_asked_meanwhile": figures.routes,
        "slowest_route_ms": round(figures.slowest_route_ms, 1),
        "memory_mib": memory[:: max(1, len(memory) // 10)],
        "growth_mib": round(figures.growth() / 2**20, 1),
        "failure": failure or None,
    }


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench.longrun.frames", description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=COUNT)
    parser.add_argument("--at", metavar="HOST:PORT", help="a name server that runs")
    parser.add_argument("--seed", type=int, default=1)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
