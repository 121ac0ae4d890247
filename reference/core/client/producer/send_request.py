"""
Send requests: unique ids, header, flags and body of a message or a batch.

A prepared message, unique key included, is the same for every attempt. Queue and time
are arguments of the request.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

from msgspec import Struct, structs

from reference.core.client.message import Message, MessageQueue
from reference.core.remoting.response import create_request
from spec.client.requests import REPLY
from spec.store.message_record import SystemFlag
from spec.wire.message.properties import Property, encode_properties
from spec.wire.message.topic_names import DEFAULT_TOPIC, RETRY_PREFIX
from spec.wire.message.unique_key import UniqueKey, encode_unique_key
from spec.wire.producer.producer import COMPRESS_FROM_SIZE, QUEUES_OF_A_NEW_TOPIC
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.send.batch_body import BatchMessage, encode_batch
from spec.wire.send.send import LETTERS

COMPRESSION_LEVEL = 5
_COUNTS = {
    Property.RECONSUME_TIME: "reconsumeTimes",
    Property.MAX_RECONSUME_TIMES: "maxReconsumeTimes",
}
_COUNTER_END = 2**16
_WORD_END = 2**32


class PreparedMessage(Struct, frozen=True, kw_only=True):
    """A message or a batch, ready to be the body of a request."""

    topic: str
    body: bytes
    properties: Mapping[str, str]
    flag: int = 0
    system_flags: int = 0
    is_batch: bool = False
    message_id: str = ""
    """The unique key, or all keys of the batch, for the result."""


def prepare_message(
    message: Message, key: str, *, compress_from: int = COMPRESS_FROM_SIZE
) -> PreparedMessage:
    """Prepare *message*, with *key* unless it has a unique key already."""
    properties = {Property.UNIQ_KEY: key, **message.properties}  # [CLIENT-SEND-002]
    body, system_flags = message.body, 0
    if len(body) >= compress_from:  # [CLIENT-SEND-003]
        body = zlib.compress(body, COMPRESSION_LEVEL)
        system_flags |= SystemFlag.COMPRESSED
    if properties.get(Property.TRAN_MSG, "").lower() == "true":  # [CLIENT-SEND-006]
        system_flags |= SystemFlag.TRANSACTION_PREPARED
    return PreparedMessage(
        topic=message.topic,
        body=body,
        properties=properties,
        flag=message.flag,
        system_flags=system_flags,
        message_id=properties[Property.UNIQ_KEY],
    )


def prepare_batch(messages: Sequence[Message], keys: Sequence[str]) -> PreparedMessage:
    """Prepare *messages* of one topic as a batch, which is never compressed."""
    keyed = [
        structs.replace(
            message, properties={Property.UNIQ_KEY: key, **message.properties}
        )
        for message, key in zip(messages, keys, strict=True)
    ]
    wait = messages[0].properties.get(Property.WAIT, "true")
    return PreparedMessage(
        topic=messages[0].topic,
        body=encode_batch(  # [CLIENT-SEND-004]
            BatchMessage(
                body=one.body,
                properties=encode_properties(one.properties),
                flag=one.flag,
            )
            for one in keyed
        ),
        properties={Property.WAIT: wait},
        is_batch=True,
        message_id=",".join(one.properties[Property.UNIQ_KEY] for one in keyed),
    )


def send_command(
    message: PreparedMessage,
    queue: MessageQueue,
    *,
    group: str,
    now_ms: int,
    oneway: bool = False,
    queue_count: int = QUEUES_OF_A_NEW_TOPIC,
) -> Command:
    """Build the request that sends *message* to *queue*, without an opaque."""
    code = RequestCode.SEND_MESSAGE_V2  # [CLIENT-SEND-009]
    if message.is_batch:
        code = RequestCode.SEND_BATCH_MESSAGE
    if message.properties.get(Property.MSG_TYPE) == REPLY:
        code = RequestCode.SEND_REPLY_MESSAGE_V2
    fields: dict[str, object] = {  # [CLIENT-SEND-007]
        "producerGroup": group,
        "topic": message.topic,
        "defaultTopic": DEFAULT_TOPIC,
        "defaultTopicQueueNums": queue_count,
        "queueId": queue.queue_id,
        "sysFlag": int(message.system_flags),
        "bornTimestamp": now_ms,
        "flag": message.flag,
        "properties": encode_properties(message.properties),
        "reconsumeTimes": "0",
        "unitMode": "false",
        "batch": "true" if message.is_batch else "false",
        **_counts(message),
    }
    short_fields = {LETTERS[name]: value for name, value in fields.items()}
    return create_request(code, short_fields, message.body, oneway=oneway)


def _counts(message: PreparedMessage) -> dict[str, str]:
    """Return the retry counts of a message to a retry topic, as header fields."""
    if not message.topic.startswith(RETRY_PREFIX):  # [CLIENT-SEND-008]
        return {}
    found = message.properties
    return {_COUNTS[name]: found[name] for name in _COUNTS if name in found}


class UniqueIdGenerator:
    """Generates ids of one process, unique within a month (MessageClientIDSetter).

    The *address* has 4 bytes of IPv4 or 16 of IPv6. The *program_hash* distinguishes
    programs in one process (Java: the class loader's hash). The *zone_offset_ms* is
    local time minus UTC.
    """

    def __init__(
        self,
        *,
        address: bytes,
        process_id: int,
        program_hash: int = 0,
        zone_offset_ms: int = 0,
    ) -> None:
        self._key = UniqueKey(
            address=address,
            # 4.6.0 uses the high bits, which two processes of a host share. 4.7 uses
            # the low bits, as intended.
            process_id=process_id % _COUNTER_END,
            class_loader_hash=program_hash,
            since_month_ms=0,
            counter=0,
        )
        self._zone_offset_ms = zone_offset_ms

    def next_id(self, now_ms: int) -> str:
        """Return a new id for the time *now_ms*."""
        since_ms = now_ms - month_begins_ms(now_ms, self._zone_offset_ms)
        key = replace(self._key, since_month_ms=since_ms % _WORD_END)
        self._key = replace(key, counter=(key.counter + 1) % _COUNTER_END)
        return encode_unique_key(key)  # [CLIENT-UNIQKEY-006]


def month_begins_ms(now_ms: int, zone_offset_ms: int) -> int:
    """Return the start of the month of *now_ms* in local time, as epoch ms."""
    zone = timezone(timedelta(milliseconds=zone_offset_ms))
    now = datetime.fromtimestamp(now_ms / 1000, UTC).astimezone(zone)
    begin = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return int(begin.timestamp()) * 1000
