"""
Clusters whose parts are of different make: name servers and brokers, ours and real.

Any broker may register with any name server, and a client should not notice. The parts
are started one by one here, and clients of a real release use what they form: the
quick start's Producer and Consumer, which know nothing but addresses of name servers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from conformance.harness.address import Address
from conformance.harness.apache import ApacheCluster
from conformance.harness.cluster_info import broker_addresses
from conformance.harness.deadline import wait_until
from conformance.harness.speaker import Speaker, body_of, succeeded
from conformance.harness.target import Target, parse_target
from conformance.interop.java_client import JavaClient
from conformance.interop.printed import Printed, sent_messages
from conformance.interop.test_quick_start import CONSUMER_DEADLINE_S, MESSAGES

OURS = "ours"
"""In place of a release: the reference."""

LOST_SENDS: Mapping[str, int] = {"4.6.0": 0, "5.3.3": 1}
"""
How many sends may fail while one of two name servers is gone, by release of the client.

A client of 4.6.0 tries every name server before it gives a call up; one of 5.3.3 tries
one, and another only at its next call, so that it may lose its first send.
[CLIENT-NAMESRV-001] [CLIENT-NAMESRV-002]
"""

QUEUE_COUNT = 4
SOON_S = 45.0
"""A real broker registers every ten seconds at best; the machine may be busy."""


class NameServer(Protocol):
    """A name server that a test may kill and start again where it was."""

    @property
    def address(self) -> Address:
        """Where it listens."""

    def start(self) -> None:
        """Serve; return when it does."""

    def kill(self) -> None:
        """End at once."""


class OurNameServer:
    """The reference; its own broker is there too, and is given no topics."""

    def __init__(self, target: Target) -> None:
        self._target = target

    @property
    def address(self) -> Address:
        """Where it listens, as soon as it has been started."""
        assert self._target.namesrv is not None
        return self._target.namesrv

    def start(self) -> None:
        """Serve; return when it does."""
        self._target.start()

    def kill(self) -> None:
        """End at once."""
        self._target.kill()


class RealNameServer:
    """The name server of a real release, alone."""

    def __init__(self, cluster: ApacheCluster) -> None:
        self._cluster = cluster

    @property
    def address(self) -> Address:
        """Where it listens."""
        return self._cluster.namesrv

    def start(self) -> None:
        """Serve; return when it does."""
        self._cluster.start(broker=False)

    def kill(self) -> None:
        """End at once."""
        self._cluster.kill()


@contextlib.contextmanager
def name_server(make: str, directory: Path) -> Iterator[NameServer]:
    """Run the name server of a release, or ours."""
    one: NameServer
    with contextlib.ExitStack() as ending:
        if make == OURS:
            target = parse_target("embedded:", conf={"brokerName": "broker-unused"})
            ending.callback(target.close)
            one = OurNameServer(target)
        else:
            home = directory / f"name-server-{make}"
            home.mkdir()
            cluster = ApacheCluster(make, directory=home)
            ending.callback(cluster.close)
            one = RealNameServer(cluster)
        one.start()
        yield one


@contextlib.contextmanager
def broker(
    make: str, name_servers: Sequence[Address], directory: Path
) -> Iterator[Address]:
    """Run the broker of a release, or ours; it has registered with *name_servers*."""
    conf = {"brokerName": broker_name(make), "registerNameServerPeriod": "10000"}
    with contextlib.ExitStack() as ending:
        if make == OURS:
            conf["namesrvAddr"] = ";".join(map(str, name_servers))
            target = ending.enter_context(parse_target("embedded:", conf=conf))
            assert target.broker is not None
            address = target.broker
        else:
            home = directory / f"broker-{make}"
            home.mkdir()
            cluster = ApacheCluster(
                make, directory=home, conf=conf, name_servers=name_servers
            )
            ending.callback(cluster.close)
            cluster.start()
            address = cluster.broker
        for one in name_servers:
            wait_until_known(address, one)
        yield address


def broker_name(make: str) -> str:
    """Return the name of a broker of that make."""
    return f"broker-{make.replace('.', '-')}"


def wait_until_known(broker: Address, name_server: Address) -> None:
    """Wait until a name server lists a broker."""
    wait_until(
        lambda: str(broker) in broker_addresses(name_server),
        what=f"the name server at {name_server} lists the broker at {broker}",
        timeout_s=SOON_S,
    )


def create_topic(
    topic: str, brokers: Mapping[str, Address], name_servers: Sequence[Address]
) -> None:
    """Create *topic* at all *brokers*; wait until all *name_servers* say so."""
    for address in brokers.values():
        with Speaker.connect(address) as speaker:
            succeeded(speaker.create_topic(topic=topic, queue_count=QUEUE_COUNT))
    for one in name_servers:
        wait_for_route(topic, brokers, one)


def wait_for_route(
    topic: str, brokers: Mapping[str, Address], name_server: Address
) -> None:
    """Wait until a name server routes *topic* to exactly *brokers*, by name."""
    wanted = {name: str(address) for name, address in brokers.items()}
    with Speaker.connect(name_server) as speaker:
        wait_until(
            lambda: masters_of(speaker, topic) == wanted,
            what=f"the name server at {name_server} routes {topic} to {wanted}",
            timeout_s=SOON_S,
        )


def masters_of(speaker: Speaker, topic: str) -> dict[str, str]:
    """Return name and address of each master that a topic is routed to."""
    answer = speaker.route(topic)
    if answer.code != 0:
        return {}
    body = body_of(answer)
    assert isinstance(body, dict)
    return {
        one["brokerName"]: address
        for one in body["brokerDatas"]
        for number, address in one["brokerAddrs"].items()
        if str(number) == "0"
    }


def produce_to(
    client: JavaClient, brokers: Mapping[str, Address], *, lost: int = 0
) -> list[Printed]:
    """
    Run the Producer to its end; it must have used every queue of *brokers*.

    All but *lost* of its sends must have succeeded.
    """
    producer = client.run_example("Producer")
    assert producer.wait_end(deadline_s=CONSUMER_DEADLINE_S) == 0, producer.log_tail()
    sent = sent_messages(producer.output())
    assert {one.status for one in sent} == {"SEND_OK"}, producer.log_tail()
    assert MESSAGES - lost <= len(sent) <= MESSAGES, producer.log_tail()
    assert {(one.broker_name, one.queue_id) for one in sent} == {
        (name, queue_id) for name in brokers for queue_id in range(QUEUE_COUNT)
    }
    return sent
