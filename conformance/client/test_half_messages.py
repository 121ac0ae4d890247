"""What a producer of transactions sends, tells, and answers when a broker asks."""

from __future__ import annotations

from functools import partial

import pytest

from conformance.client.application import Application
from conformance.client.broker import Broker, header_of
from conformance.client.player import Asked, texts
from conformance.client.test_attempts import meet_sends
from conformance.harness.verdicts import expect, expect_fields
from spec.host import Host
from spec.store.message_record import Record, SystemFlag, encode_record
from spec.wire.command import Command, CommandFlag, encode_command
from spec.wire.message_id import decode_message_id
from spec.wire.properties import Property, decode_properties, encode_properties
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode

END = RequestCode.END_TRANSACTION
CODES = {"commit": "8", "rollback": "12", "unknown": "0", "fail": "0"}
QUESTION_OPAQUE = 77
PLACE, OTHER_PLACE = 4711, 815
"""Where in the commit log the half messages lie that are asked about."""


def acts(application: Application) -> int:
    """Return how often the application acted."""
    return sum(one["event"] == "local" for one in application.adapter.events)


@pytest.mark.clause("CLIENT-TXN-001", "CLIENT-SEND-006")
def test_a_half_message_says_that_it_is_one_and_whose(
    application: Application, broker: Broker, topic: str
) -> None:
    producer = application.producer(check="unknown")
    producer.send(topic, transaction="commit", delay_level=3, tags="t")
    asked = broker.sends[0]
    properties = decode_properties(header_of(asked)["properties"])
    expect_fields(
        "CLIENT-TXN-001",
        found={name: properties.get(name) for name in ("TRAN_MSG", "PGROUP", "DELAY")},
        expected={"TRAN_MSG": "true", "PGROUP": producer.group, "DELAY": None},
    )
    flags = int(header_of(asked)["sysFlag"]) & SystemFlag.TRANSACTION_PREPARED
    expect("CLIENT-SEND-006", found=bool(flags), expected=True, what="bit 2 of sysFlag")
    expect(
        "CLIENT-TXN-001", found=asked.command.is_oneway, expected=False, what="oneway"
    )


@pytest.mark.clause("CLIENT-TXN-002", "CLIENT-TXN-004")
@pytest.mark.parametrize("outcome", CODES)
def test_the_broker_is_told_what_came_of_it(
    application: Application, broker: Broker, topic: str, outcome: str
) -> None:
    told: dict[bytes, dict[str, str]] = {}

    def store(asked: Asked) -> None:
        told[asked.command.body] = fields = broker.place(asked)
        asked.answer(0, fields=fields)

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
            "tranStateTableOffset": told[b"half"]["queueOffset"],
            "commitLogOffset": str(decode_message_id(told[b"half"]["msgId"])[1]),
        },
    )
    expect(clause_id, found=ended.is_oneway, expected=True, what="oneway")
    expect(clause_id, found=acts(application), expected=1, what="times it acted")


@pytest.mark.clause("CLIENT-TXN-003")
@pytest.mark.parametrize("code", [10, 11, 12])
def test_a_half_message_that_is_not_safe_is_rolled_back(
    application: Application, broker: Broker, topic: str, code: int
) -> None:
    meet_sends(broker, partial(broker.stored, code=code))
    application.producer(check="commit").send(topic, transaction="commit")
    ended = broker.wait_for(END)[0].command
    expect(
        "CLIENT-TXN-003",
        found=(ended.fields.get("commitOrRollback"), acts(application)),
        expected=(CODES["rollback"], 0),
        what="what the broker is told, and times it acted",
    )


@pytest.mark.clause("CLIENT-TXN-002")
def test_a_half_message_that_is_refused_is_no_transaction(
    application: Application, broker: Broker, topic: str
) -> None:
    refused = ResponseCode.MESSAGE_ILLEGAL
    meet_sends(broker, lambda asked: asked.answer(refused, remark="no"))
    producer = application.producer(check="commit")
    outcome = producer.send(topic, transaction="commit")
    expect("CLIENT-TXN-002", found=outcome.is_error, expected=True, what="failure")
    expect("CLIENT-TXN-002", found=acts(application), expected=0, what="times it acted")


def ask_about_half(
    broker: Broker, topic: str, group: str, *, place: int = PLACE
) -> None:
    """Ask, on the connection of the first message, about a half message of *group*."""
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
        flag=CommandFlag.ONE_WAY,
        language="JAVA",
        fields=texts(fields),
        body=encode_record(record),
    )
    broker.sends[0].conversation.write(encode_command(question))


@pytest.mark.clause("CLIENT-TXN-005", "CLIENT-TXN-004")
@pytest.mark.parametrize("outcome", CODES)
def test_who_asks_is_told(
    application: Application, broker: Broker, topic: str, outcome: str
) -> None:
    application.need("transaction")
    producer = application.producer(check=outcome)
    producer.send(topic)
    ask_about_half(broker, topic, producer.group)
    ended = broker.wait_for(END)[0].command
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
    application: Application, broker: Broker, topic: str
) -> None:
    application.need("transaction")
    producer = application.producer(check="commit")
    producer.send(topic)
    ask_about_half(broker, topic, "somebody_else", place=OTHER_PLACE)
    ask_about_half(broker, topic, producer.group)

    def place_of(asked: Asked) -> int:
        return int(asked.command.fields["commitLogOffset"])

    # What is told about its own shows that the other question was met before.
    broker.wait_for(END, where=lambda one: place_of(one) == PLACE)
    expect(
        "CLIENT-TXN-006",
        found=[place_of(one) for one in broker.requests(END)],
        expected=[PLACE],
        what="places of the half messages that something was told about",
    )
