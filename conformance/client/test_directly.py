"""What a consumer does with a message that an administrator hands to it."""

from __future__ import annotations

import pytest

from conformance.client.application import Application, Consumer, body_of
from conformance.client.broker import Broker
from conformance.client.player import Asked
from conformance.client.questions import COUNT, answer_to, commits_of, filled
from conformance.client.stage import Stage
from conformance.client.test_handling import BACK
from conformance.client.test_pulling import of, one_queue, pulls_of
from conformance.harness.fixtures import unique_name
from conformance.harness.verdicts import expect
from spec.store.message_record import Record, encode_record
from spec.wire.command import Command
from spec.wire.json_body import decode_body
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode
from spec.wire.running_info import ConsumedDirectly


def handed_over(asked: Asked, record: Record, group: str) -> Command:
    """Hand *record* to *group* where *asked* came from, and return the answer."""
    fields = {"consumerGroup": group, "brokerName": "broker-a"}
    code = RequestCode.CONSUME_MESSAGE_DIRECTLY
    return answer_to(asked, code, fields, encode_record(record))


def consumed(consumer: Consumer, broker: Broker, topic: str, keys: str) -> Command:
    """Hand a message of a retry topic to *consumer*, and return its answer."""
    record = broker.put(
        f"%RETRY%{consumer.group}", b"direct", KEYS=keys, RETRY_TOPIC=topic
    )
    pull = broker.wait_for(RequestCode.PULL_MESSAGE, where=lambda one: of(topic, one))
    return handed_over(pull[0], record, consumer.group)


@pytest.mark.clause("CLIENT-REQUEST-005")
@pytest.mark.parametrize("order", ["concurrent", "orderly"])
@pytest.mark.parametrize(
    ("word", "result"),
    [
        ("success", "CR_SUCCESS"),
        ("later", "CR_LATER"),
        ("fail", "CR_THROW_EXCEPTION"),
    ],
)
def test_a_message_can_be_handed_to_a_consumer_directly(
    application: Application,
    stage: Stage,
    topic: str,
    order: str,
    word: str,
    result: str,
) -> None:
    broker = one_queue(stage, topic)
    consumer = application.consumer(topic, order=order, outcomes={"direct": [word]})
    answer = consumed(consumer, broker, topic, "direct")
    expect("CLIENT-REQUEST-005", found=answer.code, expected=0, what="code")
    told = decode_body(ConsumedDirectly, answer.body)
    expect(
        "CLIENT-REQUEST-005",
        found=(told.result, told.is_ordered),
        expected=(result, order == "orderly"),
        what="consumeResult and order",
    )
    found = consumer.wait_for()
    expect(
        "CLIENT-REQUEST-005",
        found=[(one["topic"], body_of(one)) for one in found],
        expected=[(topic, b"direct")],
        what="messages of the application",
    )


@pytest.mark.clause("CLIENT-REQUEST-008")
def test_a_message_that_was_handed_over_directly_has_no_other_effect(
    application: Application, stage: Stage, topic: str
) -> None:
    broker = one_queue(stage, topic)
    consumer = application.consumer(topic, outcomes={"direct": ["later"]})
    answer = consumed(consumer, broker, topic, "direct")
    expect("CLIENT-REQUEST-008", found=answer.code, expected=0, what="code")
    consumer.stop()
    broker.wait_for(RequestCode.UNREGISTER_CLIENT)
    expect(
        "CLIENT-REQUEST-008",
        found=len(broker.requests(BACK)) + len(broker.sends),
        expected=0,
        what="messages that go back",
    )
    expect(
        "CLIENT-REQUEST-008",
        found=[offset for _, offset in commits_of(broker, topic) if offset > 0],
        expected=[],
        what="offsets that are committed",
    )


@pytest.mark.clause("CLIENT-REQUEST-005")
def test_a_consumer_takes_no_message_of_a_group_that_it_is_not_in(
    application: Application, stage: Stage, topic: str
) -> None:
    broker = filled(stage, topic)
    consumer = application.consumer(topic)
    consumer.wait_for(COUNT)
    record = broker.put(topic, b"direct")
    pull = pulls_of(broker, topic)[0]
    code = handed_over(pull, record, unique_name("group")).code
    error = ResponseCode.SYSTEM_ERROR
    expect("CLIENT-REQUEST-005", found=code, expected=error, what="code")
