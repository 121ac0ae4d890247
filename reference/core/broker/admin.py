"""
What tools ask of a broker about itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reference.core.answer import (
    SYSTEM_ERROR,
    Answer,
    encode_notice,
    refusal,
)
from reference.core.java_properties import read_properties, write_properties
from reference.core.request import Request
from spec.layout import LayoutError
from spec.wire import fastjson
from spec.wire.message_id import decode_message_id
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

_FOR_C = "CPP"


def broker_settings(broker: Broker, _: Request) -> Answer:
    """Answer the settings, one a line."""
    options = broker.options
    changed_at_ms = options.changed_at_ms or broker.started_at_ms
    version = {"counter": options.change_count, "timestamp": changed_at_ms}
    body = write_properties(options.shown()).encode()  # [ADMIN-CONFIG-001]
    return Answer(fields={"version": fastjson.dumps(version).decode()}, body=body)


def update_settings(broker: Broker, request: Request) -> Answer:
    """Change settings that the broker has."""
    changes = read_properties(request.body.decode())
    broker.options.update(changes, request.now_ms)
    if "brokerPermission" in changes:
        broker.topics.touch(request.now_ms)
        broker.announce(None)
    return Answer()


def reset_offset(broker: Broker, request: Request) -> Answer:
    """Tell a group's members to go on from another time."""
    name, group = request.text("topic"), request.text("group")
    topic = broker.topics.get(name)
    if topic is None:
        return refusal(
            SYSTEM_ERROR,
            "[reset-offset] reset offset failed, no topic in this broker. "
            f"topic={name}",
        )
    offsets: dict[int, int] = {}
    for queue_id in range(topic.write_queue_count):
        consumed = broker.offsets.query(group, name, queue_id)
        if consumed == -1:
            remark = f"THe consumer group <{group}> not exist"
            return refusal(SYSTEM_ERROR, remark)
        offsets[queue_id] = _reset_one(broker, request, queue_id, consumed=consumed)
    members = broker.clients.consumers.get(group)
    if members is None:
        remark = (
            f"Consumer not online, so can not reset offset, Group: {group} "
            f"Topic: {name} Timestamp: {request.int64('timestamp')}"
        )
        return refusal(ResponseCode.CONSUMER_NOT_ONLINE, remark)
    table = {broker.queue_key(name, q): offset for q, offset in offsets.items()}
    notice = encode_notice(
        RequestCode.RESET_CONSUMER_CLIENT_OFFSET,
        {
            "topic": name,
            "group": group,
            "timestamp": request.text("timestamp"),
            "isForce": "false",
        },
        _offsets_body(broker, name, offsets, for_c=request.language == _FOR_C),
    )
    for connection in members.members:
        broker.send(connection, notice)
    return Answer(body=fastjson.dumps({"offsetTable": table}))


def ask_client(broker: Broker, request: Request) -> Answer | None:
    """Pass a question on to a member of a group; its answer is passed back."""
    if request.code == RequestCode.CONSUME_MESSAGE_DIRECTLY:
        message_id = request.text("msgId")
        record = _record(broker, message_id)
        if record is None:  # [ADMIN-CLIENT-005]
            return refusal(SYSTEM_ERROR, f"there is no message {message_id}")
        fields = {**request.fields, "brokerName": broker.options.name}
        request = replace(request, fields=fields, body=record)  # [ADMIN-CLIENT-004]
    group, client_id = request.text("consumerGroup"), request.text("clientId")
    members = broker.clients.consumers.get(group)
    clients = [] if members is None else list(members.members.values())
    for client in clients:
        if client.client_id == client_id:
            broker.relay(request, client.connection)  # [ADMIN-CLIENT-001]
            return None
    # [ADMIN-CLIENT-002]
    return refusal(SYSTEM_ERROR, f"The Consumer <{group}> <{client_id}> not online")


def _record(broker: Broker, message_id: str) -> bytes | None:
    """Return the record that an id names; None where none begins."""
    try:
        _, offset = decode_message_id(message_id)
    except LayoutError:
        return None
    record = broker.store.record_at(offset)
    return None if record is None else bytes(record)


def _reset_one(
    broker: Broker, request: Request, queue_id: int, *, consumed: int
) -> int:
    """Return from where a queue is to be read; not later than now, unless forced."""
    topic, timestamp_ms = request.text("topic"), request.int64("timestamp")
    if timestamp_ms == -1:
        offset = broker.store.max_offset(topic, queue_id)
    else:
        offset = broker.store.offset_by_time(topic, queue_id, timestamp_ms)
    offset = max(offset, 0)
    return offset if request.truth("isForce") else min(offset, consumed)


def _offsets_body(
    broker: Broker, topic: str, offsets: dict[int, int], *, for_c: bool
) -> bytes:
    """Return offsets as clients want them; the one in C++ cannot read object keys."""
    if for_c:  # [OFFSET-RESET-102]
        rows = [
            {
                "brokerName": broker.options.name,
                "offset": offset,
                "queueId": queue_id,
                "topic": topic,
            }
            for queue_id, offset in offsets.items()
        ]
        return fastjson.dumps({"offsetTable": rows})
    table = {broker.queue_key(topic, q): offset for q, offset in offsets.items()}
    return fastjson.dumps({"offsetTable": table})  # [OFFSET-RESET-101]
