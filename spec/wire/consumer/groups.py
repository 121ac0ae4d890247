"""
Clients belong to groups, which they report to the broker by heartbeats.

A heartbeat has the client's producer and consumer groups, and their subscriptions. The
broker notifies a group's consumers when one joins or leaves, locks queues for orderly
consumers, and takes back messages that could not be consumed.
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

LOCK_TIME_MS = 60_000
"""A queue's lock that is not renewed for so long may be taken by another client."""

MEMBERS = Clause(
    id="GROUP-MEMBER-001",
    level=Level.MUST,
    text=(
        "GET_CONSUMER_LIST_BY_GROUP returns the client ids whose heartbeats named "
        "the group."
    ),
    source="4.6.0 org.apache.rocketmq.broker.processor.ConsumerManageProcessor"
    "#getConsumerListByGroup",
)
NO_MEMBERS = Clause(
    id="GROUP-MEMBER-002",
    level=Level.MUST,
    text=(
        "GET_CONSUMER_LIST_BY_GROUP for a group without members is answered with "
        "SYSTEM_ERROR (1)."
    ),
    source="4.6.0 org.apache.rocketmq.broker.processor.ConsumerManageProcessor"
    "#getConsumerListByGroup",
)
JOIN_NOTIFIES_MEMBERS = Clause(
    id="GROUP-MEMBER-003",
    level=Level.MUST,
    text=(
        "When a client joins a group, every member receives "
        "NOTIFY_CONSUMER_IDS_CHANGED (40) oneway, the new one included."
    ),
    source=_NOTIFY,
)
UNCHANGED_HEARTBEAT = Clause(
    id="GROUP-MEMBER-004",
    level=Level.MUST,
    text="A heartbeat that changes nothing sends no notification.",
    source=f"{_CONSUMERS}#registerConsumer",
)
LEAVE = Clause(
    id="GROUP-MEMBER-005",
    level=Level.MUST,
    text=(
        "A client that unregisters leaves the group, and the other members receive "
        "NOTIFY_CONSUMER_IDS_CHANGED (40)."
    ),
    source=f"{_BEAT}#unregisterClient",
)
CLOSE_IS_LEAVE = Clause(
    id="GROUP-MEMBER-006",
    level=Level.MUST,
    text=(
        "A client whose connection closes leaves the group, and the other members "
        "receive NOTIFY_CONSUMER_IDS_CHANGED (40)."
    ),
    source=f"{_CONSUMERS}#doChannelCloseEvent",
)
SUBSCRIPTION_NOTIFIES_MEMBERS = Clause(
    id="GROUP-MEMBER-007",
    level=Level.MUST,
    text=(
        "After a heartbeat with a subscription to a new topic the members receive "
        "NOTIFY_CONSUMER_IDS_CHANGED (40)."
    ),
    source=f"{_CONSUMERS}#registerConsumer",
)
SUBSCRIPTION_REMOVED = Clause(
    id="GROUP-MEMBER-008",
    level=Level.MUST,
    text=(
        "A heartbeat without a subscribed topic of its group ends that subscription "
        "for all members, who receive NOTIFY_CONSUMER_IDS_CHANGED (40)."
    ),
    source="4.6.0 org.apache.rocketmq.broker.client.ConsumerGroupInfo"
    "#updateSubscription",
)
NEW_ID_IS_NOT_NOTIFIED = Clause(
    id="GROUP-MEMBER-009",
    level=Level.QUIRK,
    text=(
        "A heartbeat with another client id on a member's connection changes that "
        "member's id without a notification."
    ),
    source="4.6.0 org.apache.rocketmq.broker.client.ConsumerGroupInfo#updateChannel",
)
STRANGER_LEAVES = Clause(
    id="GROUP-MEMBER-010",
    level=Level.QUIRK,
    text=(
        "A client that unregisters from a group in which it is not changes nothing, "
        "but the members receive NOTIFY_CONSUMER_IDS_CHANGED (40)."
    ),
    source=f"{_CONSUMERS}#unregisterConsumer",
)
UNREGISTERING_CONFIGURES = Clause(
    id="GROUP-MEMBER-016",
    level=Level.QUIRK,
    text=(
        "UNREGISTER_CLIENT (35) with a consumerGroup that is not configured "
        "configures it, like a heartbeat."
    ),
    source="4.6.0 org.apache.rocketmq.broker.processor.ClientManageProcessor"
    "#unregisterClient",
)
SAME_CLIENT_ID = Clause(
    id="GROUP-MEMBER-011",
    level=Level.MUST,
    text=(
        "Each connection with a consumer's heartbeat stays open and is a member, even "
        "if several have the same client id, in one group or in two."
    ),
    source="4.6.0 org.apache.rocketmq.broker.client.ConsumerGroupInfo#updateChannel",
)
SAME_CLIENT_ID_TWICE = Clause(
    id="GROUP-MEMBER-012",
    level=Level.QUIRK,
    text=(
        "GET_CONSUMER_LIST_BY_GROUP returns a client id twice if two connections of "
        "the group have it."
    ),
    source="4.6.0 org.apache.rocketmq.broker.client.ConsumerGroupInfo#getAllClientId",
)
UNNOTIFIED_GROUP = Clause(
    id="GROUP-MEMBER-014",
    level=Level.MUST,
    text=(
        "Members of a group with notifyConsumerIdsChangedEnable false receive no "
        "NOTIFY_CONSUMER_IDS_CHANGED (40) when a client joins, or leaves with "
        "UNREGISTER_CLIENT (35)."
    ),
    source=f"{_CONSUMERS}#registerConsumer",
)
MEMBER_EXPIRY = Clause(
    id="GROUP-MEMBER-013",
    level=Level.MUST,
    text=(
        "A consumer that sends no heartbeat for 120 seconds is removed from its group "
        "within the next 10, and its connection closed, regardless of its other "
        "requests."
    ),
    source="4.6.0 org.apache.rocketmq.broker.client.ConsumerManager"
    "#scanNotActiveChannel",
)
PRODUCER_EXPIRY = Clause(
    id="GROUP-MEMBER-015",
    level=Level.MUST,
    text=(
        "A producer that sends no heartbeat for 120 seconds is removed from its group "
        "within the next 10, and its connection closed, regardless of its other "
        "requests."
    ),
    source="4.6.0 org.apache.rocketmq.broker.client.ProducerManager"
    "#scanNotActiveChannel",
)
CONSUMER_CONNECTIONS = Clause(
    id="GROUP-CONNECTION-001",
    level=Level.MUST,
    text=(
        "GET_CONSUMER_CONNECTION_LIST lists a group's connections with client id, "
        "address, language and version, and its subscriptions by topic."
    ),
    source=f"{_ADMIN}#getConsumerConnectionList",
)
NOT_ONLINE = Clause(
    id="GROUP-CONNECTION-002",
    level=Level.MUST,
    text=(
        "GET_CONSUMER_CONNECTION_LIST for a group without members is answered with "
        "CONSUMER_NOT_ONLINE (206)."
    ),
    source=f"{_ADMIN}#getConsumerConnectionList",
)
PRODUCER_CONNECTIONS = Clause(
    id="GROUP-CONNECTION-003",
    level=Level.MUST,
    text=(
        "GET_PRODUCER_CONNECTION_LIST lists a group's connections with client id, "
        "address, language and version."
    ),
    source=f"{_ADMIN}#getProducerConnectionList",
)
NO_PRODUCERS = Clause(
    id="GROUP-CONNECTION-004",
    level=Level.MUST,
    text=(
        "GET_PRODUCER_CONNECTION_LIST for a group that no producer has joined, or "
        "whose last one has unregistered, is answered with SYSTEM_ERROR (1)."
    ),
    source=f"{_ADMIN}#getProducerConnectionList",
)
PRODUCER_UNREGISTERS = Clause(
    id="GROUP-CONNECTION-009",
    level=Level.MUST,
    text=(
        "UNREGISTER_CLIENT (35) with producerGroup removes the client from the "
        "producers of that group, and of no other."
    ),
    source=f"{_BEAT}#unregisterClient",
)
RETRY_TOPIC_IS_CREATED = Clause(
    id="GROUP-RETRY-001",
    level=Level.MUST,
    text="The first heartbeat of a consumer group creates its retry topic, %RETRY% and"
    " the group's name.",
    source=f"{_BEAT}#heartBeat",
)
RETRY_TOPIC_AS_SET = Clause(
    id="GROUP-RETRY-002",
    level=Level.MUST,
    text=(
        "The retry topic that a heartbeat or CONSUMER_SEND_MSG_BACK (36) creates has "
        "retryQueueNums queues, permission 6, and topicSysFlag 2 (FLAG_UNIT_SUB) if "
        "unitMode is true, 0 if not."
    ),
    source=f"{_BEAT}#heartBeat",
)
LOCK_BATCH = Clause(
    id="GROUP-LOCK-001",
    level=Level.MUST,
    text=(
        "LOCK_BATCH_MQ returns those queues of its mqSet that the client now holds, "
        "and a holder may lock them again."
    ),
    source=f"{_LOCKS}#tryLockBatch",
)
LOCK_IS_EXCLUSIVE = Clause(
    id="GROUP-LOCK-002",
    level=Level.MUST,
    text=(
        "LOCK_BATCH_MQ does not return a queue that another client of the group holds."
    ),
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
    text=(
        "A queue is free after its holder unlocks it, and not after another client "
        "does."
    ),
    source=f"{_LOCKS}#unlockBatch",
)
LOCK_ENDS = Clause(
    id="GROUP-LOCK-005",
    level=Level.MUST,
    text=(
        "Another client of the group may lock a queue only when its holder has not "
        "renewed the lock for more than 60 seconds."
    ),
    source=f"{_LOCKS}$LockEntry#isExpired",
)
LOCK_IS_RENEWED = Clause(
    id="GROUP-LOCK-006",
    level=Level.MUST,
    text="Each lock request of the holder restarts the 60 seconds.",
    source=f"{_LOCKS}#tryLockBatch",
)
LOCK_WITHOUT_QUEUES = Clause(
    id="GROUP-LOCK-007",
    level=Level.SHOULD,
    text=(
        "LOCK_BATCH_MQ (41) with an empty mqSet is a success whose lockOKMQSet is "
        "empty, also for a client that holds queues."
    ),
    source=f"{_LOCKS}#tryLockBatch",
)
LOCK_NAMED_TWICE = Clause(
    id="GROUP-LOCK-008",
    level=Level.MUST,
    text=(
        "LOCK_BATCH_MQ (41) returns a queue that its mqSet names twice once in "
        "lockOKMQSet."
    ),
    source=f"{_LOCKS}#tryLockBatch",
)
SEND_BACK = Clause(
    id="RETRY-SENDBACK-001",
    level=Level.MUST,
    text=(
        "A message sent back with CONSUMER_SEND_MSG_BACK (36) arrives in the group's "
        "retry topic after the delay of its level, with reconsumeTimes one higher."
    ),
    source=f"{_BACK}#consumerSendMsgBack",
)
SEND_BACK_ORIGIN = Clause(
    id="RETRY-SENDBACK-002",
    level=Level.MUST,
    text=(
        "A message sent back has its topic in RETRY_TOPIC and its first message id "
        "in ORIGIN_MESSAGE_ID."
    ),
    source=f"{_BACK}#consumerSendMsgBack",
)
SEND_BACK_NOTHING = Clause(
    id="RETRY-SENDBACK-003",
    level=Level.MUST,
    text=(
        "CONSUMER_SEND_MSG_BACK (36) for an offset without a message is refused with "
        "SYSTEM_ERROR (1)."
    ),
    source=f"{_BACK}#consumerSendMsgBack",
)
SEND_BACK_LATER = Clause(
    id="RETRY-SENDBACK-004",
    level=Level.MUST,
    text=(
        "A message sent back with delay level 0 is delayed by level 3 plus its "
        "earlier reconsumeTimes."
    ),
    source=f"{_BACK}#consumerSendMsgBack",
)
SEND_BACK_AGAIN = Clause(
    id="RETRY-SENDBACK-005",
    level=Level.MUST,
    text=(
        "RETRY_TOPIC and ORIGIN_MESSAGE_ID keep their first values when a message is "
        "sent back several times."
    ),
    source=f"{_BACK}#consumerSendMsgBack",
)
SEND_BACK_WITHOUT_ORIGIN = Clause(
    id="RETRY-SENDBACK-006",
    level=Level.MUST,
    text=(
        "A message of a retry topic without RETRY_TOPIC and ORIGIN_MESSAGE_ID can be "
        "sent back. The copy has the retry topic and the message's id in these."
    ),
    source=f"{_BACK}#consumerSendMsgBack",
)
SEND_BACK_TO_READ_ONLY = Clause(
    id="RETRY-SENDBACK-007",
    level=Level.MUST,
    text=(
        "A broker whose brokerPermission lacks PERM_WRITE (2) refuses "
        "CONSUMER_SEND_MSG_BACK (36) with NO_PERMISSION (16)."
    ),
    source=f"{_BACK}#consumerSendMsgBack",
)
SEND_BACK_WITHOUT_QUEUES = Clause(
    id="RETRY-SENDBACK-008",
    level=Level.QUIRK,
    text=(
        "CONSUMER_SEND_MSG_BACK (36) of a group with retryQueueNums 0 is answered with "
        "SUCCESS (0), and nothing is stored."
    ),
    source=f"{_BACK}#consumerSendMsgBack",
)
SEND_BACK_OF_UNKNOWN_GROUP = Clause(
    id="RETRY-SENDBACK-009",
    level=Level.MUST,
    text=(
        "With autoCreateSubscriptionGroup=false CONSUMER_SEND_MSG_BACK (36) of an "
        "unknown group is refused with SUBSCRIPTION_GROUP_NOT_EXIST (26)."
    ),
    source=f"{_BACK}#consumerSendMsgBack",
)
DEAD_LETTER_FORGETS = Clause(
    id="RETRY-DLQ-006",
    level=Level.QUIRK,
    text=(
        "Up to 4.8, a message that goes to the dead letter topic without a delay has "
        "no ORIGIN_MESSAGE_ID there; sent back again, it gets the dead letter's id."
    ),
    source=f"{_BACK}#consumerSendMsgBack",
    until="4.8",
)
DEAD_LETTER_WAITS = Clause(
    id="RETRY-DLQ-004",
    level=Level.QUIRK,
    text=(
        "Up to 4.9.1, a message that was delayed waits at its delay level once more "
        "before it is in the dead letter topic."
    ),
    source=f"{_BACK}#consumerSendMsgBack",
    until="4.9.1",
    issues=("apache/rocketmq#2724",),
)
DEAD_LETTER_AT_ONCE = Clause(
    id="RETRY-DLQ-005",
    level=Level.MUST,
    text=(
        "From 4.9.2 on, a message that was delayed is in the dead letter topic "
        "immediately."
    ),
    source="4.9.7 org.apache.rocketmq.broker.processor.SendMessageProcessor"
    "#asyncConsumerSendMsgBack",
    since="4.9.2",
    issues=("apache/rocketmq#2724",),
)
DEAD_LETTER = Clause(
    id="RETRY-DLQ-001",
    level=Level.MUST,
    text=(
        "A message sent back with a negative delay level, or with reconsumeTimes of "
        "maxReconsumeTimes or more, goes to the group's dead letter topic, "
        "immediately if it was never delayed."
    ),
    source=f"{_BACK}#consumerSendMsgBack",
    issues=("apache/rocketmq#7914",),
)
