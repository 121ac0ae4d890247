"""Header fields: those that a request cannot do without, and those it can."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.harness.client.client import Client, body_of, plain_send
from conformance.harness.header_tables import known_codes
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_that,
)
from conformance.harness.targets.target import Target
from conformance.strategies.boundaries import OVER_THE_WIRE, texts
from conformance.wire.server import Server
from spec.clause import release_key
from spec.wire.consumer.pull import PullFlag
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

WHOLE = {
    RequestCode.GET_MAX_OFFSET: {"topic": "t", "queueId": "0"},
    RequestCode.GET_MIN_OFFSET: {"topic": "t", "queueId": "0"},
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: {
        "topic": "t",
        "queueId": "0",
        "timestamp": "0",
    },
    RequestCode.VIEW_MESSAGE_BY_ID: {"offset": "0"},
    RequestCode.QUERY_CONSUMER_OFFSET: {
        "consumerGroup": "g",
        "topic": "t",
        "queueId": "0",
    },
}
NEEDING_FIELDS = (
    *WHOLE,
    RequestCode.QUERY_MESSAGE,
    RequestCode.GET_EARLIEST_MSG_STORETIME,
    RequestCode.UPDATE_CONSUMER_OFFSET,
    RequestCode.GET_CONSUMER_LIST_BY_GROUP,
    RequestCode.GET_CONSUMER_CONNECTION_LIST,
    RequestCode.GET_PRODUCER_CONNECTION_LIST,
    RequestCode.GET_CONSUMER_RUNNING_INFO,
    RequestCode.GET_TOPIC_STATS_INFO,
    RequestCode.GET_CONSUME_STATS,
    RequestCode.QUERY_TOPIC_CONSUME_BY_WHO,
    RequestCode.QUERY_CONSUME_TIME_SPAN,
    RequestCode.QUERY_CORRECTION_OFFSET,
    RequestCode.VIEW_BROKER_STATS_DATA,
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
    RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS,
    RequestCode.CONSUME_MESSAGE_DIRECTLY,
    RequestCode.CLONE_GROUP_OFFSET,
    RequestCode.SEND_MESSAGE,
    RequestCode.SEND_MESSAGE_V2,
    RequestCode.SEND_BATCH_MESSAGE,
    RequestCode.SEND_REPLY_MESSAGE,
    RequestCode.SEND_REPLY_MESSAGE_V2,
    RequestCode.CONSUMER_SEND_MSG_BACK,
    RequestCode.PULL_MESSAGE,
    RequestCode.END_TRANSACTION,
    RequestCode.UPDATE_AND_CREATE_TOPIC,
)
READING_OFFSETS = {
    RequestCode.GET_CONSUME_STATS,
    RequestCode.QUERY_TOPIC_CONSUME_BY_WHO,
    RequestCode.QUERY_CORRECTION_OFFSET,
    RequestCode.CLONE_GROUP_OFFSET,
}
"""Requests whose missing field 4.x reads only for a committed offset.

