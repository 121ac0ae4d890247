"""The broker that the suite for clients plays: it accepts what a broker accepts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from conformance.client.scripted.scripted_broker import (
    locked_names,
    members_of_heartbeat,
)
from conformance.client.scripted.scripted_server import ReceivedRequest
from spec.wire.remoting.command import Command

OF_CPP = (
    b'{"clientID":"7-127.0.0.1@A","consumerDataSet":[{"consumeFromWhere":4,'
    b'"consumeType":1,"groupName":"g","messageModel":1,"subscriptionDataSet":'
    b'[{"subString":"*","subVersion":"1795777316240","topic":"T"}]}]}\n'
)
"""The C++ client writes enumerations as numbers (HeartbeatData.h#ConsumerData)."""


def test_a_heartbeat_with_numbers_for_enumerations_has_members() -> None:
    assert members_of_heartbeat(OF_CPP) == ("7-127.0.0.1@A", ["g"])


@pytest.mark.parametrize("body", [b"", b"[]", b'{"consumerDataSet": 1}'])
def test_a_heartbeat_that_cannot_be_read_has_no_members(body: bytes) -> None:
    assert members_of_heartbeat(body) == ("", [])


def test_a_request_to_unlock_without_queues_has_none() -> None:
    body = b'{"clientId":"7-127.0.0.1@A","consumerGroup":"g"}\n'
    request = SimpleNamespace(command=Command(code=42, body=body))
    assert locked_names(cast("ReceivedRequest", request)) == []
