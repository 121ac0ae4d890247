"""Requests of many tests are those of real clients.

A peer that differs only from an unusual request fails the clause about it, not all.
"""

from __future__ import annotations

import json
from pathlib import Path

from conformance.harness.client.client import Client
from conformance.harness.client.lying_server import LyingServer, honest
from spec.wire.remoting.command import Command

SENDS = Path(__file__).parents[2] / "messaging" / "send"


def test_a_group_is_created_with_all_its_settings() -> None:
    bodies: list[bytes] = []

    def response(request: Command) -> bytes:
        bodies.append(request.body)
        return honest(request)

    with LyingServer(response) as server, Client.connect(server.address) as broker:
        broker.update_group(group="g", settings={"retryMaxTimes": 5})
    (body,) = bodies
    assert json.loads(body) == {
        "groupName": "g",
        "consumeEnable": True,
        "consumeFromMinEnable": True,
        "consumeBroadcastEnable": True,
        "retryQueueNums": 1,
        "retryMaxTimes": 5,
        "brokerId": 0,
        "whichBrokerWhenConsumeSlowly": 1,
        "notifyConsumerIdsChangedEnable": True,
    }


def test_only_tests_of_batches_send_the_code_of_batches() -> None:
    files = {
        one.name
        for one in SENDS.glob("test_*.py")
        if "RequestCode.SEND_BATCH_MESSAGE" in one.read_text(encoding="utf-8")
    }
    assert files == {"test_batch.py", "test_batch_rules.py"}
