"""
The first thing that anybody runs: the quick start's Producer and Consumer, unmodified.

Topic and groups are fixed by the example, so each run has a cluster to itself: a fresh
one of the kind under examination.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.harness.client.client import Client
from conformance.harness.process.deadline import wait_until
from conformance.harness.targets.target import Target, parse_target
from conformance.interop.clients.quick_start import (
    CONSUMER_DEADLINE_S,
    MESSAGES,
    TOPIC,
    consume,
)
from conformance.interop.java.client import JavaClient
from conformance.interop.programs.program_output import Printed, sent_messages

GROUP = "please_rename_unique_group_name_4"
QUEUES = range(4)
TARGETS = ("embedded:", "jvm:4.6.0")
CLIENTS = ("4.6.0", "5.3.3")


@pytest.fixture(params=TARGETS)
def private_target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """Return a started target for one test only."""
    with parse_target(request.param) as target:
        yield target


@pytest.fixture(params=CLIENTS)
def client(
    request: pytest.FixtureRequest, private_target: Target, tmp_path: Path
) -> JavaClient:
    """Return the Java client of a release, pointed at the target."""
    namesrv = private_target.namesrv
    assert namesrv is not None
    return JavaClient(release=request.param, namesrv=namesrv, directory=tmp_path)


def test_the_unmodified_quick_start_delivers_each_message_once(
    private_target: Target, client: JavaClient
) -> None:
    sent = produce(client)

    consumer = client.run_example("Consumer")
    received = consume(consumer, sent)
    wait_for_commit(private_target, sent)
    consumer.terminate()

    assert Counter(message.body for message in received) == Counter(
        f"Hello RocketMQ {number}".encode() for number in range(MESSAGES)
    )
    assert positions(received) == positions(sent)

    sent_later = produce(client)
    restarted = client.run_example("Consumer")
    received_later = consume(restarted, sent_later)
    restarted.terminate()
    assert positions(received_later) == positions(sent_later)


def produce(client: JavaClient) -> list[Printed]:
    """Run the example's producer to its end; every send must have require_success."""
    producer = client.run_example("Producer")
    assert producer.wait_end(deadline_s=CONSUMER_DEADLINE_S) == 0, producer.output()
    sent = sent_messages(producer.output())
    assert Counter(message.status for message in sent) == {"SEND_OK": MESSAGES}, (
        producer.log_tail()
    )
    return sent


def wait_for_commit(target: Target, sent: list[Printed]) -> None:
    """Wait until the group has committed everything that was *sent*.

    The example has no orderly end; its client commits every five seconds.
    """
    assert target.broker is not None
    with Client.connect(target.broker) as broker:
        for queue_id in QUEUES:
            end = 1 + max(m.queue_offset for m in sent if m.queue_id == queue_id)
            wait_until(
                functools.partial(is_committed, broker, queue_id, end),
                what=f"queue {queue_id} of {TOPIC} is committed up to {end}",
                timeout_s=30,
            )


def is_committed(broker: Client, queue_id: int, end: int) -> bool:
    """Return whether the example's group has committed *end*."""
    response = broker.query_offset(group=GROUP, topic=TOPIC, queue_id=queue_id)
    return response.fields.get("offset") == str(end)


def positions(messages: list[Printed]) -> list[tuple[int, int, str]]:
    """Return queue, offset and unique key of each message, sorted."""
    return sorted((m.queue_id, m.queue_offset, m.unique_key) for m in messages)
