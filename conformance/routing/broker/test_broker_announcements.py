"""Registrations of a broker: everything, to each name server, repeatedly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.client.lying_server import LyingServer
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import (
    OPTIONS,
    TargetStarter,
    another_target,
    create_topic,
    need,
)
from conformance.harness.pytest_plugin.known_settings import (
    configured,
    expect_default,
    need_reported,
)
from conformance.harness.targets.shared_target import SharedTarget
from conformance.harness.targets.target import Capability, Target
from conformance.routing.broker.fake_name_server import PATIENCE_S, FakeNameServer
from spec.clause import release_key
from spec.integers import body_crc
from spec.routing.broker_registration import RegistrationBody, decode_registration
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

pytestmark = pytest.mark.long

OFTEN = {"registerNameServerPeriod": "1000", "compressedRegister": "false"}
"""The broker makes the period the shortest that there is."""
ZLIB_START = b"x"
RUNNING_PATIENCE_S = 180.0
"""More than 120 seconds, after which a running broker reads its name servers again, and
30 seconds, after which it registers (updateNameServerAddrPeriod,
registerNameServerPeriod)."""
AT_ONCE_S = 7.0
"""Less than that period, which is 10 seconds."""
LEAST_INTERVAL_S = 5.0
"""Less than that period by the delay of an earlier registration on a busy machine."""
ITS_OWN_TOPICS = ("SELF_TEST_TOPIC", "TBW102", "BenchmarkTest")


@pytest.fixture(scope="module")
def listener(target: SharedTarget) -> Iterator[FakeNameServer]:
    """Yield a name server that records its requests."""
    is_own = Capability.CONFIG in target.capabilities
    with FakeNameServer(PATIENCE_S if is_own else RUNNING_PATIENCE_S) as started:
        yield started


@pytest.fixture(scope="module")
def talker(
    pytestconfig: pytest.Config, target: SharedTarget, listener: FakeNameServer
) -> Iterator[Target]:
    """Yield a target whose broker also registers with the listener.

    From 5.0 on a running broker reads its name servers again every two minutes.
    """
    is_5 = release_key(target.release) >= (5,)
    is_here = target.broker is not None and target.broker.host == listener.address.host
    if Capability.CONFIG in target.capabilities:
        conf = {**OFTEN, "namesrvAddr": str(listener.address)}
        with another_target(pytestconfig, conf) as own:
            yield own
    elif is_5 and is_here and pytestconfig.stash[OPTIONS].may_configure:
        addresses = f"{target.namesrv};{listener.address}"
        with configured(target, {"namesrvAddr": addresses}):
            yield target
    else:
        need(target, Capability.WIRE, Capability.CONFIG)


def content(registration: Command) -> RegistrationBody:
    """Return the decoded body of a registration."""
    return decode_registration(
        registration.body, compressed=is_compressed(registration)
    )


def names(registration: Command) -> set[str]:
    """Return the topics that a registration has."""
    return set(content(registration).topics.topics)


def identity(target: Target) -> dict[str, object]:
    """Return the header fields that name the target's broker."""
    return {
        "brokerName": target.broker_name,
        "clusterName": target.cluster,
        "brokerId": "0",
        "brokerAddr": str(target.broker),
    }


@pytest.mark.clause(
    "ROUTE-OUTERAPI-001",
    "ROUTE-OUTERAPI-002",
    "ROUTE-OUTERAPI-003",
    "ROUTE-OUTERAPI-004",
)
def test_a_broker_that_starts_tells_every_name_server_all(
    talker: Target, listener: FakeNameServer
) -> None:
    first = listener.wait_for(what="the broker registers with both name servers")
    expect_fields("ROUTE-OUTERAPI-002", found=first.fields, expected=identity(talker))
    with talker.connect_to_broker() as broker:
        own_host = broker.broker_settings().get("brokerIP2", "127.0.0.1")
    ha_host = first.fields.get("haServerAddr", "").rpartition(":")[0]
    expect("ROUTE-OUTERAPI-002", found=ha_host, expected=own_host, what="haServerAddr")
    expect(
        "ROUTE-OUTERAPI-003",
        found=first.fields.get("bodyCrc32"),
        expected=str(body_crc(first.body)),
        what="bodyCrc32",
    )
    own = {*ITS_OWN_TOPICS, talker.broker_name, talker.cluster}
    lacking = own - names(first)
    expect("ROUTE-OUTERAPI-004", found=lacking, expected=set(), what="topics that lack")
    changed_ms = content(first).topics.version.timestamp_ms
    expect_that(
        "ROUTE-OUTERAPI-004",
        changed_ms > 0,
        found=changed_ms,
        expected="a data version with a time",
    )


@pytest.mark.clause("ROUTE-OUTERAPI-013")
def test_slaves_are_told_the_port_for_them(
    talker: Target, listener: FakeNameServer
) -> None:
    first = listener.wait_for(what="the broker registers")
    with talker.connect_to_broker() as broker:
        settings = broker.broker_settings()
    need_reported(["haListenPort"], settings)
    expect(
        "ROUTE-OUTERAPI-013",
        found=first.fields.get("haServerAddr", "").rpartition(":")[2],
        expected=settings["haListenPort"],
        what="port of haServerAddr",
    )


