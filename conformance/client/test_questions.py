"""What a client does when a broker asks it something, mostly for an administrator."""

from __future__ import annotations

import itertools
import zlib

import pytest

from conformance.client.application import Application, Consumer, body_of
from conformance.client.broker import Broker
from conformance.client.player import PATIENCE_S, Asked
from conformance.client.stage import Stage
from conformance.client.test_handling import BACK, COMMIT, SOON_MS, first_commit
from conformance.client.test_pulling import (
    CLOCKS_MS,
    SLOW_S,
    of,
    one_queue,
    pulls_of,
)
from conformance.harness.deadline import wait_until
from conformance.harness.fixtures import unique_name
from conformance.harness.verdicts import expect, expect_fields, expect_that
from spec.client.requests import REST_BEFORE_RESET_MS
from spec.store.message_record import SystemFlag, encode_record
from spec.wire.command import Command, CommandFlag
from spec.wire.json_body import decode_body, encode_body
from spec.wire.offset_tables import ConsumerStatus, ResetOffsets
from spec.wire.properties import encode_properties
from spec.wire.queue_name import QueueName
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode
from spec.wire.running_info import ConsumedDirectly, RunningInfo

RESET = RequestCode.RESET_CONSUMER_CLIENT_OFFSET
STATUS = RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT
RUNNING = RequestCode.GET_CONSUMER_RUNNING_INFO
DIRECTLY = RequestCode.CONSUME_MESSAGE_DIRECTLY
REPLY = RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT
FAILED = ResponseCode.SYSTEM_ERROR
COUNT = 5
_opaques = itertools.count(100_000)


def answer_to(
    asked: Asked, code: int, fields: dict[str, str], body: bytes = b""
) -> Command:
    """Ask the client that *asked* something, and return what it answers."""
    opaque = next(_opaques)
    question = Command(
        code=code, opaque=opaque, language="JAVA", fields=fields, body=body
    )
    conversation, player = asked.conversation, asked.player
    player.ask(conversation, question)

    def found() -> list[Command]:
        return [one for one in conversation.answers if one.opaque == opaque]

    player.wait_until(lambda: bool(found()), what=f"the client answers code {code}")
    return found()[0]


def tell(asked: Asked, code: int, fields: dict[str, str], body: bytes = b"") -> None:
    """Tell the client that *asked* something, and want no answer."""
    notice = Command(
        code=code,
        opaque=next(_opaques),
        flag=CommandFlag.ONE_WAY,
        language="JAVA",
        fields=fields,
        body=body,
    )
    asked.player.ask(asked.conversation, notice)


def queue_of(topic: str) -> QueueName:
    """Return the name of the one queue of *topic*."""
    return QueueName(broker_name="broker-a", queue_id=0, topic=topic)


def filled(stage: Stage, topic: str) -> Broker:
    """Return a broker that has some messages in the one queue of *topic*."""
    broker = one_queue(stage, topic)
    for number in range(COUNT):
        broker.put(topic, b"%d" % number, KEYS=f"k{number}")
    return broker


def commits_of(broker: Broker, topic: str) -> list[tuple[float, int]]:
    """Return the offsets of *topic* that were committed oneway, with their times."""
    return [
        (one.at_ms, int(one.command.fields["commitOffset"]))
        for one in broker.requests(COMMIT)
        if of(topic, one)
    ]


def reset(consumer: Consumer, broker: Broker, topic: str, offset: int) -> Asked:
    """Tell a consumer to go on at *offset*, and return whom it was told by."""
    pull = pulls_of(broker, topic)[-1]
    fields = {
        "topic": topic,
        "group": consumer.group,
        "timestamp": "0",
        "isForce": "true",
    }
    tell(
        pull,
        RESET,
        fields,
        encode_body(ResetOffsets(offsets={queue_of(topic): offset})),
    )
    return pull


