"""
The request that carries a message to a broker: header, flags, body.

Everything that differs from one attempt to the next, queue and time, is an argument;
the message, its key included, stays as it is.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from reference.core.answer import LANGUAGE, RELEASE_ORDINAL
from reference.core.client.checks import DEFAULT_TOPIC
from reference.core.client.message import Message, Queue
from spec.client.requests import REPLY
from spec.store.message_record import SystemFlag
from spec.wire.batch_body import BatchMessage, encode_batch
from spec.wire.command import Command, CommandFlag
from spec.wire.groups import RETRY_PREFIX
from spec.wire.producer import COMPRESS_FROM_SIZE, QUEUES_OF_A_NEW_TOPIC
from spec.wire.properties import Property, encode_properties
from spec.wire.request_code import RequestCode
from spec.wire.send import LETTERS

COMPRESSION_LEVEL = 5
_COUNTS = {
    Property.RECONSUME_TIME: "reconsumeTimes",
    Property.MAX_RECONSUME_TIMES: "maxReconsumeTimes",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """One message, or a batch made into one, as the body of a request."""

    topic: str
    body: bytes
    properties: Mapping[str, str]
    flag: int = 0
    system_flags: int = 0
    is_batch: bool = False
    message_id: str = ""
    """What the result calls the message: its key, or all keys of the batch."""


def outgoing(
    message: Message, key: str, *, compress_from: int = COMPRESS_FROM_SIZE
) -> Outgoing:
    """Return *message* as it is sent, with *key* unless it has one already."""
    properties = {Property.UNIQ_KEY: key, **message.properties}  # [CLIENT-SEND-002]
    body, system_flags = message.body, 0
    if len(body) >= compress_from:  # [CLIENT-SEND-003]
        body = zlib.compress(body, COMPRESSION_LEVEL)
        system_flags |= SystemFlag.COMPRESSED
    if properties.get(Property.TRAN_MSG, "").lower() == "true":  # [CLIENT-SEND-006]
        system_flags |= SystemFlag.TRANSACTION_PREPARED
    return Outgoing(
        topic=message.topic,
        body=body,
        properties=properties,
        flag=message.flag,
        system_flags=system_flags,
        message_id=properties[Property.UNIQ_KEY],
    )


def outgoing_batch(messages: Sequence[Message], keys: Sequence[str]) -> Outgoing:
    """Return *messages*, some of one topic, as one body; it is never compressed."""
    keyed = [
        replace(message, properties={Property.UNIQ_KEY: key, **message.properties})
        for message, key in zip(messages, keys, strict=True)
    ]
    wait = messages[0].properties.get(Property.WAIT, "true")
    return Outgoing(
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
    message: Outgoing,
    queue: Queue,
    *,
    group: str,
    now_ms: int,
    oneway: bool = False,
    queue_count: int = QUEUES_OF_A_NEW_TOPIC,
) -> Command:
    """Return the request that sends *message* to *queue*; its opaque comes later."""
    code = RequestCode.SEND_MESSAGE_V2  # [CLIENT-SEND-009]
    if message.is_batch:
        code = RequestCode.SEND_BATCH_MESSAGE
    if message.properties.get(Property.MSG_TYPE) == REPLY:  # [CLIENT-REQUEST-013]
        code = RequestCode.SEND_REPLY_MESSAGE_V2
    fields: dict[str, str] = {  # [CLIENT-SEND-007]
        "producerGroup": group,
        "topic": message.topic,
        "defaultTopic": DEFAULT_TOPIC,
        "defaultTopicQueueNums": str(queue_count),
        "queueId": str(queue.queue_id),
        "sysFlag": str(int(message.system_flags)),
        "bornTimestamp": str(now_ms),
        "flag": str(message.flag),
        "properties": encode_properties(message.properties),
        "reconsumeTimes": "0",
        "unitMode": "false",
        "batch": "true" if message.is_batch else "false",
        **_counts(message),
    }
    return Command(
        code=code,
        flag=CommandFlag.ONE_WAY if oneway else 0,
        language=LANGUAGE,
        version=RELEASE_ORDINAL,
        fields={LETTERS[name]: value for name, value in fields.items()},
        body=message.body,
    )


def _counts(message: Outgoing) -> dict[str, str]:
    """Return the header fields that repeat properties of a message that went back."""
    if not message.topic.startswith(RETRY_PREFIX):  # [CLIENT-SEND-008]
        return {}
    found = message.properties
    return {_COUNTS[name]: found[name] for name in _COUNTS if name in found}
