"""
Routes a second of a name server: the reference beside Apache's own.

Both are started in the same run and get the same brokers and topics. Brokers exist
only in their registrations. Rounds are interleaved: in each round each name server has
its turn of every shape while the other idles. The median of the rounds' ratios counts.
The client is the same process image for both, see ``namesrv_client.py``.
Apache's runs with the compiler and collector that Java itself chooses.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from msgspec import Struct

from bench.processes.namesrv_client import topic_name
from bench.report.result import (
    OURS,
    THEIRS,
    Ratio,
    Report,
    machine_facts,
    ratio_result,
)
from conformance.harness.client.address import Address
from conformance.harness.client.client import Client, require_success
from conformance.harness.client.peer import Peer
from conformance.harness.java.apache import ApacheCluster
from conformance.harness.java.runtime import FAST_START
from conformance.harness.releases import PINNED
from conformance.harness.targets.started.embedded import EmbeddedTarget
from rocketmq_conformance.paths import module_command
from spec.routing.broker_registration import (
    BrokerIdentity,
    RegistrationBody,
    encode_registration,
    registration_fields,
)
from spec.routing.route_data import decode_route
from spec.routing.topic_config import DataVersion, TopicConfig, TopicTable
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

OPENS = tuple(word for word in FAST_START if word.startswith(("--", "-D")))
"""Options that 4.x requires of Java, without those that shorten its life."""
WARM_UP_S = 5.0
REGISTER_TIMEOUT_S = 60.0
AT_LEAST = 1
"""The goal of every ratio; both are above 1 where the reference is better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Number of connections, and of outstanding requests on each."""

    id: str
    connections: int
    outstanding: int


SHAPES = (
    Shape(id="1", connections=1, outstanding=64),
    Shape(id="16", connections=16, outstanding=4),
)


class NameServerBenchError(Exception):
    """A name server or the client did not do its part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Extent of a measurement."""

    topics: int = 10_000
    brokers: int = 4
    rounds: int = 5
    seconds: float = 3.0
    """Length of a turn."""


class Routes(Struct, frozen=True, kw_only=True):
    """Figures of one name server."""

    routes_per_s: int
    p50_ms: float
    p99_ms: float
    rounds: Sequence[int]


class ShapeRoutes(Struct, frozen=True, kw_only=True):
    """Figures of both name servers under one shape of load."""

    connections: int
    outstanding: int
    reference: Routes
    apache: Routes


class RoutesReport(Report, frozen=True, kw_only=True):
    """Report with the routes a second under each shape of load."""

    topics: int
    brokers: int
    turn_s: float
    shapes: Sequence[ShapeRoutes]


def measure(
    release: str, size: Size, *, progress: Callable[[str], None]
) -> RoutesReport:
    """Measure the reference and Apache's *release* in turns; return the report."""
    if release not in PINNED:
        raise NameServerBenchError(f"the release is one of {', '.join(PINNED)}")
    machine = machine_facts(release)
    with tempfile.TemporaryDirectory() as folder:
        cluster = ApacheCluster(release, directory=Path(folder), java_options=OPENS)
        progress("starting both name servers")
        with EmbeddedTarget("embedded:") as embedded, cluster:
            assert embedded.namesrv is not None
            addresses = {OURS: embedded.namesrv, THEIRS: cluster.namesrv}
            with _registered(addresses, size) as register:
                found = _turns(addresses, size, register=register, progress=progress)
    return RoutesReport(
        bench="namesrv",
        topics=size.topics,
        brokers=size.brokers,
        rounds=size.rounds,
        turn_s=size.seconds,
        machine=machine,
        shapes=[_summary(shape, found) for shape in SHAPES],
        goals=[goal for shape in SHAPES for goal in _goals(shape, found)],
    )


Found = dict[tuple[str, str], list[dict[str, float]]]
"""Figures of the client by shape and name server, one for each round."""


