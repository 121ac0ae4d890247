"""
A reply is a message for one client: the one whose request it answers.

The requester sends an ordinary message that says who it is, in REPLY_TO_CLIENT, and
which request this is, in CORRELATION_ID. Whoever consumed it sends the reply to the
broker, which does not wait until somebody pulls it but passes it on at once.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_REPLY = "org.apache.rocketmq.broker.processor.ReplyMessageProcessor"

REPLY_IS_PUSHED = Clause(
    id="SEND-REPLY-001",
    level=Level.MUST,
    text="A broker that takes a reply, by SEND_REPLY_MESSAGE (324) or its version with"
    " letters (325), passes it by PUSH_REPLY_MESSAGE_TO_CLIENT (326) to the producer"
    " whose client id its property REPLY_TO_CLIENT names.",
    source=f"4.6.0 {_REPLY}#pushReplyMessage",
    since="4.6",
)
REPLY_AS_SENT = Clause(
    id="SEND-REPLY-002",
    level=Level.MUST,
    text="A reply is passed on with its body, topic, queue, flags and properties, to"
    " which PUSH_REPLY_TIME is added.",
    source=f"4.6.0 {_REPLY}#pushReplyMessage",
    since="4.6",
)
REPLY_IS_CONFIRMED = Clause(
    id="SEND-REPLY-003",
    level=Level.MUST,
    text="A reply is a success once its client has answered with success.",
    source=f"4.6.0 {_REPLY}#handlePushReplyResult",
    since="4.6",
)
REPLY_TO_NOBODY = Clause(
    id="SEND-REPLY-004",
    level=Level.MUST,
    text="A reply whose client is not there, or that names none, is refused with"
    " SYSTEM_ERROR (1).",
    source=f"4.6.0 {_REPLY}#handlePushReplyResult",
    since="4.6",
)
REPLY_IS_STORED = Clause(
    id="SEND-REPLY-005",
    level=Level.QUIRK,
    text="While storeReplyMessageEnable is true, as by default, a reply is stored in"
    " its topic as well, also one that could not be passed on.",
    source=f"4.6.0 {_REPLY}#processReplyMessageRequest",
    since="4.6",
)
REPLY_BORN_HOST = Clause(
    id="SEND-REPLY-006",
    level=Level.QUIRK,
    text="A reply that is passed on names its two hosts as Java prints them, with a"
    " solidus before the address.",
    source=f"4.6.0 {_REPLY}#pushReplyMessage",
    since="4.6",
    until="4.9.3",
)
REPLY_BORN_HOST_PLAIN = Clause(
    id="SEND-REPLY-007",
    level=Level.MUST,
    text="A reply that is passed on names its two hosts as address and port.",
    source=f"4.9.4 {_REPLY}#pushReplyMessage",
    since="4.9.4",
)
