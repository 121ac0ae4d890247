"""What a consumer tells an administrator of its offsets and of its state."""

from __future__ import annotations

import pytest

from conformance.client.application import Application
from conformance.client.questions import (
    COUNT,
    filled,
    queue_of,
    state_answer,
    state_of,
    status_answer,
    status_of,
)
from conformance.client.stage import Stage
from conformance.client.test_handling import SOON_MS, first_commit
from conformance.client.test_pulling import of, pulls_of
from conformance.harness.fixtures import unique_name
from conformance.harness.verdicts import expect, expect_fields, expect_that
from spec.wire.json_body import decode_body
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode
from spec.wire.running_info import RunningInfo


@pytest.mark.clause("CLIENT-REQUEST-003")
def test_a_consumer_tells_its_offsets(
    application: Application, stage: Stage, topic: str
) -> None:
    broker = filled(stage, topic)
    consumer = application.consumer(topic, options={"persist_ms": SOON_MS})
    pull = first_commit(broker, topic, COUNT)
    answer = status_answer(pull, topic, consumer.group)
    expect("CLIENT-REQUEST-003", found=answer.code, expected=0, what="code")
    expect(
        "CLIENT-REQUEST-003",
        found=status_of(answer),
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
    answer = status_answer(pull, topic, unique_name("group"))
    expect(
        "CLIENT-REQUEST-003",
        found=(answer.code, status_of(answer)),
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
    answer = state_answer(pull[0], consumer.group)
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
    found = state_of(pull, consumer.group).queues[queue_of(topic)]
    expect(
        "CLIENT-REQUEST-004",
        found=(found.commit_offset, found.cached_min_offset, found.is_dropped),
        expected=(2, 2, False),
        what="commitOffset, cachedMsgMinOffset and droped",
    )
    consumer.release("k2")


@pytest.mark.clause("CLIENT-REQUEST-004")
def test_of_a_group_that_it_is_not_in_a_consumer_tells_no_state(
    application: Application, stage: Stage, topic: str
) -> None:
    broker = filled(stage, topic)
    consumer = application.consumer(topic)
    consumer.wait_for(COUNT)
    code = state_answer(pulls_of(broker, topic)[0], unique_name("group")).code
    error = ResponseCode.SYSTEM_ERROR
    expect("CLIENT-REQUEST-004", found=code, expected=error, what="code")