def _turns(
    addresses: dict[str, Address],
    size: Size,
    *,
    register: Callable[[], None],
    progress: Callable[[str], None],
) -> Found:
    found: Found = {(shape.id, who): [] for shape in SHAPES for who in addresses}
    for who, address in addresses.items():
        for shape in SHAPES:
            progress(f"warming up: {who}")
            _measure_turn(address, shape, topics=size.topics, seconds=WARM_UP_S)
    for number in range(1, size.rounds + 1):
        register()  # A broker expires after two minutes of silence.
        for shape in SHAPES:
            for who, address in addresses.items():
                progress(f"round {number} of {size.rounds}: {who}, {shape.id}")
                figures = _measure_turn(
                    address, shape, topics=size.topics, seconds=size.seconds
                )
                found[shape.id, who].append(figures)
    return found


def _measure_turn(
    address: Address, shape: Shape, *, topics: int, seconds: float
) -> dict[str, float]:
    words = [shape.connections, shape.outstanding, seconds, topics]
    command = ["bench.processes.namesrv_client", *map(str, (*address, *words))]
    run = subprocess.run(
        module_command(*command),
        capture_output=True,
        text=True,
        timeout=60 + seconds,
    )
    if run.returncode:
        raise NameServerBenchError(f"{address}: {run.stderr.strip()[-300:]}")
    figures: dict[str, float] = json.loads(run.stdout)
    return figures


@contextmanager
def _registered(
    addresses: dict[str, Address], size: Size
) -> Iterator[Callable[[], None]]:
    """Register all brokers everywhere; yields what gives another life sign."""
    topics = [TopicConfig(topic=topic_name(number)) for number in range(size.topics)]
    version = DataVersion(timestamp_ms=1_600_000_000_000, counter=1)
    table = TopicTable.of(*topics, version=version)
    body = encode_registration(RegistrationBody(topics=table), compressed=True)
    peers = [
        (Peer(address), _registration(number, body))
        for address in addresses.values()
        for number in range(size.brokers)
    ]

    def register() -> None:
        for peer, command in peers:
            require_success(peer.request(command, timeout_s=REGISTER_TIMEOUT_S))

    try:
        register()
        for address in addresses.values():
            _check(address, size)
        yield register
    finally:
        for peer, _ in peers:
            peer.close()


def _registration(number: int, body: bytes) -> Command:
    identity = BrokerIdentity(
        cluster="BenchCluster",
        broker_name=f"bench-broker-{number:02}",
        address=f"127.0.0.1:{20_000 + number}",
        ha_address=f"127.0.0.1:{30_000 + number}",
    )
    return Command(
        code=RequestCode.REGISTER_BROKER,
        fields=registration_fields(identity, body, compressed=True),
        body=body,
    )


def _check(address: Address, size: Size) -> None:
    """Make sure that the last topic has all brokers in its route."""
    with Client.connect(address) as client:
        route = decode_route(
            require_success(client.route(topic_name(size.topics - 1))).body
        )
    if len(route.broker_datas) != size.brokers:
        reason = f"{len(route.broker_datas)} brokers in a route, not {size.brokers}"
        raise NameServerBenchError(f"{address}: {reason}")


def _summary(shape: Shape, found: Found) -> ShapeRoutes:
    return ShapeRoutes(
        connections=shape.connections,
        outstanding=shape.outstanding,
        reference=_routes(found[shape.id, OURS]),
        apache=_routes(found[shape.id, THEIRS]),
    )


def _routes(rounds: list[dict[str, float]]) -> Routes:
    rates = [turn["responses"] / turn["seconds"] for turn in rounds]
    return Routes(
        routes_per_s=round(median(rates)),
        p50_ms=round(median(turn["p50_ms"] for turn in rounds), 3),
        p99_ms=round(median(turn["p99_ms"] for turn in rounds), 3),
        rounds=[round(rate) for rate in rates],
    )


def _goals(shape: Shape, found: Found) -> Iterator[Ratio]:
    """Yield the ratios of the routes a second and of the p99 times."""
    pairs = list(zip(found[shape.id, OURS], found[shape.id, THEIRS], strict=True))
    rates = [
        one["responses"] / one["seconds"] / (other["responses"] / other["seconds"])
        for one, other in pairs
    ]
    times = [other["p99_ms"] / one["p99_ms"] for one, other in pairs]
    for what, ratios in (("routes/s", rates), ("p99", times)):
        yield ratio_result(f"{what} x{shape.connections}", ratios, THEIRS, AT_LEAST)
