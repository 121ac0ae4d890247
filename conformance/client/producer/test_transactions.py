"""Half messages, decisions and check responses of a producer of transactions."""

from __future__ import annotations

from functools import partial

import pytest

from conformance.client.application import Application
from conformance.client.calls import AN_ERROR
from conformance.client.producer.sends import meet_sends
from conformance.client.scripted.scripted_broker import ScriptedBroker, header_of
from conformance.client.scripted.scripted_server import ReceivedRequest, texts
from conformance.harness.pytest_plugin.expectations import expect, expect_fields
from spec.host import Host
from spec.store.message_record import Record, SystemFlag, encode_record
from spec.wire.message.message_id import decode_message_id
from spec.wire.message.properties import Property, decode_properties, encode_properties
from spec.wire.remoting.command import Command, CommandFlag, encode_command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

END = RequestCode.END_TRANSACTION
CODES = {"commit": "8", "rollback": "12", "unknown": "0", "fail": "0"}
QUESTION_OPAQUE = 77
PLACE, OTHER_PLACE = 4711, 815
"""Commit-log offsets of the half messages in check requests."""


def acts(application: Application) -> int:
    """Return the number of local transactions of the application."""
    return sum(one["event"] == "local" for one in application.adapter.events)


@pytest.mark.clause("CLIENT-TXN-001", "CLIENT-SEND-006")
def test_a_half_message_says_that_it_is_one_and_whose(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    producer = application.producer(check="unknown")
    outcome = producer.send(topic, transaction="commit", delay_level=3, tags="t")
    expect("CLIENT-TXN-001", found=outcome.error_text, expected="", what="error")
    request = broker.sends[0]
    properties = decode_properties(header_of(request)["properties"])
    expect_fields(
        "CLIENT-TXN-001",
        found={name: properties.get(name) for name in ("TRAN_MSG", "PGROUP", "DELAY")},
        expected={"TRAN_MSG": "true", "PGROUP": producer.group, "DELAY": None},
    )
    flags = int(header_of(request)["sysFlag"]) & SystemFlag.TRANSACTION_PREPARED
    expect("CLIENT-SEND-006", found=bool(flags), expected=True, what="bit 2 of sysFlag")
    expect(
        "CLIENT-TXN-001", found=request.command.is_oneway, expected=False, what="oneway"
    )


@pytest.mark.clause("CLIENT-TXN-002", "CLIENT-TXN-004")
@pytest.mark.parametrize("outcome", CODES)
def test_the_broker_is_told_what_came_of_it(
    application: Application, broker: ScriptedBroker, topic: str, outcome: str
) -> None:
    received: dict[bytes, dict[str, str]] = {}

    def store(request: ReceivedRequest) -> None:
        received[request.command.body] = fields = broker.put_result_fields(request)
        request.respond(0, fields=fields)

    meet_sends(broker, store)
    producer = application.producer(check="unknown")
    producer.send(topic, b"half", transaction=outcome)
    ended = broker.wait_for(END)[0].command
    clause_id = "CLIENT-TXN-004" if outcome == "fail" else "CLIENT-TXN-002"
    expect_fields(
        clause_id,
        found=ended.fields,
        expected={
            "producerGroup": producer.group,
            "commitOrRollback": CODES[outcome],
            "tranStateTableOffset": received[b"half"]["queueOffset"],
            "commitLogOffset": str(decode_message_id(received[b"half"]["msgId"])[1]),
        },
    )
    expect(clause_id, found=ended.is_oneway, expected=True, what="oneway")
    expect(clause_id, found=acts(application), expected=1, what="times it acted")


@pytest.mark.clause("CLIENT-TXN-003")
@pytest.mark.parametrize("code", [10, 11, 12])
def test_a_half_message_that_is_not_safe_is_rolled_back(
    application: Application, broker: ScriptedBroker, topic: str, code: int
) -> None:
    meet_sends(broker, partial(broker.respond_to_send, code=code))
    application.producer(check="commit").send(topic, transaction="commit")
    ended = broker.wait_for(END)[0].command
    expect(
        "CLIENT-TXN-003",
        found=(ended.fields.get("commitOrRollback"), acts(application)),
        expected=(CODES["rollback"], 0),
        what="what the broker is sent, and times it acted",
    )


@pytest.mark.clause("CLIENT-TXN-002")
def test_a_half_message_that_is_refused_is_no_transaction(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    refused = ResponseCode.MESSAGE_ILLEGAL
    meet_sends(broker, lambda request: request.respond(refused, remark="no"))
    producer = application.producer(check="commit")
    outcome = producer.send(topic, transaction="commit")
    expect("CLIENT-TXN-002", found=outcome.ending, expected=AN_ERROR, what="end")
    expect("CLIENT-TXN-002", found=acts(application), expected=0, what="times it acted")


def send_check_request(
    broker: ScriptedBroker, topic: str, group: str, *, place: int = PLACE
) -> None:
    """Send a check request for *group*, on the connection of the first message."""
    properties = {
        Property.UNIQ_KEY: "7F0000010000000000000000000000AA",
        Property.PGROUP: group,
        Property.TRAN_MSG: "true",
        "__transactionId__": "7F0000010000000000000000000000AA",
        Property.REAL_TOPIC: topic,
        Property.REAL_QID: "1",
    }
    record = Record(
        topic=topic,
        queue_id=1,
        queue_offset=7,
        physical_offset=place,
        body=b"half",
        properties=encode_properties(properties),
        born_at_ms=1_600_000_000_000,
        born_host=Host.of("127.0.0.1", 1),
        stored_at_ms=1_600_000_000_001,
        store_host=Host.of(*broker.address),
    )
    fields = {
        "tranStateTableOffset": 17,
        "commitLogOffset": place,
        "msgId": "7F0000010000000000000000000000AA",
        "transactionId": "7F0000010000000000000000000000AA",
        "offsetMsgId": "7F00000100002A9F0000000000001267",
    }
    question = Command(
        code=RequestCode.CHECK_TRANSACTION_STATE,
        opaque=QUESTION_OPAQUE,
        flag=CommandFlag.ONEWAY,
        language="JAVA",
        fields=texts(fields),
        body=encode_record(record),
    )
    broker.sends[0].connection.write(encode_command(question))


@pytest.mark.clause("CLIENT-TXN-005", "CLIENT-TXN-004")
@pytest.mark.parametrize("outcome", CODES)
def test_who_asks_is_told(
    application: Application, broker: ScriptedBroker, topic: str, outcome: str
) -> None:
    application.need("transaction")
    producer = application.producer(check=outcome)
    producer.send(topic, transaction="unknown")
    send_check_request(broker, topic, producer.group)
    ended = broker.wait_for(END, count=2)[1].command
    clause_id = "CLIENT-TXN-004" if outcome == "fail" else "CLIENT-TXN-005"
    expect_fields(
        clause_id,
        found=ended.fields,
        expected={
            "producerGroup": producer.group,
            "commitOrRollback": CODES[outcome],
            "fromTransactionCheck": "true",
            "tranStateTableOffset": "17",
            "commitLogOffset": str(PLACE),
        },
    )
    expect(clause_id, found=ended.is_oneway, expected=True, what="oneway")


@pytest.mark.clause("CLIENT-TXN-006")
def test_a_question_about_anothers_message_is_not_answered(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    application.need("transaction")
    producer = application.producer(check="commit")
    producer.send(topic, transaction="unknown")
    send_check_request(broker, topic, "somebody_else", place=OTHER_PLACE)
    send_check_request(broker, topic, producer.group)

    def place_of(request: ReceivedRequest) -> int:
        return int(request.command.fields["commitLogOffset"])

    # The end of its own transaction shows that the other check came before.
    broker.wait_for(END, where=lambda one: place_of(one) == PLACE)
    expect(
        "CLIENT-TXN-006",
        found=[place_of(one) for one in broker.requests(END)[1:]],
        expected=[PLACE],
        what="places of the half messages that something was sent about",
    )
