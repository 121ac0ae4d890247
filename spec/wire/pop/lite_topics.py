"""
Lite topics, from 5.5 on: many small queues of one parent topic, popped in order.

A message with the property __LITE_TOPIC is stored in its parent topic and in the light
message queue of the lite topic. The parent topic has the attribute message.type=LITE, a
group is bound to it by lite.bind.topic. A client subscribes to lite topics with
LITE_SUBSCRIPTION_CTL and pops them with POP_LITE_MESSAGE, which names no queue. It
acknowledges with ACK_MESSAGE, whose field liteTopic names the lite topic.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from spec.clause import Clause, Level
from spec.wire.bodies.json_body import Member, OpenBody
from spec.wire.message.topic_names import LMQ_PREFIX

SINCE = "5.5"
LITE_TOPIC_PROPERTY = "__LITE_TOPIC"
SEPARATOR = "$"
LITE_POP_COUNT_MAX = 32
"""Most messages of one lite pop."""
MESSAGE_TYPE_LITE = "+message.type=LITE"
"""Attribute of a parent topic."""
BIND_TOPIC, SUBSCRIPTION_MODEL = "+lite.bind.topic", "+lite.sub.model"
"""Attributes of a group: its parent topic; Shared or Exclusive."""
EXCLUSIVE = "Exclusive"
UNKNOWN_CLIENT = -1
"""The number of lite topics of a client without a subscription."""

_CONTROL = "5.5.0 org.apache.rocketmq.broker.processor.LiteSubscriptionCtlProcessor"
_REGISTRY = "5.5.0 org.apache.rocketmq.broker.lite.LiteSubscriptionRegistryImpl"
_POP = "5.5.0 org.apache.rocketmq.broker.processor.PopLiteMessageProcessor"
_ACK = "5.5.0 org.apache.rocketmq.broker.processor.AckMessageProcessor"
_CHANGE = "5.5.0 org.apache.rocketmq.broker.processor.ChangeInvisibleTimeProcessor"
_MANAGER = "5.5.0 org.apache.rocketmq.broker.processor.LiteManagerProcessor"

STORED_TWICE = Clause(
    id="LITE-SEND-001",
    level=Level.MUST,
    text=(
        "A message with the property __LITE_TOPIC is stored with INNER_MULTI_DISPATCH "
        "%LMQ%$PARENT$LITE, and its offset in that queue is counted from 0."
    ),
    source="5.5.0 org.apache.rocketmq.broker.processor.SendMessageProcessor"
    "#sendMessage",
    since=SINCE,
)
EMPTY_CONTROL = Clause(
    id="LITE-SUBSCRIBE-001",
    level=Level.MUST,
    text=(
        "LITE_SUBSCRIPTION_CTL (200071) without a body, or without subscriptions in "
        "it, is refused with ILLEGAL_OPERATION (604)."
    ),
    source=f"{_CONTROL}#processRequest",
    since=SINCE,
)
PARTIAL = Clause(
    id="LITE-SUBSCRIBE-002",
    level=Level.MUST,
    text=(
        "PARTIAL_ADD of LITE_SUBSCRIPTION_CTL adds lite topics to those of the "
        "client, and PARTIAL_REMOVE removes the named ones only. GET_LITE_CLIENT_INFO "
        "(200077) returns their number and queue names."
    ),
    source=f"{_REGISTRY}#addPartialSubscription",
    since=SINCE,
)
COMPLETE = Clause(
    id="LITE-SUBSCRIBE-003",
    level=Level.MUST,
    text=(
        "COMPLETE_ADD of LITE_SUBSCRIPTION_CTL replaces all lite topics of the "
        "client. After COMPLETE_REMOVE the client is unknown, and liteTopicCount of "
        "GET_LITE_CLIENT_INFO is -1."
    ),
    source=f"{_REGISTRY}#addCompleteSubscription",
    since=SINCE,
)
MAY_NOT_CONSUME = Clause(
    id="LITE-SUBSCRIBE-004",
    level=Level.MUST,
    text=(
        "Additions of a group that may not consume (consumeEnable false) are refused "
        "with ILLEGAL_OPERATION (604)."
    ),
    source=f"{_CONTROL}#checkConsumeEnable",
    since=SINCE,
)
EXCLUDED = Clause(
    id="LITE-SUBSCRIBE-005",
    level=Level.MUST,
    text=(
        "In a group with lite.sub.model Exclusive, a subscription to a lite topic "
        "ends that of another client, which gets a oneway NOTIFY_UNSUBSCRIBE_LITE "
        "(200073) with liteTopic, consumerGroup and clientId."
    ),
    source=f"{_REGISTRY}#excludeClientByLmqName",
    since=SINCE,
)
REFUSED_POPS = Clause(
    id="LITE-POP-001",
    level=Level.MUST,
    text=(
        "POP_LITE_MESSAGE (200070) is refused with TOPIC_NOT_EXIST (17) for an "
        "unknown topic. It is refused with INVALID_PARAMETER (29) for more than 32 "
        "messages, for a topic that is not of type LITE, and for a group that is not "
        "bound to it."
    ),
    source=f"{_POP}#preCheck",
    since=SINCE,
)
SUBSCRIBED_ONLY = Clause(
    id="LITE-POP-002",
    level=Level.MUST,
    text=(
        "A lite pop returns the oldest messages of the client's lite topics, in the "
        "order of each, at most maxMsgNum together, and none of another lite topic."
    ),
    source=f"{_POP}#popByClientId",
    since=SINCE,
)
RESPONSE_FIELDS = Clause(
    id="LITE-POP-003",
    level=Level.MUST,
    text=(
        "The response to a lite pop has the requested invisibleTime, popTime, "
        "reviveQid 999, and orderCountInfo with a 0 for each message that is popped "
        "for the first time."
    ),
    source=f"{_POP}#processRequest",
    since=SINCE,
)
IN_ORDER = Clause(
    id="LITE-POP-004",
    level=Level.MUST,
    text=(
        "While a popped message of a lite topic is neither acknowledged nor visible "
        "again, a lite pop returns no message of that lite topic, while messages of "
        "others are returned."
    ),
    source=f"{_POP}#isFifoBlocked",
    since=SINCE,
)
NOTHING = Clause(
    id="LITE-POP-005",
    level=Level.MUST,
    text=(
        "Without a message, a lite pop with pollTime 0 is answered with "
        "POLLING_TIMEOUT (210)."
    ),
    source=f"{_POP}#processRequest",
    since=SINCE,
)
HELD = Clause(
    id="LITE-POP-006",
    level=Level.MUST,
    text=(
        "A lite pop that is held for pollTime is answered when a message of one of "
        "the client's lite topics arrives."
    ),
    source="5.5.0 org.apache.rocketmq.broker.longpolling.PopLiteLongPollingService"
    "#polling",
    since=SINCE,
)
AGAIN = Clause(
    id="LITE-POP-007",
    level=Level.MUST,
    text=(
        "Messages of a lite pop that are not acknowledged in their invisible time are "
        "returned again, with their own offsets and in order."
    ),
    source=f"{_POP}#isFifoBlocked",
    since=SINCE,
)
REFUSED_ACKS = Clause(
    id="LITE-ACK-001",
    level=Level.MUST,
    text=(
        "ACK_MESSAGE with a liteTopic is refused with NO_MESSAGE (208) for an offset "
        "above the lite topic's max offset. It is refused with INVALID_PARAMETER (29) "
        "for a queueId other than 0, a revive queue other than 999, and a group that "
        "is not bound to the topic."
    ),
    source=f"{_ACK}#ackLite",
    since=SINCE,
)
ACK_ADVANCES = Clause(
    id="LITE-ACK-002",
    level=Level.MUST,
    text=(
        "After all messages of a lite pop are acknowledged, the group's committed "
        "offset of queue %LMQ%$PARENT$LITE is behind them. The next pop returns the "
        "messages from there on."
    ),
    source=f"{_ACK}#ackLite",
    since=SINCE,
)
ACK_TWICE = Clause(
    id="LITE-ACK-003",
    level=Level.QUIRK,
    text=(
        "ACK_MESSAGE for a message of a lite topic below the committed offset is "
        "answered with SUCCESS (0)."
    ),
    source=f"{_ACK}#ackLite",
    since=SINCE,
)
CHANGED_TIME = Clause(
    id="LITE-INVISIBLE-001",
    level=Level.MUST,
    text=(
        "After CHANGE_MESSAGE_INVISIBLETIME (200053) with liteTopic to a shorter "
        "time, the message is returned when the new time ends."
    ),
    source=f"{_CHANGE}#processChangeInvisibleTimeForLite",
    since=SINCE,
)
TIME_FROM_THE_POP = Clause(
    id="LITE-INVISIBLE-002",
    level=Level.QUIRK,
    text=(
        "The response to CHANGE_MESSAGE_INVISIBLETIME with liteTopic has the popTime "
        "of the receipt, and as invisibleTime the milliseconds from there to the new "
        "end, not the requested time."
    ),
    source=f"{_CHANGE}#processChangeInvisibleTimeForLite",
    since=SINCE,
)
PARENT_INFO = Clause(
    id="LITE-INFO-001",
    level=Level.MUST,
    text=(
        "GET_PARENT_TOPIC_INFO (200075) returns the topic, its lite.topic.expiration "
        "in minutes as ttl, its bound groups, and the number of its lite topics."
    ),
    source=f"{_MANAGER}#getParentTopicInfo",
    since=SINCE,
)
LITE_INFO = Clause(
    id="LITE-INFO-002",
    level=Level.MUST,
    text=(
        "GET_LITE_TOPIC_INFO (200076) returns the lite topic's subscribers, each "
        "with clientId and group, and its min and max offset. Both are 0 without "
        "messages."
    ),
    source=f"{_MANAGER}#getLiteTopicInfo",
    since=SINCE,
)
BROKER_INFO = Clause(
    id="LITE-INFO-003",
    level=Level.MUST,
    text=(
        "GET_BROKER_LITE_INFO (200074) returns the ttl of each parent topic as "
        "topicMeta, and its bound groups as groupMeta."
    ),
    source=f"{_MANAGER}#getBrokerLiteInfo",
    since=SINCE,
)
GROUP_INFO = Clause(
    id="LITE-INFO-004",
    level=Level.MUST,
    text=(
        "GET_LITE_GROUP_INFO (200078) for a lite topic that the group consumed from "
        "has the max offset, the committed offset, and the difference as "
        "totalLagCount. For a lite topic without messages totalLagCount is -1."
    ),
    source=f"{_MANAGER}#getLiteGroupInfo",
    since=SINCE,
)
REFUSED_QUESTIONS = Clause(
    id="LITE-INFO-005",
    level=Level.MUST,
    text=(
        "GET_PARENT_TOPIC_INFO and GET_LITE_TOPIC_INFO are refused with "
        "TOPIC_NOT_EXIST (17) for an unknown topic, and with INVALID_PARAMETER (29) "
        "for one that is not of type LITE. GET_LITE_CLIENT_INFO, GET_LITE_GROUP_INFO "
        "and TRIGGER_LITE_DISPATCH are refused with 29 for a group without a parent "
        "topic."
    ),
    source=f"{_MANAGER}#getLiteTopicInfo",
    since=SINCE,
)
TRIGGER = Clause(
    id="LITE-TRIGGER-001",
    level=Level.MUST,
    text=(
        "TRIGGER_LITE_DISPATCH (200079) for a group with a parent topic is answered "
        "with SUCCESS (0)."
    ),
    source=f"{_MANAGER}#triggerLiteDispatch",
    since=SINCE,
)


class SubscriptionAction(StrEnum):
    """Changes of a client's subscription (Java: LiteSubscriptionAction)."""

    PARTIAL_ADD = "PARTIAL_ADD"
    PARTIAL_REMOVE = "PARTIAL_REMOVE"
    COMPLETE_ADD = "COMPLETE_ADD"
    COMPLETE_REMOVE = "COMPLETE_REMOVE"


