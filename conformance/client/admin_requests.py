"""Requests of a broker to a client, and the client's responses."""

from __future__ import annotations

import itertools

from conformance.client.consumer.pulls import COMMIT, one_queue
from conformance.client.scripted.scripted_broker import (
    ScriptedBroker,
    members_of_heartbeat,
)
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import ReceivedRequest, is_about
from spec.wire.bodies.json_body import decode_body
from spec.wire.bodies.offset_tables import GetConsumerStatusBody
from spec.wire.bodies.queue_name import QueueName
from spec.wire.bodies.running_info import ConsumerRunningInfo
from spec.wire.remoting.command import Command, CommandFlag
from spec.wire.remoting.request_code import RequestCode

COUNT = 5
_opaques = itertools.count(100_000)


def response_to(
    request: ReceivedRequest, code: int, fields: dict[str, str], body: bytes = b""
) -> Command:
    """Send a request to the client over *request*'s connection; return its response."""
    opaque = next(_opaques)
    question = Command(
        code=code, opaque=opaque, language="JAVA", fields=fields, body=body
    )
    connection, server = request.connection, request.server
    server.send_request(connection, question)

    def found() -> list[Command]:
        return [one for one in connection.responses if one.opaque == opaque]

    server.wait_until(lambda: bool(found()), what=f"the client answers code {code}")
    return found()[0]


def client_id_of(request: ReceivedRequest) -> str:
    """Return the id of the client that sent *request*, from its heartbeat.

    A broker finds the client of an admin tool's request by this id, and forwards it.
    """
    (*_, beat) = [
        one
        for one in request.server.requests(RequestCode.HEART_BEAT)
        if one.connection is request.connection
    ]
    return members_of_heartbeat(beat.command.body)[0]


def send_oneway(
    request: ReceivedRequest, code: int, fields: dict[str, str], body: bytes = b""
) -> None:
    """Send a oneway request over *request*'s connection."""
    notice = Command(
        code=code,
        opaque=next(_opaques),
        flag=CommandFlag.ONEWAY,
        language="JAVA",
        fields=fields,
        body=body,
    )
    request.server.send_request(request.connection, notice)


def queue_of(topic: str) -> QueueName:
    """Return the name of the one queue of *topic*."""
    return QueueName(broker_name="broker-a", queue_id=0, topic=topic)


def filled(cluster: ScriptedCluster, topic: str) -> ScriptedBroker:
    """Return a broker with messages in the only queue of *topic*."""
    broker = one_queue(cluster, topic)
    for number in range(COUNT):
        broker.put(topic, b"%d" % number, KEYS=f"k{number}")
    return broker


def commits_of(broker: ScriptedBroker, topic: str) -> list[tuple[float, int]]:
    """Return the oneway commits of *topic*: time in ms and offset."""
    return [
        (one.at_ms, int(one.command.fields["commitOffset"]))
        for one in broker.requests(COMMIT)
        if is_about(topic, one)
    ]


def running_info_response(request: ReceivedRequest, group: str) -> Command:
    """Send GET_CONSUMER_RUNNING_INFO and return the response."""
    fields = {
        "consumerGroup": group,
        "clientId": client_id_of(request),
        "jstackEnable": "false",
    }
    return response_to(request, RequestCode.GET_CONSUMER_RUNNING_INFO, fields)


def running_info_of(request: ReceivedRequest, group: str) -> ConsumerRunningInfo:
    """Return the running info of the client's *group*."""
    return decode_body(ConsumerRunningInfo, running_info_response(request, group).body)


def status_response(request: ReceivedRequest, topic: str, group: str) -> Command:
    """Send GET_CONSUMER_STATUS_FROM_CLIENT and return the response."""
    fields = {"topic": topic, "group": group}
    code = RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT
    return response_to(request, code, fields)


def status_of(response: Command) -> dict[QueueName, int]:
    """Return the offsets in a consumer status."""
    if not response.body:
        return {}
    return dict(decode_body(GetConsumerStatusBody, response.body).offsets)
