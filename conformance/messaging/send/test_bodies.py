"""Bodies in fastjson's dialect, as brokers write and read them."""

from __future__ import annotations

import re

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_that,
)
from spec.wire.bodies.fastjson import loads
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


@pytest.mark.clause("WIRE-FASTJSON-001")
def test_integer_keys_are_written_bare(
    broker: Client, topic: str, known_group: str
) -> None:
    require_success(
        broker.update_offset(group=known_group, topic=topic, offset=2, queue_id=1)
    )
    body = require_success(broker.all_consumer_offsets()).body.decode()
    found = re.sub(r"\s", "", body)
    key = f'"{topic}@{known_group}":'
    expected = f"{key}{{1:2}}"
    expect_that(
        "WIRE-FASTJSON-001",
        expected in found,
        found=found[max(found.find(key), 0) :][: len(expected) + 5],
        expected=f"{expected} somewhere",
        what="body",
        transcript=broker.transcript,
    )


@pytest.mark.clause("WIRE-FASTJSON-002")
def test_objects_are_written_whole_as_keys(broker: Client, topic: str) -> None:
    require_success(broker.send_message(topic=topic))
    body = require_success(broker.topic_stats(topic=topic)).body.decode()
    found = re.sub(r"\s", "", body)
    expect_that(
        "WIRE-FASTJSON-002",
        '"offsetTable":{{"' in found and '"queueId":0' in found,
        found=found[:120],
        expected="queues as keys, each an object",
        what="body",
        transcript=broker.transcript,
    )


@pytest.mark.clause("WIRE-FASTJSON-004")
def test_null_members_are_left_out(broker: Client, topic: str, group: str) -> None:
    require_success(broker.heartbeat(client_id=f"{group}@1", producer_groups=[group]))
    responses = (
        broker.all_topic_config(),
        broker.all_groups(),
        broker.all_delay_offsets(),
        broker.producer_connections(group=group),
        broker.topic_stats(topic=topic),
    )
    found = [
        b":null" in re.sub(rb"\s", b"", require_success(a).body) for a in responses
    ]
    expect(
        "WIRE-FASTJSON-004",
        found=found,
        expected=[False] * len(responses),
        what="nulls",
        transcript=broker.transcript,
    )


@pytest.mark.clause("WIRE-FASTJSON-003")
@pytest.mark.parametrize("key", ["1", '"1"', "'1'"])
def test_integer_keys_are_read_bare_and_in_quotes(
    broker: Client, group: str, key: str
) -> None:
    text = f'{{"groupName":"{group}","unknown":{{{key}:2}},"retryQueueNums":3}}'
    code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
    response = broker.invoke(code, body=text.encode())
    expect_code("WIRE-FASTJSON-003", response, ResponseCode.SUCCESS, broker.transcript)
    listed = require_success(broker.all_groups()).body.decode()
    found = group in listed
    expect(
        "WIRE-FASTJSON-003",
        found=found,
        expected=True,
        what="the group is listed",
        transcript=broker.transcript,
    )


@pytest.mark.clause("WIRE-FASTJSON-005")
def test_unknown_members_are_passed_over(broker: Client, group: str) -> None:
    settings = {"retryMaxTimes": 7, "of9.9": {"a": [1]}, "another": None}
    require_success(broker.update_group(group=group, settings=settings))
    body = require_success(broker.all_groups()).body
    table = loads(body)
    assert isinstance(table, dict)
    found = table["subscriptionGroupTable"].get(group, {}).get("retryMaxTimes")
    expect(
        "WIRE-FASTJSON-005",
        found=found,
        expected=7,
        what="retryMaxTimes",
        transcript=broker.transcript,
    )