Java: ConsumerOffsetManager#whichTopicByConsumer, #whichGroupByTopic.
"""
INTEGERS = ("queueId", "timestamp", "offset")
NO_INTEGERS = ("", "x", "1.5", "0x10", "1e3", " 1", "9" * 30, "ten", "1L")

names = st.text("abcXYZ_0é中", min_size=1, max_size=12)
integer_fields = st.sampled_from(
    [
        (code, name)
        for code, whole in WHOLE.items()
        for name in whole
        if name in INTEGERS
    ]
)


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-016", "WIRE-COMMAND-009")
@OVER_THE_WIRE
@given(missing=integer_fields)
def test_a_request_without_a_number_it_needs_fails(
    broker: Client, missing: tuple[RequestCode, str]
) -> None:
    code, name = missing
    fields = {key: value for key, value in WHOLE[code].items() if key != name}
    _expect_refused(broker, Command(code=code, fields=fields), "WIRE-CONN-016")


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-016")
def test_a_request_without_any_field_fails(broker: Client, target: Target) -> None:
    codes = set(NEEDING_FIELDS) & known_codes(target.release)
    if target.access.credentials is not None:
        # The check of access decodes this header, and refuses with NO_PERMISSION
        # (5.3.3 DefaultAuthorizationContextBuilder#buildContextByAnnotation).
        codes.discard(RequestCode.UPDATE_AND_CREATE_TOPIC)
    if release_key(target.release) < release_key("5.0") and _has_no_offsets(broker):
        codes -= READING_OFFSETS
    _all_fail(broker, [code for code in NEEDING_FIELDS if code in codes])


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-016")
def test_a_version_query_without_any_field_fails(namesrv: Client) -> None:
    _all_fail(namesrv, [RequestCode.QUERY_DATA_VERSION])


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-017")
@OVER_THE_WIRE
@given(field=integer_fields, value=st.sampled_from(NO_INTEGERS))
def test_a_request_with_words_for_a_number_fails(
    broker: Client, field: tuple[RequestCode, str], value: str
) -> None:
    code, name = field
    fields = {**WHOLE[code], name: value}
    _expect_refused(broker, Command(code=code, fields=fields), "WIRE-CONN-017")


@pytest.mark.clause("WIRE-COMMAND-007")
@pytest.mark.parametrize(
    "name", ["producerGroup", "defaultTopic", "defaultTopicQueueNums"]
)
def test_a_send_to_a_known_topic_may_lack_fields(
    broker: Client, topic: str, name: str
) -> None:
    sent = plain_send(topic)
    fields = {one: text for one, text in sent.fields.items() if one != name}
    response = broker.invoke(sent.code, fields, sent.body)
    code = ResponseCode.SUCCESS
    expect_code("WIRE-COMMAND-007", response, code, broker.transcript)


@pytest.mark.clause("WIRE-COMMAND-013")
@pytest.mark.parametrize("name", ["commitOffset", "suspendTimeoutMillis", "subVersion"])
def test_a_pull_may_lack_fields_that_its_flags_do_not_need(
    broker: Client, topic: str, group: str, name: str
) -> None:
    fields: dict[str, str | int | None] = {
        "consumerGroup": group,
        "topic": topic,
        "queueId": 0,
        "queueOffset": 0,
        "maxMsgNums": 1,
        "sysFlag": int(PullFlag.SUBSCRIPTION),
        "commitOffset": 0,
        "suspendTimeoutMillis": 0,
        "subscription": "*",
        "subVersion": 0,
        name: None,
    }
    response = broker.invoke(RequestCode.PULL_MESSAGE, fields)
    code = ResponseCode.PULL_NOT_FOUND  # the queue is empty
    expect_code("WIRE-COMMAND-013", response, code, broker.transcript)


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-018")
def test_a_field_in_other_letters_is_another_field(broker: Client) -> None:
    for name in ("queueid", "QueueId", "queueID", "queue_id"):
        fields = {"topic": "t", name: "0"}
        command = Command(code=RequestCode.GET_MAX_OFFSET, fields=fields)
        code = broker.peer.request(command).code
        expect_that(
            "WIRE-CONN-018",
            code != ResponseCode.SUCCESS,
            found=code,
            expected="an error, for queueId is missing",  # WIRE-CONN-016 has its code
            what=f"code of a request with {name}",
            transcript=broker.transcript,
        )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-028", "WIRE-JSON-003")
@OVER_THE_WIRE
@given(extra=st.dictionaries(names, texts(), max_size=5))
def test_fields_that_nobody_knows_change_nothing(
    server: Server, extra: dict[str, str]
) -> None:
    response = server.request(fields={**extra, **server.known_request.fields})
    expect(
        "WIRE-CONN-028",
        found=server.compared_parts(response),
        expected=server.expected_parts,
        what="the answer",
        transcript=server.transcript,
    )


@pytest.mark.clause("WIRE-COMMAND-007")
def test_an_absent_text_is_nobodys_name(broker: Client, topic: str) -> None:
    fields = {"topic": topic, "queueId": "0", "commitOffset": "1"}
    command = Command(code=RequestCode.UPDATE_CONSUMER_OFFSET, fields=fields)
    expect(
        "WIRE-COMMAND-007",
        found=broker.peer.request(command).code,
        expected=ResponseCode.SUCCESS,
        what="code of a commit without consumerGroup",
        transcript=broker.transcript,
    )


@pytest.mark.clause("WIRE-COMMAND-008")
def test_an_unreadable_number_that_may_be_absent_is_absent(
    broker: Client, topic: str
) -> None:
    sent = plain_send(topic, reconsumeTimes="many")
    expect(
        "WIRE-COMMAND-008",
        found=broker.peer.request(sent).code,
        expected=ResponseCode.SUCCESS,
        what="code",
        transcript=broker.transcript,
    )


def _expect_refused(broker: Client, command: Command, clause: str) -> None:
    response = broker.peer.request(command)
    expect_code(clause, response, ResponseCode.SYSTEM_ERROR, broker.transcript)
    expect_that(
        "WIRE-COMMAND-009",
        bool(response.remark),
        found=response.remark,
        expected="some words",
        what="remark",
        transcript=broker.transcript,
    )


def _all_fail(client: Client, codes: Collection[RequestCode]) -> None:
    """Fail the clause unless requests of all *codes* need a field.

    The failure has only the requests with another response code.
    """
    found = {code.name: client.peer.request(Command(code=code)).code for code in codes}
    required = ResponseCode.SYSTEM_ERROR
    wrong = {name: code for name, code in found.items() if code != required}
    expect(
        "WIRE-CONN-016",
        found=wrong,
        expected=dict.fromkeys(wrong, required),
        what="codes of the responses to requests without a field",
        transcript=client.transcript,
    )


def _has_no_offsets(broker: Client) -> bool:
    """Return whether the broker reports that no group has committed an offset."""
    response = broker.invoke(RequestCode.GET_ALL_CONSUMER_OFFSET)
    if response.code != ResponseCode.SUCCESS:
        return False
    offsets = body_of(response)
    assert isinstance(offsets, dict)
    return not offsets["offsetTable"]
