"""Parser of the output of the quick start's programs."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SENT = re.compile(
    r"SendResult \[sendStatus=(\w+), msgId=(\w+), offsetMsgId=(\w+),"
    r" messageQueue=MessageQueue \[topic=([^,]+), brokerName=([^,]+), queueId=(\d+)\],"
    r" queueOffset=(\d+)"
)
_RECEIVED = re.compile(
    r"MessageExt \[(?:brokerName=[^,]+, )?queueId=(\d+), storeSize=\d+,"
    r" queueOffset=(\d+),.*?UNIQ_KEY=(\w+).*?body=\[([\d, -]*)\]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """One message, as a producer or a consumer printed it."""

    unique_key: str
    queue_id: int
    queue_offset: int
    status: str = ""
    """Send status (SEND_OK); not printed by consumers."""
    broker_name: str = ""
    """Broker of the message; not printed by every consumer."""
    body: bytes = b""
    """Body that the consumer received; not printed by producers."""


def sent_messages(output: str) -> list[Printed]:
    """Return the results of all sends in the *output* of a producer."""
    return [
        Printed(
            status=found[1],
            unique_key=found[2],
            broker_name=found[5],
            queue_id=int(found[6]),
            queue_offset=int(found[7]),
        )
        for found in _SENT.finditer(output)
    ]


def received_messages(output: str) -> list[Printed]:
    """Return all messages in the *output* of a consumer, in order of arrival."""
    return [
        Printed(
            unique_key=found[3],
            queue_id=int(found[1]),
            queue_offset=int(found[2]),
            body=bytes(int(number) for number in found[4].split(",")),
        )
        for found in _RECEIVED.finditer(output)
    ]
