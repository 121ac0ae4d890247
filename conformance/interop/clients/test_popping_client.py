"""
Java clients pop from real brokers, and the brokers' stores are intact afterwards.

The broker assigns the queues with the mode POP. A message that fails once is popped
again, and the group's committed offset is behind the last message.
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.targets.client_adapter import Adapter, Line
from conformance.harness.targets.target import Target, parse_target
from conformance.interop.handover.handover import client_of, target_text
from conformance.interop.stores.settings import PROMPT, SMALL_FILES
from conformance.interop.tools.audit_command import audited, finding_lines
from rocketmq_conformance.paths import module_command
from spec.wire.pop.pop_bodies import SetMessageRequestModeRequestBody
from spec.wire.pop.pop_receipt import decode_receipt

RELEASES = ("5.3.3", "5.4.0")
TOPIC, GROUP, QUEUES, SENT = "Popped", "popping", 2, 6
FAILING = "k3"
CONF = {**SMALL_FILES, **PROMPT, "reviveInterval": "500"}
PATIENCE_S = 120.0
CELLS = list(itertools.product(RELEASES, RELEASES))
"""Releases of the broker and of the client."""


@pytest.fixture
def adapter(request: pytest.FixtureRequest) -> Iterator[Adapter]:
    """Yield the adapter of the Java client of a release."""
    words = module_command("conformance.client.adapters.java", request.param)
    made = Adapter(shlex.join(words))
    yield made
    made.close()


@pytest.mark.parametrize(
    ("release", "adapter"), CELLS, indirect=["adapter"], ids=lambda one: one
)
def test_a_java_consumer_pops_all_messages_of_a_broker(
    release: str, adapter: Adapter, tmp_path: Path
) -> None:
    target = parse_target(target_text(release), conf=CONF, store=tmp_path)
    with target, client_of(target) as broker:
        _prepare(broker)
        _start_consumer(adapter, target)
        adapter.wait_until(
            lambda: len(_deliveries(adapter)) > SENT,
            what="the failed message again",
            timeout_s=PATIENCE_S,
        )
        found = _deliveries(adapter)
        counts = sorted((one["keys"], one["reconsume_times"]) for one in found)
        every = [(f"k{number}", 0) for number in range(SENT)]
        assert counts == sorted([*every, (FAILING, 1)])
        for one in found:
            receipt = decode_receipt(one["properties"]["POP_CK"])
            assert receipt.topic_kind == str(one["reconsume_times"])
        _wait_for_commits(broker)
        adapter.call("stop", name="consumer").wait()
        target.stop()
    (audit,) = audited(tmp_path)
    assert finding_lines(audit) == []


def _prepare(broker: Client) -> None:
    """Create topic and group, let the group pop, and send messages."""
    require_success(broker.create_topic(topic=TOPIC, queue_count=QUEUES))
    require_success(broker.update_group(group=GROUP))
    mode = SetMessageRequestModeRequestBody(topic=TOPIC, group=GROUP, mode="POP")
    require_success(broker.set_request_mode(mode))
    for number in range(SENT):
        sent = broker.send_message(
            topic=TOPIC,
            queue_id=number % QUEUES,
            body=b"%d" % number,
            properties={"KEYS": f"k{number}"},
        )
        require_success(sent)


def _start_consumer(adapter: Adapter, target: Target) -> None:
    """Start a consumer that fails on one message once."""
    response = adapter.call(
        "consumer",
        name="consumer",
        kind="push",
        namesrv=str(target.namesrv),
        group=GROUP,
        model="clustering",
        order="concurrent",
        **{"from": "first"},
        subscriptions=[{"topic": TOPIC, "expression": "*"}],
        outcomes={FAILING: ["later"]},
        options={"client_rebalance": False},
    ).wait()
    assert "result" in response, response


def _deliveries(adapter: Adapter) -> list[Line]:
    """Return the messages that the listener received."""
    return [one["message"] for one in adapter.events if one["event"] == "message"]


def _wait_for_commits(broker: Client) -> None:
    """Wait until the group has committed the end of each queue."""

    def committed() -> list[str | None]:
        responses = [
            broker.query_offset(group=GROUP, topic=TOPIC, queue_id=queue_id)
            for queue_id in range(QUEUES)
        ]
        return [one.fields.get("offset") for one in responses]

    ends: list[str | None] = [str(SENT // QUEUES)] * QUEUES
    wait_until(
        lambda: committed() == ends,
        what="every message is acknowledged",
        timeout_s=PATIENCE_S,
    )
