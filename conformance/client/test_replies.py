"""What a client does with a reply that nobody waits for."""

from __future__ import annotations

import zlib

import pytest

from conformance.client.application import Application
from conformance.client.broker import Broker
from conformance.client.player import Asked
from conformance.client.questions import answer_to
from conformance.harness.fixtures import unique_name
from conformance.harness.verdicts import expect
from spec.store.message_record import SystemFlag
from spec.wire.command import Command
from spec.wire.properties import encode_properties
from spec.wire.request_code import RequestCode


def pushed(
    asked: Asked, *, body: bytes = b"reply", flags: int = 0, host_prefix: str = ""
) -> Command:
    """Push a reply that nobody waits for, and return the client's answer."""
    fields = {
        "producerGroup": "g",
        "topic": "DefaultCluster_REPLY_TOPIC",
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": "4",
        "queueId": "0",
        "sysFlag": str(int(flags)),
        "bornTimestamp": "1600000000000",
        "flag": "0",
        "properties": encode_properties({"CORRELATION_ID": unique_name("id")}),
        "reconsumeTimes": "0",
        "unitMode": "false",
        "bornHost": f"{host_prefix}127.0.0.1:1",
        "storeHost": f"{host_prefix}{asked.player.address}",
        "storeTimestamp": "1600000000001",
    }
    return answer_to(asked, RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT, fields, body)


@pytest.mark.clause("CLIENT-REQUEST-006")
@pytest.mark.parametrize("is_compressed", [False, True])
def test_a_reply_that_nobody_waits_for_is_taken(
    application: Application, broker: Broker, topic: str, is_compressed: bool
) -> None:
    application.producer().send(topic)
    body = zlib.compress(b"reply") if is_compressed else b"reply"
    flags = SystemFlag.COMPRESSED if is_compressed else 0
    answer = pushed(broker.sends[0], body=body, flags=flags)
    expect("CLIENT-REQUEST-006", found=answer.code, expected=0, what="code")


@pytest.mark.clause("CLIENT-REQUEST-009")
def test_a_reply_of_hosts_as_old_brokers_write_them_is_taken(
    application: Application, broker: Broker, topic: str
) -> None:
    application.producer().send(topic)
    answer = pushed(broker.sends[0], host_prefix="/")
    expect("CLIENT-REQUEST-009", found=answer.code, expected=0, what="code")
