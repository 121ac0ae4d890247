"""
A reply is a message for one client: the sender of its request.

The requester sends an ordinary message with its own client id in REPLY_TO_CLIENT and
the request's id in CORRELATION_ID. The consumer of that message sends the reply to the
broker, which pushes it immediately instead of waiting for a pull.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_REPLY = "org.apache.rocketmq.broker.processor.ReplyMessageProcessor"

REPLY_IS_PUSHED = Clause(
    id="SEND-REPLY-001",
    level=Level.MUST,
    text=(
        "A broker relays a reply, sent by SEND_REPLY_MESSAGE (324) or "
        "SEND_REPLY_MESSAGE_V2 (325), by PUSH_REPLY_MESSAGE_TO_CLIENT (326) to the "
        "producer whose client id is in its property REPLY_TO_CLIENT."
    ),
    source=f"4.6.0 {_REPLY}#pushReplyMessage",
    since="4.6",
)
REPLY_AS_SENT = Clause(
    id="SEND-REPLY-002",
    level=Level.MUST,
    text=(
        "A reply is relayed with its body, topic, queue, flags and properties, plus "
        "PUSH_REPLY_TIME."
    ),
    source=f"4.6.0 {_REPLY}#pushReplyMessage",
    since="4.6",
)
REPLY_IS_CONFIRMED = Clause(
    id="SEND-REPLY-003",
    level=Level.MUST,
    text=(
        "A reply is answered with SUCCESS (0) after its client has answered with "
        "SUCCESS (0)."
    ),
    source=f"4.6.0 {_REPLY}#handlePushReplyResult",
    since="4.6",
)
REPLY_TO_ABSENT_CLIENT = Clause(
    id="SEND-REPLY-004",
    level=Level.MUST,
    text=(
        "A reply whose client is not connected, or that names none, is refused with "
        "SYSTEM_ERROR (1)."
    ),
    source=f"4.6.0 {_REPLY}#handlePushReplyResult",
    since="4.6",
)
REPLY_IS_STORED = Clause(
    id="SEND-REPLY-005",
    level=Level.QUIRK,
    text=(
        "While storeReplyMessageEnable is true, the default, a reply is also stored "
        "in its topic, even if it could not be relayed."
    ),
    source=f"4.6.0 {_REPLY}#processReplyMessageRequest",
    since="4.6",
)
REPLY_BORN_HOST = Clause(
    id="SEND-REPLY-006",
    level=Level.QUIRK,
    text=(
        "Up to 4.9.3, a relayed reply has its two hosts as Java prints them, with a "
        "solidus before the address."
    ),
    source=f"4.6.0 {_REPLY}#pushReplyMessage",
    since="4.6",
    until="4.9.3",
)
REPLY_BORN_HOST_PLAIN = Clause(
    id="SEND-REPLY-007",
    level=Level.MUST,
    text="From 4.9.4 on, a relayed reply has its two hosts as address and port.",
    source=f"4.9.4 {_REPLY}#pushReplyMessage",
    since="4.9.4",
)
REPLY_LOSES_FLAGS = Clause(
    id="SEND-REPLY-008",
    level=Level.QUIRK,
    text=(
        "A reply is stored with the system flags 0, even if its sysFlag is "
        "COMPRESSED_FLAG (1). It is relayed with its own sysFlag."
    ),
    source=f"4.6.0 {_REPLY}#processReplyMessageRequest",
    since="4.6",
)
NO_REPLY_AFTER_LEAVING = Clause(
    id="SEND-REPLY-009",
    level=Level.QUIRK,
    text=(
        "A reply to a client that has unregistered from one of its producer groups is "
        "refused with SYSTEM_ERROR (1), even while the client is in another group."
    ),
    source="4.6.0 org.apache.rocketmq.broker.client.ProducerManager#unregisterProducer",
    since="4.6",
)
