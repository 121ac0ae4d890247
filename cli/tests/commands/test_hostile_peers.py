"""Texts and numbers of peers: no line of a command has control characters raw."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from cli.commands.cluster import consume
from cli.main import main
from conformance.harness.client.lying_server import LyingServer, honest
from reference.core.client.message import MessageQueue
from reference.core.client.pull.message_ext import MessageExt
from spec.host import Host
from spec.integers import INT64_MAX, INT64_MIN
from spec.store.message_record import Record, encode_record
from spec.wire.bodies.fastjson import dumps
from spec.wire.message.message_id import encode_message_id
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

NAME = "N\x1b[31mX\n"
REPLACED = "N\N{REPLACEMENT CHARACTER}[31mX\N{REPLACEMENT CHARACTER}"
BROKER = {"brokerName": NAME, "cluster": NAME, "brokerAddrs": {"0": NAME}}
QUEUES = {"brokerName": NAME, "readQueueNums": 1, "writeQueueNums": 1, "perm": 6}
BODIES = {
    RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: dumps({"topicList": [NAME]}),
    RequestCode.GET_ROUTEINFO_BY_TOPIC: dumps(
        {"brokerDatas": [BROKER], "queueDatas": [{**QUEUES, "topicSynFlag": 0}]}
    ),
    RequestCode.GET_BROKER_CLUSTER_INFO: dumps(
        {"brokerAddrTable": {NAME: BROKER}, "clusterAddrTable": {NAME: [NAME]}}
    ),
    RequestCode.GET_BROKER_CONFIG: f"a={NAME}".encode(),
}


def record_of(**members: object) -> Record:
    """Return a record at the begin of the log."""
    return Record(topic="T", queue_id=0, queue_offset=0, physical_offset=0, **members)  # type: ignore[arg-type]


def response_of(request: Command) -> bytes:
    """Return a response with hostile names."""
    return honest(request, body=BODIES[RequestCode(request.code)])


def is_shown_safely(output: str, lines: int) -> bool:
    """Return whether the output has this many lines, all of them printable."""
    found = output.removesuffix("\n").split("\n")
    return len(found) == lines and all(one.isprintable() for one in found)


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (["topicList", "-n", "PEER"], 1),
        (["topicRoute", "-n", "PEER", "-t", "T"], 2),
        (["clusterList", "-n", "PEER"], 2),
        (["getBrokerConfig", "-b", "PEER"], 2),
    ],
)
def test_names_of_a_peer_are_printable(words: list[str], lines: int) -> None:
    with LyingServer(response_of) as server:
        peer = str(server.address)
        given = [peer if word == "PEER" else word for word in words]
        shown = CliRunner().invoke(main, ["admin", *given])
    assert shown.exit_code == 0, shown.output
    assert REPLACED[:-1] in shown.output
    assert is_shown_safely(shown.output, lines)


def test_a_cluster_with_an_unknown_broker_is_listed() -> None:
    table = {"brokerAddrTable": {}, "clusterAddrTable": {"C": ["gone"]}}
    with LyingServer(lambda one: honest(one, body=dumps(table))) as server:
        words = ["admin", "clusterList", "-n", str(server.address)]
        shown = CliRunner().invoke(main, words)
    assert (shown.exit_code, shown.output.count("\n")) == (0, 1)


@pytest.mark.parametrize("body", [b"", encode_record(record_of())])
def test_an_offset_is_queried_at_a_slave(body: bytes) -> None:
    def response(request: Command) -> bytes:
        if request.code != RequestCode.GET_ROUTEINFO_BY_TOPIC:
            is_pull = request.code == RequestCode.PULL_MESSAGE
            return honest(request, body=body if is_pull else b"{}")
        slave = {**BROKER, "brokerAddrs": {"1": str(server.address)}}
        route = {"brokerDatas": [{**slave, "brokerName": "b"}], "queueDatas": []}
        return honest(request, body=dumps(route))

    with LyingServer(response) as server:
        words = ["admin", "queryMsgByOffset", "-n", str(server.address), "-t", "T"]
        words += ["-b", "b", "-i", "0", "-o", "0"]
        shown = CliRunner().invoke(main, words)
    assert shown.exit_code == (0 if body else 1), shown.output
    assert ("MAX_OFFSET=null" if body else "does not exist") in shown.output


def query(record: Record, code: int = ResponseCode.SUCCESS) -> str:
    """Return the output of a query for a message that the broker has."""

    def response(request: Command) -> bytes:
        is_view = request.code == RequestCode.VIEW_MESSAGE_BY_ID
        body = encode_record(record) if is_view else b"{}"
        return honest(request, code=code, remark=NAME, body=body)

    with LyingServer(response) as server:
        message_id = encode_message_id(Host.of(*server.address), 0)
        words = ["admin", "queryMsgById", "-i", message_id]
        return CliRunner().invoke(main, words).output


def test_properties_of_a_message_are_printable() -> None:
    output = query(record_of(properties=f"KEYS\x01{NAME}\x02"))
    assert f"Keys:                [{REPLACED}]\n" in output
    assert "\x1b" not in output


def test_a_remark_is_printable() -> None:
    output = query(record_of(), ResponseCode.SYSTEM_ERROR)
    assert output == f"the message does not exist: {REPLACED}\n"


@pytest.mark.parametrize("born_at_ms", [INT64_MAX, INT64_MIN, 300_000_000_000_000])
def test_a_time_that_no_calendar_has_is_in_milliseconds(born_at_ms: int) -> None:
    output = query(record_of(born_at_ms=born_at_ms))
    assert f"Born Timestamp:      {born_at_ms} ms\n" in output


def test_the_result_of_a_send_is_one_printable_line() -> None:
    def response(request: Command) -> bytes:
        if request.code == RequestCode.GET_ROUTEINFO_BY_TOPIC:
            broker = {**BROKER, "brokerAddrs": {"0": str(server.address)}}
            queues = [{**QUEUES, "topicSynFlag": 0}]
            route = {"brokerDatas": [broker], "queueDatas": queues}
            return honest(request, body=dumps(route))
        fields = {"msgId": NAME, "queueId": "0", "queueOffset": "0"}
        return honest(request, fields=fields)

    with LyingServer(response) as server:
        words = ["produce", "-n", str(server.address), "T", "hi"]
        shown = CliRunner().invoke(main, words)
    assert shown.exit_code == 0, shown.output
    assert shown.output.count(REPLACED) == 2
    assert is_shown_safely(shown.output, 1)


def test_a_consumed_body_keeps_line_feeds_and_tabs_only() -> None:
    record = record_of(properties=f"TAGS\x01{NAME}\x02", body=b"a\tb\nc\x1b[31m\r")
    message = MessageExt(
        topic="T",
        body=record.body,
        properties={"TAGS": NAME, "UNIQ_KEY": "KEY"},
        queue=MessageQueue("T", "b", 0),
        record=record,
    )
    control = "\N{REPLACEMENT CHARACTER}"
    assert consume._line(message) == (
        f"b queue 0 offset 0 {REPLACED} KEY a\tb\nc{control}[31m{control}"
    )