@pytest.mark.clause("CLIENT-REQUEST-002")
def test_a_consumer_whose_offset_is_reset_goes_on_there(
    application: Application, stage: Stage, topic: str
) -> None:
    broker = filled(stage, topic)
    consumer = application.consumer(topic, options={"persist_ms": SOON_MS})
    consumer.wait_for(COUNT)
    first_commit(broker, topic, COUNT)
    begun_ms = broker.now_ms()
    told = reset(consumer, broker, topic, 2)
    again = consumer.wait_for(COUNT + 3, timeout_s=SLOW_S)[COUNT:]
    expect(
        "CLIENT-REQUEST-002",
        found=sorted(body_of(one) for one in again),
        expected=[b"2", b"3", b"4"],
        what="bodies of the messages that come again",
    )
    resets = [at_ms for at_ms, offset in commits_of(broker, topic) if offset == 2]
    expect_that(
        "CLIENT-REQUEST-002",
        bool(resets) and resets[0] - begun_ms >= REST_BEFORE_RESET_MS - CLOCKS_MS,
        found=[round(at_ms - begun_ms) for at_ms in resets],
        expected=f"{REST_BEFORE_RESET_MS} ms or more until offset 2 is committed",
        what="milliseconds until offset 2 is committed",
    )
    answers = [one.code for one in told.conversation.answers]
    expect("CLIENT-REQUEST-002", found=answers, expected=[], what="answers")


def wait_until_dropped(asked: Asked, consumer: Consumer, topic: str) -> None:
    """Return when *consumer* says that it has dropped the queue of *topic*."""
    fields = {"consumerGroup": consumer.group, "jstackEnable": "false"}

    def is_dropped() -> bool:
        told = decode_body(RunningInfo, answer_to(asked, RUNNING, fields).body)
        queue = told.queues.get(queue_of(topic))
        return queue is not None and queue.is_dropped

    wait_until(is_dropped, what="the queue is dropped", timeout_s=PATIENCE_S)


@pytest.mark.clause("CLIENT-REQUEST-002")
def test_what_is_under_way_is_not_committed_after_a_reset(
    application: Application, stage: Stage, topic: str
) -> None:
    broker = filled(stage, topic)
    consumer = application.consumer(
        topic, outcomes={"k4": ["hold"]}, options={"persist_ms": SOON_MS}
    )
    consumer.wait_for(COUNT)
    begun_ms = broker.now_ms()
    told_by = reset(consumer, broker, topic, 1)
    wait_until_dropped(told_by, consumer, topic)
    broker.put(topic, b"new")
    consumer.release("k4")
    consumer.wait_for(2 * COUNT, timeout_s=SLOW_S)
    told = commits_of(broker, topic)
    offsets = [offset for at_ms, offset in told if at_ms >= begun_ms]
    before = offsets[: offsets.index(1)] if 1 in offsets else offsets
    expect(
        "CLIENT-REQUEST-002",
        found=[offset for offset in before if offset >= COUNT],
        expected=[],
        what="offsets of dropped messages that were committed before the reset",
    )


@pytest.mark.clause("CLIENT-REQUEST-003")
def test_a_consumer_tells_its_offsets(
    application: Application, stage: Stage, topic: str
) -> None:
    broker = filled(stage, topic)
    consumer = application.consumer(topic, options={"persist_ms": SOON_MS})
    pull = first_commit(broker, topic, COUNT)
    fields = {"topic": topic, "group": consumer.group}
    answer = answer_to(pull, STATUS, fields)
    expect("CLIENT-REQUEST-003", found=answer.code, expected=0, what="code")
    expect(
        "CLIENT-REQUEST-003",
        found=dict(decode_body(ConsumerStatus, answer.body).offsets),
        expected={queue_of(topic): COUNT},
        what="messageQueueTable",
    )


@pytest.mark.clause("CLIENT-REQUEST-003")
def test_of_a_group_that_it_is_not_in_a_consumer_tells_no_offsets(
    application: Application, stage: Stage, topic: str
) -> None:
    broker = filled(stage, topic)
    application.consumer(topic, options={"persist_ms": SOON_MS})
    pull = first_commit(broker, topic, COUNT)
    answer = answer_to(pull, STATUS, {"topic": topic, "group": unique_name("group")})
    found = decode_body(ConsumerStatus, answer.body).offsets if answer.body else {}
    expect(
        "CLIENT-REQUEST-003",
        found=(answer.code, dict(found)),
        expected=(0, {}),
        what="code and messageQueueTable",
    )