class LiteSubscription(OpenBody, frozen=True, kw_only=True):
    """A change of one client's subscription (Java: LiteSubscriptionDTO)."""

    action: Annotated[str, Member("action", "one of SubscriptionAction", since=SINCE)]
    client_id: Annotated[str, Member("clientId", "the client", since=SINCE)]
    group: Annotated[str, Member("group", "its group", since=SINCE)]
    parent: Annotated[str, Member("topic", "the parent topic", since=SINCE)]
    lite_topics: Annotated[
        tuple[str, ...], Member("liteTopicSet", "names without the parent", since=SINCE)
    ]
    version: Annotated[int, Member("version", "of a complete change", since=SINCE)] = 0


class LiteSubscriptions(OpenBody, frozen=True, kw_only=True):
    """The body of LITE_SUBSCRIPTION_CTL (Java: LiteSubscriptionCtlRequestBody)."""

    subscriptions: Annotated[
        tuple[LiteSubscription, ...], Member("subscriptionSet", since=SINCE)
    ]


def lite_queue(parent: str, lite_topic: str) -> str:
    """Return the name of the light message queue of a lite topic.

    5.5.0 org.apache.rocketmq.common.lite.LiteUtil#toLmqName
    """
    return f"{LMQ_PREFIX}{SEPARATOR}{parent}{SEPARATOR}{lite_topic}"
