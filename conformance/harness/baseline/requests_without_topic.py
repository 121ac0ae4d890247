"""
Requests of the baseline that need no topic: frames, headers, unknown codes and names.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace

from conformance.harness.baseline import unknown_codes
from conformance.harness.baseline.frame_checks import (
    BETWEEN_PARTS_S,
    LONG_REMARK,
    check_frame,
    check_is_answered,
    check_opaque,
    expect,
    expect_wire,
    peer_of,
)
from conformance.harness.baseline.unknown_codes import (
    check_has_response,
    check_stays_open,
)
from conformance.harness.client.client import RefusedError, require_success
from conformance.harness.client.peer import Peer
from conformance.harness.client.peer_errors import WrongOpaqueError
from conformance.harness.targets.target import Target
from spec.wire.remoting.command import Command, CommandFlag, encode_command
from spec.wire.remoting.frame import SerializeType
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

NOWHERE = 1 << 40
"""Offset of the commit log at which no message is."""
ANY_OPAQUE = 12
KV_VALUE = "value"
LIST_OF_BROKERS = Command(code=RequestCode.GET_BROKER_CLUSTER_INFO)


class RequestsWithoutTopic:
    """The requests to one target about a topic that does not exist yet."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._topic = f"baseline_{uuid.uuid4().hex[:12]}"
        fields = {"topic": self._topic, "queueId": "0"}
        self._question = Command(code=RequestCode.GET_MAX_OFFSET, fields=fields)

    def check_name_server_frame(self) -> None:
        """Check frame and header of the name server's responses."""
        check_frame(self._target.namesrv, LIST_OF_BROKERS)

    def check_broker_frame(self) -> None:
        """Check frame and header of the broker's responses."""
        check_frame(self._target.broker, self._question)

    def check_refusals(self) -> None:
        """Check the opaque of responses with an error."""
        unknown = Command(
            code=RequestCode.GET_ROUTEINFO_BY_TOPIC, fields={"topic": self._topic}
        )
        nowhere = {"offset": str(NOWHERE)}
        no_message = Command(code=RequestCode.VIEW_MESSAGE_BY_ID, fields=nowhere)
        target = self._target
        for address, question in (
            (target.namesrv, unknown),
            (target.broker, no_message),
        ):
            if address is not None:
                with Peer(address) as peer:
                    check_opaque(peer, question)

    def check_oneway(self) -> None:
        """Check that a oneway request gets no response."""
        with peer_of(self._target.broker) as peer:
            sent = peer.send(replace(self._question, flag=CommandFlag.ONEWAY))
            # As bytes: then a response to the oneway request is kept, not an error.
            peer.send_bytes(encode_command(replace(self._question, opaque=ANY_OPAQUE)))
            peer.receive_response(ANY_OPAQUE)
            received = peer.receive_until_silent(BETWEEN_PARTS_S)
        found = [one.code for one in received if one.opaque == sent.opaque]
        expect_wire("WIRE-COMMAND-002", not found, f"codes {found}", "no response")

    def check_binary_header(self) -> None:
        """Check that a request with a ROCKETMQ header gets a response."""
        kind = SerializeType.ROCKETMQ
        with peer_of(self._target.broker) as peer:
            question = replace(self._question, remark=LONG_REMARK, serialize_type=kind)
            check_is_answered(peer, question)

    def check_failure(self) -> None:
        """Check that a request that fails unexpectedly gets a response."""
        with peer_of(self._target.broker) as peer:
            check_is_answered(peer, Command(code=RequestCode.HEART_BEAT, body=b"{"))

    def check_broker_responds(self) -> None:
        """Check that the broker responds to a request with an unknown code."""
        check_has_response(unknown_codes.BROKER, self._target.broker)

    def check_broker_stays_open(self) -> None:
        """Check that the broker keeps a connection with an unknown request code."""
        clause = unknown_codes.SILENT_BROKER
        check_stays_open(clause, self._target.broker, self._question)

    def check_name_server_responds(self) -> None:
        """Check that the name server responds to a request with an unknown code."""
        check_has_response(unknown_codes.NAME_SERVER, self._target.namesrv)

    def check_name_server_stays_open(self) -> None:
        """Check that the name server keeps a connection with an unknown code."""
        clause = unknown_codes.SILENT_NAME_SERVER
        check_stays_open(clause, self._target.namesrv, LIST_OF_BROKERS)

    def check_unknown_route(self) -> None:
        """Check that the name server has no route of a topic without a broker."""
        with self._target.connect_to_namesrv() as namesrv:
            _expect_unknown("ROUTE-DATA-003", lambda: namesrv.route(self._topic))

    def check_kv_config(self) -> None:
        """Check that the name server returns the value of a key."""
        entry = {"namespace": self._topic, "key": "key"}
        with self._target.connect_to_namesrv() as namesrv:
            require_success(namesrv.put_kv(**entry, value=KV_VALUE))
            found = require_success(namesrv.get_kv(**entry)).fields.get("value")
            namesrv.delete_kv(**entry)
        expect("ROUTE-KV-001", "value", found, KV_VALUE)

    def check_unknown_pull(self) -> None:
        """Check that a pull from an unknown topic is refused."""
        with self._target.connect_to_broker() as broker:
            _expect_unknown(
                "PULL-TOPIC-001", lambda: broker.pull(topic=self._topic, offset=0)
            )

    def check_named_broker(self) -> None:
        """Check that a request with the broker's name has a response.

        A proxy forwards such a request, and responds to others without the broker.
        """
        with self._target.connect_to_broker() as broker:
            broker.max_offset(topic=self._topic, queue_id=0)


def _expect_unknown(clause: str, send: Callable[[], Command]) -> None:
    """Expect that a request about an unknown topic is refused.

    Raises RefusedError where the target does not have the request.
    """
    try:
        response = send()
    except WrongOpaqueError:
        return  # the step of refused requests is about opaques
    if response.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
        raise RefusedError(response)
    if response.code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST:
        return  # the group is unknown too, and was looked up first
    expect(clause, "code", response.code, ResponseCode.TOPIC_NOT_EXIST)
