"""Replies: passed on to the client that waits for one, and stored as well."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.harness.blocked.skips import not_applicable
from conformance.harness.client.address import in_one_form
from conformance.harness.client.client import Client, require_success
from conformance.harness.client.transcript import Transcript
from conformance.harness.header_tables import known_codes
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_fields,
    expect_that,
)
from conformance.harness.pytest_plugin.known_settings import fields_of_region
from conformance.harness.pytest_plugin.one_response import responses_in_time
from conformance.harness.targets.target import Target
from conformance.messaging.stored_messages import record_of
from spec.host import Host
from spec.store.message_record import SystemFlag
from spec.wire.message.message_id import decode_message_id
from spec.wire.message.properties import decode_properties, encode_properties
from spec.wire.remoting.command import Command, CommandFlag
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

PUSH = RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT
QUIET_S = 0.2
CODES = (RequestCode.SEND_REPLY_MESSAGE, RequestCode.SEND_REPLY_MESSAGE_V2)


@pytest.fixture(autouse=True)
def _is_known(target: Target) -> None:
    """End a test of a release without these requests: before 4.6.0."""
    if not known_codes(target.release).issuperset(CODES):
        not_applicable(f"{target.release} has no SEND_REPLY_MESSAGE")


def reply_request(
    topic: str, client_id: str | None, *, code: RequestCode, system_flags: int = 0
) -> Command:
    """Return the request that sends a reply for the client of an id."""
    properties = {"CORRELATION_ID": "c-1", "own": "ä"}
    if client_id is not None:
        properties["REPLY_TO_CLIENT"] = client_id
    values = {
        "producerGroup": "repliers",
        "topic": topic,
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": "4",
        "queueId": "2",
        "sysFlag": str(system_flags),
        "bornTimestamp": "99",
        "flag": "5",
        "properties": encode_properties(properties),
        "reconsumeTimes": "0",
        "unitMode": "true",
    }
    if code == RequestCode.SEND_REPLY_MESSAGE_V2:
        values = dict(zip("abcdefghijk", values.values(), strict=True))
    return Command(code=code, fields=values, body=b"the reply")


def replied(
    broker: Client,
    topic: str,
    *,
    code: RequestCode = RequestCode.SEND_REPLY_MESSAGE,
    verdict: int = ResponseCode.SUCCESS,
    system_flags: int = 0,
) -> tuple[Command, Command, Transcript]:
    """Send a reply to a client that responds with *verdict*.

    Return what the client was sent, the response, and the conversation with the client.
    """
    client_id = f"client_of_{topic}"
    with broker.another() as client:
        require_success(
            client.heartbeat(client_id=client_id, producer_groups=["askers"])
        )
        request = broker.peer.send(
            reply_request(topic, client_id, code=code, system_flags=system_flags)
        )
        pushed = client.peer.receive_request(PUSH)
        client.peer.send(
            Command(code=verdict, opaque=pushed.opaque, flag=CommandFlag.RESPONSE)
        )
        response = broker.peer.receive_response(request.opaque)
        others = [one.code for one in client.peer.receive_until_silent(QUIET_S)]
        expect(
            "SEND-REPLY-001",
            found=others.count(PUSH),
            expected=0,
            what="further pushes of the reply",
            transcript=client.transcript,
        )
        return pushed, response, client.transcript


@pytest.mark.clause(
    "SEND-REPLY-001", "SEND-REPLY-002", "SEND-REPLY-003", "SEND-RESPONSE-005"
)
@pytest.mark.parametrize("code", CODES)
def test_a_reply_reaches_its_client(
    target: Target, broker: Client, topic: str, code: RequestCode
) -> None:
    before_ms = record_of(broker, broker.send_message(topic=topic)).stored_at_ms
    pushed, response, pushes = replied(broker, topic, code=code)
    after_ms = record_of(broker, broker.send_message(topic=topic)).stored_at_ms
    expect(
        "SEND-REPLY-001",
        found=pushed.body,
        expected=b"the reply",
        what="body",
        transcript=pushes,
    )
    expect_fields(
        "SEND-REPLY-002",
        found=pushed.fields,
        expected={
            "topic": topic,
            "queueId": "2",
            "flag": "5",
            "bornTimestamp": "99",
            "producerGroup": "repliers",
            "sysFlag": "0",
            "reconsumeTimes": "0",
            "unitMode": "true",
            "defaultTopic": "TBW102",
            "defaultTopicQueueNums": "4",
        },
        transcript=pushes,
    )
    properties = decode_properties(pushed.fields["properties"])
    expect_fields(
        "SEND-REPLY-002",
        found=properties,
        expected={
            "own": "ä",
            "CORRELATION_ID": "c-1",
            "REPLY_TO_CLIENT": f"client_of_{topic}",
        },
        transcript=pushes,
    )
    expect(
        "SEND-REPLY-002",
        found="PUSH_REPLY_TIME" in properties,
        expected=True,
        what="whether PUSH_REPLY_TIME was added",
        transcript=pushes,
    )
    expect_code("SEND-REPLY-003", response, ResponseCode.SUCCESS, broker.transcript)
    expect_fields(
        "SEND-RESPONSE-005",
        found=response.fields,
        expected=fields_of_region(target),
        transcript=broker.transcript,
    )
    relayed_ms = int(properties["PUSH_REPLY_TIME"])
    stored_ms = int(pushed.fields.get("storeTimestamp") or 0)
    expect_that(
        "SEND-REPLY-002",
        before_ms <= stored_ms <= relayed_ms <= after_ms,
        found=(stored_ms, relayed_ms),
        expected=f"in this order, from {before_ms} to {after_ms}",
        what="storeTimestamp and PUSH_REPLY_TIME, among store times",
        transcript=pushes,
    )


@pytest.mark.clause("WIRE-COMMAND-012")
@pytest.mark.parametrize("code", CODES)
def test_a_reply_is_pushed_in_time(
    broker: Client, topic: str, code: RequestCode
) -> None:
    sends = {code.name: lambda: replied(broker, topic, code=code)[1]}
    responses_in_time("WIRE-COMMAND-012", broker, sends)


@pytest.mark.clause("SEND-REPLY-003")
def test_a_reply_that_its_client_refuses_is_an_error(
    broker: Client, topic: str
) -> None:
    _, response, _ = replied(broker, topic, verdict=ResponseCode.SYSTEM_ERROR)
    found = response.code
    expect(
        "SEND-REPLY-003",
        found=found,
        expected=1,
        what="code",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-REPLY-004", "SEND-REPLY-005")
@pytest.mark.parametrize("client_id", ["nobody", None])
@pytest.mark.settings(storeReplyMessageEnable="true")
def test_a_reply_to_nobody_is_refused_and_stored(
    broker: Client, topic: str, client_id: str | None
) -> None:
    code = RequestCode.SEND_REPLY_MESSAGE
    response = broker.peer.request(reply_request(topic, client_id, code=code))
    expect_code(
        "SEND-REPLY-004", response, ResponseCode.SYSTEM_ERROR, broker.transcript
    )
    broker.wait_for_max_offset(topic=topic, queue_id=2, offset=1)


@pytest.mark.clause("SEND-REPLY-005")
@pytest.mark.parametrize("code", CODES)
@pytest.mark.settings(storeReplyMessageEnable="true")
def test_a_reply_is_stored_too(broker: Client, topic: str, code: RequestCode) -> None:
    _, response, _ = replied(broker, topic, code=code)
    record = record_of(broker, response)
    expect(
        "SEND-REPLY-005",
        found=(record.topic, record.queue_id, record.body, record.flag),
        expected=(topic, 2, b"the reply", 5),
        what="topic, queue, body and flag of the record",
        transcript=broker.transcript,
    )
    expect_fields(
        "SEND-REPLY-005",
        found=response.fields,
        expected={"queueId": "2", "queueOffset": str(record.queue_offset)},
        transcript=broker.transcript,
    )
    expect_fields(
        "SEND-REPLY-005",
        found=decode_properties(record.properties),
        expected={
            "own": "ä",
            "REPLY_TO_CLIENT": f"client_of_{topic}",
            "CORRELATION_ID": "c-1",
        },
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-REPLY-008")
@pytest.mark.settings(storeReplyMessageEnable="true")
def test_a_stored_reply_has_no_flags(broker: Client, topic: str) -> None:
    flags = int(SystemFlag.COMPRESSED)
    pushed, response, _ = replied(broker, topic, system_flags=flags)
    expect(
        "SEND-REPLY-008",
        found=(pushed.fields["sysFlag"], record_of(broker, response).system_flags),
        expected=(str(flags), 0),
        what="sysFlag of the push, and the system flags of the record",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-REPLY-009")
def test_a_client_that_left_a_group_gets_no_replies(
    broker: Client, topic: str, unique: Callable[[str], str]
) -> None:
    client_id, groups = unique("client"), [unique("left"), unique("kept")]
    with broker.another() as client:
        require_success(client.heartbeat(client_id=client_id, producer_groups=groups))
        require_success(
            client.unregister_client(client_id=client_id, producer_group=groups[0])
        )
        request = reply_request(topic, client_id, code=RequestCode.SEND_REPLY_MESSAGE)
        sent = broker.peer.send(request)
        found = [one.code for one in client.peer.receive_until_silent(QUIET_S)]
        expect(
            "SEND-REPLY-009",
            found=found,
            expected=[],
            what="codes of the requests that the client received",
            transcript=client.transcript,
        )
    response = broker.peer.receive_response(sent.opaque)
    code = ResponseCode.SYSTEM_ERROR
    expect_code("SEND-REPLY-009", response, code, broker.transcript)


def store_host(response: Command) -> Host:
    """Return the store host of the reply to whose send this is the *response*."""
    host, _ = decode_message_id(require_success(response).fields["msgId"])
    return host


def hosts_of(pushed: Command) -> list[str]:
    """Return the born host and the store host of a *pushed* reply."""
    return [
        in_one_form(pushed.fields.get(f"{end}Host", "")) for end in ("born", "store")
    ]


@pytest.mark.clause("SEND-REPLY-006")
@pytest.mark.settings(storeReplyMessageEnable="true")
def test_a_replys_host_is_printed(broker: Client, topic: str) -> None:
    pushed, response, pushes = replied(broker, topic)
    born, stored = broker.peer.local_address, store_host(response)
    expect(
        "SEND-REPLY-006",
        found=hosts_of(pushed),
        expected=[f"/{born}", f"/{stored}"],
        what="bornHost and storeHost",
        transcript=pushes,
    )


@pytest.mark.clause("SEND-REPLY-007")
@pytest.mark.settings(storeReplyMessageEnable="true")
def test_a_replys_host_is_plain(broker: Client, topic: str) -> None:
    pushed, response, pushes = replied(broker, topic)
    born, stored = broker.peer.local_address, store_host(response)
    expect(
        "SEND-REPLY-007",
        found=hosts_of(pushed),
        expected=[str(born), str(stored)],
        what="bornHost and storeHost",
        transcript=pushes,
    )


@pytest.mark.clause("SEND-RESPONSE-006")
def test_the_refusal_of_a_reply_has_the_brokers_region(
    broker: Client, topic: str
) -> None:
    request = reply_request(topic, None, code=RequestCode.SEND_REPLY_MESSAGE)
    fields = {**request.fields, "queueId": "77"}
    response = broker.invoke(RequestCode.SEND_REPLY_MESSAGE, fields, b"reply")
    assert response.code != ResponseCode.SUCCESS
    expect(
        "SEND-RESPONSE-006",
        found=sorted(response.fields),
        expected=["MSG_REGION", "TRACE_ON"],
        what="fields of the refusal",
        transcript=broker.transcript,
    )
