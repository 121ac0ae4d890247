"""
A message as mqadmin prints it: one line for each part, then the groups' progress.

4.6.0 org.apache.rocketmq.tools.command.message.QueryMsgByIdSubCommand#printMsg, without
the body, which mqadmin writes into /tmp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from conformance.harness.client.client import Client, require_success
from spec.integers import java_string_hash
from spec.store.message_record import Record
from spec.wire.bodies.admin_bodies import GroupList
from spec.wire.bodies.heartbeat import ConsumerConnection
from spec.wire.bodies.json_body import decode_body
from spec.wire.bodies.offset_tables import ConsumeStats
from spec.wire.message.message_id import encode_message_id
from spec.wire.message.properties import decode_properties
from spec.wire.remoting.response_code import ResponseCode

SMALLEST_MAP = 16


def lines_of(
    record: Record, added: Mapping[str, str], *, with_id: bool = True
) -> Iterator[str]:
    """Yield the lines about a message; *added* are properties that its client adds."""
    properties = {**decode_properties(record.properties), **added}
    parts: dict[str, object] = {}
    if with_id:
        parts["OffsetID"] = encode_message_id(record.store_host, record.physical_offset)
    parts |= {
        "Topic": record.topic,
        "Tags": f"[{properties.get('TAGS', 'null')}]",
        "Keys": f"[{properties.get('KEYS', 'null')}]",
        "Queue ID": record.queue_id,
        "Queue Offset": record.queue_offset,
        "CommitLog Offset": record.physical_offset,
        "Reconsume Times": record.reconsume_times,
        "Born Timestamp": local_time(record.born_at_ms),
        "Store Timestamp": local_time(record.stored_at_ms),
        "Born Host": record.born_host,
        "Store Host": record.store_host,
        "System Flag": record.system_flags,
        "Properties": java_map(properties),
    }
    for name, value in parts.items():
        yield f"{name + ':':<20} {value}"


def local_time(time_ms: int) -> str:
    """Return a time of this machine's zone, to the millisecond.

    A time outside the years 1 to 9999 is in milliseconds: a producer may state any.
    """
    seconds, rest_ms = divmod(time_ms, 1000)
    try:
        moment = datetime.fromtimestamp(seconds)  # noqa: DTZ006 - mqadmin's is local
    except (ValueError, OverflowError, OSError):
        return f"{time_ms} ms"
    return f"{moment:%Y-%m-%d %H:%M:%S},{rest_ms:03d}"


def java_map(values: Mapping[str, str]) -> str:
    """Return a map as Java prints a HashMap, in the order of its entries' places."""
    size = SMALLEST_MAP
    while len(values) > size * 3 // 4:
        size *= 2

    def place(name: str) -> int:
        code = java_string_hash(name) & 0xFFFF_FFFF
        return (code ^ code >> 16) & (size - 1)

    entries = sorted(values.items(), key=lambda entry: place(entry[0]))
    return "{" + ", ".join(f"{name}={value}" for name, value in entries) + "}"


def track_lines(record: Record, broker: Client) -> Iterator[str]:
    """Yield a line for each group that reads the message's topic, or that none does."""
    response = require_success(broker.group_topics(topic=record.topic))
    groups = decode_body(GroupList, response.body).groups
    if not groups:
        yield "WARN: No Consumer"
    for group in groups:
        kind, problem = _track(record, broker, group)
        yield (
            f"MessageTrack [consumerGroup={group}, trackType={kind},"
            f" exceptionDesc={problem}]"
        )


def _track(record: Record, broker: Client, group: str) -> tuple[str, str]:
    """Return the track type of a message in a group, and the problem or ``null``."""
    response = broker.consumer_connections(group=group)
    if response.code != ResponseCode.SUCCESS:
        problem = f"CODE:{response.code} DESC:{response.remark}"
        offline = response.code == ResponseCode.CONSUMER_NOT_ONLINE
        return ("NOT_ONLINE" if offline else "UNKNOWN"), problem
    members = decode_body(ConsumerConnection, response.body)
    if members.consume_type == "CONSUME_ACTIVELY":
        return "PULL", "null"
    if not is_consumed(record, broker, group):
        return "NOT_CONSUME_YET", "null"
    wanted = members.subscriptions.get(record.topic)
    tags = decode_properties(record.properties).get("TAGS")
    if wanted and wanted.tags and "*" not in wanted.tags and tags not in wanted.tags:
        return "CONSUMED_BUT_FILTERED", "null"
    return "CONSUMED", "null"


def is_consumed(record: Record, broker: Client, group: str) -> bool:
    """Return whether a group has committed an offset behind a message."""
    response = require_success(broker.consume_stats(group=group, topic=record.topic))
    return any(
        queue.queue_id == record.queue_id and at.consumer_offset > record.queue_offset
        for queue, at in decode_body(ConsumeStats, response.body).queues.items()
    )