@pytest.mark.clause("CLIENT-REQUEST-004")
def test_a_consumer_tells_its_state(
    application: Application, stage: Stage, topic: str
) -> None:
    broker = filled(stage, topic)
    consumer = application.consumer(
        topic, expression="A || B", options={"persist_ms": SOON_MS}
    )
    pull = broker.wait_for(RequestCode.PULL_MESSAGE, where=lambda one: of(topic, one))
    fields = {"consumerGroup": consumer.group, "jstackEnable": "false"}
    answer = answer_to(pull[0], RUNNING, fields)
    expect("CLIENT-REQUEST-004", found=answer.code, expected=0, what="code")
    told = decode_body(RunningInfo, answer.body)
    expect_fields(
        "CLIENT-REQUEST-004",
        found=dict(told.properties),
        expected={
            "PROP_CONSUME_TYPE": "CONSUME_PASSIVELY",
            "PROP_CONSUMEORDERLY": "false",
            "consumerGroup": consumer.group,
            "messageModel": "CLUSTERING",
            "consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET",
        },
    )
    servers = told.properties.get("PROP_NAMESERVER_ADDR", "").split(";")
    expect_that(
        "CLIENT-REQUEST-004",
        str(stage.name_server.address) in servers,
        found=servers,
        expected=str(stage.name_server.address),
        what="PROP_NAMESERVER_ADDR",
    )
    expect(
        "CLIENT-REQUEST-004",
        found={one.topic: one.expression for one in told.subscriptions},
        expected={topic: "A || B", f"%RETRY%{consumer.group}": "*"},
        what="subscriptionSet",
    )
    mine = [one for one in told.queues if one.topic == topic]
    expect("CLIENT-REQUEST-004", found=mine, expected=[queue_of(topic)], what="mqTable")


@pytest.mark.clause("CLIENT-REQUEST-004")
def test_a_consumer_tells_what_of_a_queue_is_not_handled(
    application: Application, stage: Stage, topic: str
) -> None:
    broker = filled(stage, topic)
    consumer = application.consumer(
        topic, outcomes={"k2": ["hold"]}, options={"persist_ms": SOON_MS}
    )
    consumer.wait_for(COUNT)
    pull = first_commit(broker, topic, 2)
    fields = {"consumerGroup": consumer.group, "jstackEnable": "false"}
    told = decode_body(RunningInfo, answer_to(pull, RUNNING, fields).body)
    found = told.queues[queue_of(topic)]
    expect(
        "CLIENT-REQUEST-004",
        found=(found.commit_offset, found.cached_min_offset, found.is_dropped),
        expected=(2, 2, False),
        what="commitOffset, cachedMsgMinOffset and droped",
    )
    consumer.release("k2")


@pytest.mark.clause("CLIENT-REQUEST-004", "CLIENT-REQUEST-005")
@pytest.mark.parametrize("code", [RUNNING, DIRECTLY])
def test_of_a_group_that_it_is_not_in_a_consumer_says_an_error(
    application: Application, stage: Stage, topic: str, code: RequestCode
) -> None:
    broker = filled(stage, topic)
    consumer = application.consumer(topic)
    consumer.wait_for(COUNT)
    record = broker.put(topic, b"direct")
    fields = {"consumerGroup": unique_name("group"), "brokerName": "broker-a"}
    if code == RUNNING:
        fields["jstackEnable"] = "false"
    answer = answer_to(
        pulls_of(broker, topic)[0],
        code,
        fields,
        encode_record(record) if code == DIRECTLY else b"",
    )
    clause = "CLIENT-REQUEST-004" if code == RUNNING else "CLIENT-REQUEST-005"
    expect(clause, found=answer.code, expected=FAILED, what="code")


def consumed(consumer: Consumer, broker: Broker, topic: str, keys: str) -> Command:
    """Hand a message of a retry topic to *consumer*, and return its answer."""
    record = broker.put(
        f"%RETRY%{consumer.group}", b"direct", KEYS=keys, RETRY_TOPIC=topic
    )
    pull = broker.wait_for(RequestCode.PULL_MESSAGE, where=lambda one: of(topic, one))
    fields = {"consumerGroup": consumer.group, "brokerName": "broker-a"}
    return answer_to(pull[0], DIRECTLY, fields, encode_record(record))


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
    return answer_to(asked, REPLY, fields, body)


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
