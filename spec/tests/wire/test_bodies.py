"""Declared bodies read what releases sent and write the same bytes again."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.bodies import BODIES, body_table
from spec.layout import LayoutError
from spec.tests.strategies import mutated
from spec.wire.bodies import heartbeat, offset_tables, running_info
from spec.wire.bodies.json_body import decode_body, encode_body
from spec.wire.bodies.queue_name import QueueName
from spec.wire.consumer import queue_locks
from spec.wire.remoting.command import decode_command

FIXTURES = Path(__file__).parents[3] / "fixtures"
PRINTS = FIXTURES / "layouts" / "bodies"
RECORDED = {
    "heart_beat.request": heartbeat.HeartbeatData,
    "get_consumer_connection_list.answer-0": heartbeat.ConsumerConnection,
    "get_consumer_list_by_group.answer-0": heartbeat.GetConsumerListByGroupResponseBody,
    "get_consume_stats.answer-0": offset_tables.ConsumeStats,
    "get_topic_stats_info.answer-0": offset_tables.TopicStatsTable,
}
FRAMES = [
    pytest.param(path, body, id=f"{path.parent.name}-{path.stem}")
    for name, body in RECORDED.items()
    for path in sorted((FIXTURES / "wire").glob(f"*/{name}.bin"))
]
QUEUE = QueueName(broker_name="broker-a", queue_id=3, topic="TopicTest")
QUEUE_TEXT = b'{"brokerName":"broker-a","queueId":3,"topic":"TopicTest"}'
KNOWN = {
    b'{"clientId":"c","consumerGroup":"g","mqSet":[' + QUEUE_TEXT + b"]}": (
        queue_locks.LockBatchRequestBody(group="g", client_id="c", queues=(QUEUE,))
    ),
    b'{"lockOKMQSet":[' + QUEUE_TEXT + b"]}": queue_locks.LockBatchResponseBody(
        queues=(QUEUE,)
    ),
    b'{"offsetTable":{' + QUEUE_TEXT + b":7}}": (
        offset_tables.ResetOffsetBody(offsets={QUEUE: 7})
    ),
    b'{"offsetTable":[{"brokerName":"b","offset":7,"queueId":0,"topic":"T"}]}': (
        offset_tables.ResetOffsetBodyForC(
            offsets=(
                offset_tables.MessageQueueForC(
                    broker_name="b", offset=7, queue_id=0, topic="T"
                ),
            )
        )
    ),
    b'{"consumerTable":{"c":{' + QUEUE_TEXT + b':1}},"messageQueueTable":{}}': (
        offset_tables.GetConsumerStatusBody(consumers={"c": {QUEUE: 1}})
    ),
    b'{"autoCommit":true,"consumeResult":"CR_LATER","order":false'
    b',"spentTimeMills":5}': (
        running_info.ConsumeMessageDirectlyResult(result="CR_LATER", spent_ms=5)
    ),
}


@pytest.mark.parametrize(("path", "body"), FRAMES)
def test_a_recorded_body_is_read_and_written_again(path: Path, body: type[Any]) -> None:
    data = decode_command(path.read_bytes()).body
    assert encode_body(decode_body(body, data)) == data


@pytest.mark.parametrize(("path", "body"), FRAMES)
def test_every_recorded_member_is_declared(path: Path, body: type[Any]) -> None:
    found = decode_body(body, decode_command(path.read_bytes()).body)
    assert not found.rest


@pytest.mark.parametrize("text", KNOWN, ids=lambda text: type(KNOWN[text]).__name__)
def test_known_texts_are_read_and_written(text: bytes) -> None:
    value = KNOWN[text]
    assert decode_body(type(value), text) == value
    assert encode_body(value) == text


def test_what_nobody_declared_is_kept() -> None:
    text = b'{"consumerIdList":["c"],"newer":{"x":[1]}}'
    found = decode_body(heartbeat.GetConsumerListByGroupResponseBody, text)
    assert found.rest == {"newer": {"x": [1]}}
    assert encode_body(found) == text


def test_a_null_member_is_an_absent_one() -> None:
    found = decode_body(
        heartbeat.GetConsumerListByGroupResponseBody, b'{"consumerIdList":null}'
    )
    assert found == heartbeat.GetConsumerListByGroupResponseBody()


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (b"{}", "clientID"),
        (b'{"clientID":1}', "clientID"),
        (b'{"clientID":"c","consumerDataSet":{}}', "consumerDataSet"),
        (b'{"clientID":"c","producerDataSet":[1]}', "producerDataSet"),
        (b'{"clientID":"c","withoutSub":1}', "withoutSub"),
        (b'{"clientID":"c","heartbeatFingerprint":1.5}', "heartbeatFingerprint"),
    ],
)
def test_a_wrong_member_is_named(text: bytes, field: str) -> None:
    with pytest.raises(LayoutError) as caught:
        decode_body(heartbeat.HeartbeatData, text)
    assert caught.value.field == field


def test_a_rate_that_is_no_number_is_named() -> None:
    for value in (b'"a"', b"true", b"1" + b"0" * 400):
        with pytest.raises(LayoutError) as caught:
            decode_body(running_info.ConsumeStatus, b'{"pullRT":' + value + b"}")
        assert caught.value.field == "pullRT"


@given(
    name=st.sampled_from(sorted(BODIES)), data=mutated(st.sampled_from(sorted(KNOWN)))
)
def test_bad_bytes_raise_nothing_but_a_layout_error(name: str, data: bytes) -> None:
    with contextlib.suppress(LayoutError):
        decode_body(BODIES[name], data)


@pytest.mark.parametrize("name", sorted(BODIES))
def test_a_body_prints_as_it_did(name: str) -> None:
    golden = (PRINTS / f"{name}.txt").read_text(encoding="utf-8")
    assert body_table(BODIES[name]) == golden


def test_every_golden_print_has_a_body() -> None:
    assert {path.stem for path in PRINTS.glob("*.txt")} == set(BODIES)
