"""Resets of a group's offsets to a time, and the requests that its members get."""

from __future__ import annotations

import time

import pytest

from conformance.harness.client.client import (
    Client,
    consumer_data,
    require_success,
    subscription_data,
)
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_request,
    expect_that,
)
from conformance.harness.pytest_plugin.one_response import IN_TIME_S
from conformance.harness.targets.shared_target import SharedTarget
from conformance.messaging.stored_messages import mapping_of, send_apart
from spec.wire.bodies.fastjson import loads
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

RESET = RequestCode.RESET_CONSUMER_CLIENT_OFFSET
QUIET_S = 0.2


@pytest.mark.clause("OFFSET-RESET-001")
def test_a_reset_of_what_was_never_committed_is_refused(
    broker: Client, topic: str, known_group: str
) -> None:
    response = broker.reset_offset(group=known_group, topic=topic, timestamp_ms=1)
    expect(
        "OFFSET-RESET-001",
        found=response.code,
        expected=ResponseCode.SYSTEM_ERROR,
        what="code",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-RESET-002")
def test_a_reset_wants_a_member_of_the_group(
    broker: Client, topic: str, known_group: str
) -> None:
    for queue_id in range(4):
        require_success(
            broker.update_offset(
                group=known_group, topic=topic, queue_id=queue_id, offset=0
            )
        )
    response = broker.reset_offset(group=known_group, topic=topic, timestamp_ms=1)
    expect(
        "OFFSET-RESET-002",
        found=response.code,
        expected=ResponseCode.CONSUMER_NOT_ONLINE,
        what="code",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-RESET-003")
def test_a_reset_is_done_by_the_broker(
    broker: Client, topic: str, known_group: str
) -> None:
    times = send_apart(broker, topic, count=3)
    response = broker.reset_offset(
        group=known_group, topic=topic, timestamp_ms=times[1]
    )
    table = mapping_of(require_success(response))["offsetTable"]
    expect(
        "OFFSET-RESET-003",
        found={dict(queue)["queueId"]: offset for queue, offset in table.items()},
        expected={0: 1, 1: 0, 2: 0, 3: 0},
        what=f"offsets by queue, for the time of the second message of {times}",
        transcript=broker.transcript,
    )
    committed = require_success(broker.query_offset(group=known_group, topic=topic))
    expect(
        "OFFSET-RESET-003",
        found=committed.fields["offset"],
        expected="1",
        what="committed offset of queue 0 afterwards",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-RESET-006", "OFFSET-RESET-007")
@pytest.mark.parametrize("is_force", [True, False])
def test_members_get_the_offsets_of_a_reset(
    broker: Client, target: SharedTarget, topic: str, known_group: str, is_force: bool
) -> None:
    times = send_apart(broker, topic, count=4)
    for queue_id in range(4):
        require_success(
            broker.update_offset(
                group=known_group,
                topic=topic,
                queue_id=queue_id,
                offset=2 if queue_id == 0 else 0,
            )
        )
    consumer = consumer_data(
        group=known_group, subscriptions=[subscription_data(topic=topic)]
    )
    took_s: list[float] = []
    with broker.another() as first, broker.another() as second:
        for client in (first, second):
            client_id = f"{known_group}@{client.peer.local_address.port}"
            require_success(client.heartbeat(client_id=client_id, consumers=[consumer]))
        for at, offset in ((times[3], 3 if is_force else 2), (times[1], 1)):
            begun = time.monotonic()
            response = broker.reset_offset(
                group=known_group, topic=topic, timestamp_ms=at, force=is_force
            )
            expected = {
                (
                    ("brokerName", target.broker_name),
                    ("queueId", queue_id),
                    ("topic", topic),
                ): offset if queue_id == 0 else 0
                for queue_id in range(4)
            }
            expect(
                "OFFSET-RESET-007",
                found=mapping_of(require_success(response)),
                expected={"offsetTable": expected},
                what=f"response to a reset to {at} of {times}, isForce {is_force}",
                transcript=broker.transcript,
            )
            for client in (first, second):
                expect_reset(client, response, group=known_group, topic=topic, at=at)
            took_s.append(time.monotonic() - begun)
    expect_that(
        "OFFSET-RESET-006",
        min(took_s) < IN_TIME_S,
        found=f"{min(took_s):.1f} s",
        expected=f"less than {IN_TIME_S:g} s",
        what="time until both members have the reset",
        transcript=broker.transcript,
    )


def expect_reset(
    client: Client, response: Command, *, group: str, topic: str, at: int
) -> None:
    """Fail unless the member *client* gets, once, the table of the *response*."""
    request = expect_request("OFFSET-RESET-006", client, RESET)
    expect(
        "OFFSET-RESET-006",
        found=(request.is_oneway, loads(request.body)),
        expected=(True, mapping_of(response)),
        what="whether the request is oneway, and its body",
        transcript=client.transcript,
    )
    expect_fields(
        "OFFSET-RESET-006",
        found=request.fields,
        expected={"topic": topic, "group": group, "timestamp": str(at)},
        transcript=client.transcript,
    )
    others = [one.code for one in client.peer.receive_until_silent(QUIET_S)]
    expect(
        "OFFSET-RESET-006",
        found=others.count(RESET),
        expected=0,
        what="further requests of this reset",
        transcript=client.transcript,
    )