@pytest.mark.clause("ROUTE-OUTERAPI-014")
@pytest.mark.needs(Capability.CONFIG)
def test_a_deaf_name_server_holds_nobody_up(
    start_target: TargetStarter, unique: Callable[[str], str]
) -> None:
    with LyingServer(lambda _: None) as deaf:
        conf = {"namesrvAddr": str(deaf.address), "registerBrokerTimeoutMills": "1000"}
        own = start_target(conf)
        topic = unique("topic")
        with own.connect_to_broker() as broker, own.connect_to_namesrv() as namesrv:
            response = broker.create_topic(topic=topic)
            namesrv.wait_for_route(topic)
    expect(
        "ROUTE-OUTERAPI-014",
        found=response.code,
        expected=0,
        what="code",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ROUTE-OUTERAPI-005")
def test_a_new_topic_is_told_at_once(
    talker: Target, listener: FakeNameServer, unique: Callable[[str], str]
) -> None:
    for _ in range(2):  # the first may happen to come just when it is time anyway
        seen, began_s = len(listener.received()), monotonic()
        topic = create_topic(talker, unique("topic"), queue_count=3)
        registration = listener.wait_for(
            has_topic(topic), what=f"{topic} is registered", after=seen
        )
        took_s = monotonic() - began_s
    config = content(registration).topics.topics[topic]
    expect(
        "ROUTE-OUTERAPI-005",
        found=(config.read_queue_count, config.write_queue_count),
        expected=(3, 3),
        what="queues of the new topic",
    )
    expect_that(
        "ROUTE-OUTERAPI-005",
        took_s < AT_ONCE_S,
        found=f"after {took_s:.1f} s",
        expected="before it is time for the next registration",
        what="when the topic was registered",
    )


def has_topic(topic: str) -> Callable[[Command], bool]:
    """Return a predicate for registrations that contain *topic*."""
    return lambda registration: topic in names(registration)


@pytest.fixture
def compressing(talker: Target) -> Iterator[Client]:
    """Yield a connection to the broker, whose registrations are compressed now."""
    with talker.connect_to_broker() as broker:
        require_success(broker.update_broker_config({"compressedRegister": "true"}))
        yield broker
        require_success(broker.update_broker_config({"compressedRegister": "false"}))


def is_compressed(registration: Command) -> bool:
    """Return whether a registration's body is a zlib stream; its header is ignored."""
    return registration.body[:1] == ZLIB_START


@pytest.mark.clause("ROUTE-OUTERAPI-007")
def test_a_registration_is_compressed_if_wanted(
    compressing: Client, listener: FakeNameServer, unique: Callable[[str], str]
) -> None:
    topic = unique("topic")
    seen = len(listener.received())
    require_success(compressing.create_topic(topic=topic))
    registration = listener.wait_for(
        is_compressed, what="a compressed body", after=seen
    )
    expect(
        "ROUTE-OUTERAPI-007",
        found=(registration.fields.get("compressed"), topic in names(registration)),
        expected=("true", True),
        what="compressed, and whether the new topic is in the body",
    )


@pytest.mark.clause("ROUTE-OUTERAPI-012")
def test_a_compressed_registration_says_that_it_is_not(
    compressing: Client, listener: FakeNameServer, unique: Callable[[str], str]
) -> None:
    seen = len(listener.received())
    require_success(compressing.create_topic(topic=unique("topic")))
    registration = listener.wait_for(
        is_compressed, what="a compressed body", after=seen
    )
    found = registration.fields.get("compressed")
    expect("ROUTE-OUTERAPI-012", found=found, expected="false", what="compressed")


@pytest.mark.clause("ROUTE-OUTERAPI-008")
def test_a_broker_registers_again_when_nothing_changes(
    talker: Target, listener: FakeNameServer
) -> None:
    own = {talker.broker_name, *ITS_OWN_TOPICS}
    seen, moments_s = len(listener.received()), []
    for _ in range(2):
        again = listener.wait_for(
            lambda found: own <= names(found),
            what="the broker registers again after 10000 ms",
            after=seen,
        )
        moments_s.append(monotonic())
        seen = len(listener.received())
    expect_fields("ROUTE-OUTERAPI-008", found=again.fields, expected=identity(talker))
    interval_s = moments_s[1] - moments_s[0]
    expect_that(
        "ROUTE-OUTERAPI-008",
        interval_s > LEAST_INTERVAL_S,
        found=f"{interval_s:.1f} s",
        expected="10 s, or more after a late one",
        what="time between two registrations",
    )


@pytest.mark.clause("ROUTE-OUTERAPI-006")
@pytest.mark.needs(Capability.CONFIG)
def test_a_broker_that_stops_says_goodbye(start_target: TargetStarter) -> None:
    with FakeNameServer() as listener:
        own = start_target({"namesrvAddr": str(listener.address)})
        listener.wait_for(what="the broker registers")
        own.stop()
        goodbye = listener.wait_for(
            what="the broker unregisters", code=RequestCode.UNREGISTER_BROKER
        )
    expect_fields("ROUTE-OUTERAPI-006", found=goodbye.fields, expected=identity(own))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param(
            "registerNameServerPeriod",
            "30000",
            marks=pytest.mark.clause("ROUTE-OUTERAPI-009"),
        ),
        pytest.param(
            "forceRegister", "true", marks=pytest.mark.clause("ROUTE-OUTERAPI-011")
        ),
        pytest.param(
            "compressedRegister",
            "false",
            marks=pytest.mark.clause("ROUTE-OUTERAPI-011"),
        ),
    ],
)
def test_a_brokers_settings_say_how_it_registers(
    broker: Client,
    target: SharedTarget,
    name: str,
    value: str,
    request: pytest.FixtureRequest,
) -> None:
    clause = request.node.get_closest_marker("clause").args[0]
    expect_default(clause, broker, target, name, value)
