"""
Clients belong to groups, and tell the broker so by heartbeats.

A heartbeat says which groups a client produces and consumes in, and with which
subscriptions. The broker tells a group's consumers when one joins or leaves, keeps
queues locked for those who consume in order, and takes messages back that could
not be consumed.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_BEAT = "4.6.0 org.apache.rocketmq.broker.processor.ClientManageProcessor"
_CONSUMERS = "4.6.0 org.apache.rocketmq.broker.client.ConsumerManager"
_NOTIFY = (
    "4.6.0 org.apache.rocketmq.broker.client.DefaultConsumerIdsChangeListener#handle"
)
_LOCKS = "4.6.0 org.apache.rocketmq.broker.client.rebalance.RebalanceLockManager"
_ADMIN = "4.6.0 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
_BACK = "4.6.0 org.apache.rocketmq.broker.processor.SendMessageProcessor"

RETRY_PREFIX = "%RETRY%"
"""Before a group's name: the topic of messages that it sent back."""
DEAD_LETTER_PREFIX = "%DLQ%"
"""Before a group's name: the topic of messages that it gave up on."""
LOCK_TIME_MS = 60_000
"""A queue's lock that is not renewed for so long may be taken by another client."""

MEMBERS = Clause(
    id="GROUP-MEMBER-001",
    level=Level.MUST,
    text="The members of a consumer group are the clients whose heartbeats named it, by"
    " client id.",
    source="4.6.0 org.apache.rocketmq.broker.processor.ConsumerManageProcessor"
    "#getConsumerListByGroup",
)
NO_MEMBERS = Clause(
    id="GROUP-MEMBER-002",
    level=Level.MUST,
    text="A question for the members of a group that has none is answered SYSTEM_ERROR"
    " (1).",
    source="4.6.0 org.apache.rocketmq.broker.processor.ConsumerManageProcessor"
    "#getConsumerListByGroup",
)
JOIN_IS_TOLD = Clause(
    id="GROUP-MEMBER-003",
    level=Level.MUST,
    text="When a client joins a group, every member is sent NOTIFY_CONSUMER_IDS_CHANGED"
    " (40) oneway, the new one too.",
    source=_NOTIFY,
)
BEAT_IS_NOT_TOLD = Clause(
    id="GROUP-MEMBER-004",
    level=Level.MUST,
    text="A heartbeat that changes nothing is told to nobody.",
    source=f"{_CONSUMERS}#registerConsumer",
)
LEAVE = Clause(
    id="GROUP-MEMBER-005",
    level=Level.MUST,
    text="A client that unregisters is no member any more, and the others are told.",
    source=f"{_BEAT}#unregisterClient",
)
CLOSE_IS_LEAVE = Clause(
    id="GROUP-MEMBER-006",
    level=Level.MUST,
    text="A client whose connection closes is no member any more, and the others are"
    " told.",
    source=f"{_CONSUMERS}#doChannelCloseEvent",
)
SUBSCRIPTION_IS_TOLD = Clause(
    id="GROUP-MEMBER-007",
    level=Level.MUST,
    text="A heartbeat with a subscription to a new topic is told to the members.",
    source=f"{_CONSUMERS}#registerConsumer",
)
SUBSCRIPTION_GONE_IS_TOLD = Clause(
    id="GROUP-MEMBER-008",
    level=Level.MUST,
    text="A heartbeat without a topic that its group was subscribed to ends that"
    " subscription for all members, and is told to them.",
    source="4.6.0 org.apache.rocketmq.broker.client.ConsumerGroupInfo"
    "#updateSubscription",
)
NEW_ID_IS_NOT_TOLD = Clause(
    id="GROUP-MEMBER-009",
    level=Level.QUIRK,
    text="A heartbeat with another client id by the connection of a member changes that"
    " member's id, and is told to nobody.",
    source="4.6.0 org.apache.rocketmq.broker.client.ConsumerGroupInfo#updateChannel",
)
STRANGER_LEAVES = Clause(
    id="GROUP-MEMBER-010",
    level=Level.QUIRK,
    text="A client that unregisters from a group in which it is not changes nothing,"
    " and the members are told all the same.",
    source=f"{_CONSUMERS}#unregisterConsumer",
)
CONSUMER_CONNECTIONS = Clause(
    id="GROUP-CONNECTION-001",
    level=Level.MUST,
    text="The connections of a consumer group are listed with client id, address,"
    " language and version, and its subscriptions by topic.",
    source=f"{_ADMIN}#getConsumerConnectionList",
)
NOT_ONLINE = Clause(
    id="GROUP-CONNECTION-002",
    level=Level.MUST,
    text="A question for the connections of a group without members is answered"
    " CONSUMER_NOT_ONLINE (206).",
    source=f"{_ADMIN}#getConsumerConnectionList",
)
PRODUCER_CONNECTIONS = Clause(
    id="GROUP-CONNECTION-003",
    level=Level.MUST,
    text="The connections of a producer group are listed with client id, address,"
    " language and version.",
    source=f"{_ADMIN}#getProducerConnectionList",
)
NO_PRODUCERS = Clause(
    id="GROUP-CONNECTION-004",
    level=Level.MUST,
    text="A question for the connections of a producer group that nobody named is"
    " answered SYSTEM_ERROR (1).",
    source=f"{_ADMIN}#getProducerConnectionList",
)
RETRY_TOPIC_IS_CREATED = Clause(
    id="GROUP-RETRY-001",
    level=Level.MUST,
    text="The first heartbeat of a consumer group creates its retry topic, %RETRY% and"
    " the group's name.",
    source=f"{_BEAT}#heartBeat",
)
LOCK = Clause(
    id="GROUP-LOCK-001",
    level=Level.MUST,
    text="A client that locks queues is answered with those that it now holds, and may"
    " lock them again.",
    source=f"{_LOCKS}#tryLockBatch",
)
LOCK_IS_EXCLUSIVE = Clause(
    id="GROUP-LOCK-002",
    level=Level.MUST,
    text="A queue that one client holds is not among those that another client of the"
    " group locks.",
    source=f"{_LOCKS}#tryLockBatch",
)
LOCK_IS_OF_GROUP = Clause(
    id="GROUP-LOCK-003",
    level=Level.MUST,
    text="Different groups may hold the same queue.",
    source=f"{_LOCKS}#tryLockBatch",
)
UNLOCK = Clause(
    id="GROUP-LOCK-004",
    level=Level.MUST,
    text="A queue is free once its holder unlocks it, and not when another client"
    " does.",
    source=f"{_LOCKS}#unlockBatch",
)
LOCK_ENDS = Clause(
    id="GROUP-LOCK-005",
    level=Level.MUST,
    text="A lock that its holder has not renewed for more than 60 seconds may be taken"
    " by another client of the group, and no earlier.",
    source=f"{_LOCKS}$LockEntry#isExpired",
)
LOCK_IS_RENEWED = Clause(
    id="GROUP-LOCK-006",
    level=Level.MUST,
    text="Each lock request of the holder lets the 60 seconds begin anew.",
    source=f"{_LOCKS}#tryLockBatch",
)
SEND_BACK = Clause(
    id="RETRY-BACK-001",
    level=Level.MUST,
    text="A message sent back comes again on the group's retry topic, after the delay"
    " of its level, with one more delivery counted.",
    source=f"{_BACK}#consumerSendMsgBack",
)
SEND_BACK_ORIGIN = Clause(
    id="RETRY-BACK-002",
    level=Level.MUST,
    text="A message sent back has its topic in RETRY_TOPIC and its first id in"
    " ORIGIN_MESSAGE_ID.",
    source=f"{_BACK}#consumerSendMsgBack",
)
SEND_BACK_NOTHING = Clause(
    id="RETRY-BACK-003",
    level=Level.MUST,
    text="Sending back an offset at which there is no message is refused with"
    " SYSTEM_ERROR (1).",
    source=f"{_BACK}#consumerSendMsgBack",
)
SEND_BACK_LATER = Clause(
    id="RETRY-BACK-004",
    level=Level.MUST,
    text="A message sent back with delay level 0 waits at level 3, and at one more for"
    " each time that it was sent back before.",
    source=f"{_BACK}#consumerSendMsgBack",
)
SEND_BACK_AGAIN = Clause(
    id="RETRY-BACK-005",
    level=Level.MUST,
    text="RETRY_TOPIC and ORIGIN_MESSAGE_ID stay what they were at first, however often"
    " a message is sent back.",
    source=f"{_BACK}#consumerSendMsgBack",
)
DEAD_LETTER_FORGETS = Clause(
    id="RETRY-DEAD-006",
    level=Level.QUIRK,
    text="A message that goes among the dead letters without waiting has no"
    " ORIGIN_MESSAGE_ID there; sent back from there, its id is that of the dead"
    " letter.",
    source=f"{_BACK}#consumerSendMsgBack",
    until="4.8",
)
DEAD_LETTER_WAITS = Clause(
    id="RETRY-DEAD-004",
    level=Level.QUIRK,
    text="A message that was delayed waits at its delay level once more before it is"
    " among the dead letters.",
    source=f"{_BACK}#consumerSendMsgBack",
    until="4.9.1",
    issues=("apache/rocketmq#2724",),
)
DEAD_LETTER_AT_ONCE = Clause(
    id="RETRY-DEAD-005",
    level=Level.MUST,
    text="A message that was delayed is among the dead letters as soon as it is given"
    " up.",
    source="4.9.7 org.apache.rocketmq.broker.processor.AbstractSendMessageProcessor"
    "#consumerSendMsgBack",
    since="4.9.2",
    issues=("apache/rocketmq#2724",),
)
DEAD_LETTER = Clause(
    id="RETRY-DEAD-001",
    level=Level.MUST,
    text="A message sent back with a negative delay level, or more often than"
    " maxReconsumeTimes, goes to the group's dead letter topic, at once if it was never"
    " delayed.",
    source=f"{_BACK}#consumerSendMsgBack",
    issues=("apache/rocketmq#7914",),
)
