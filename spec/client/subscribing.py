"""
How a consumer reads: which queues, from where on, at which broker, and what it commits.

The requests are in ``spec.wire``: ``pull``, ``offsets``, ``groups``. Here is what a
client makes of the answers.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_INSTANCE = "4.6.0 org.apache.rocketmq.client.impl.factory.MQClientInstance"
_PULLS = "4.6.0 org.apache.rocketmq.client.impl.consumer.PullAPIWrapper"
_PUSHED = "4.6.0 org.apache.rocketmq.client.impl.consumer.DefaultMQPushConsumerImpl"
_REQUESTS = "4.6.0 org.apache.rocketmq.client.impl.MQClientAPIImpl"

SUSPEND_MS = 15_000
PULL_TIMEOUT_MS = 30_000
AFTER_ERROR_MS = 1000
COMMIT_PERIOD_MS = 5000
OFFSET_TIMEOUT_MS = 5000
CHECK_TIMEOUT_MS = 3000
RETRIES_MAX = 16
FIRST_RETRY_LEVEL = 3
"""The delay level of a message that is sent to the retry topic the first time."""
INNER_PRODUCER = "CLIENT_INNER_PRODUCER"
"""The producer group by which a consumer itself sends."""
AFTER_KEPT_MS = 5000
"""After so long a message that could not go back is handed out again."""
BACKLOG_COUNT_MAX = 1000
BACKLOG_MIB_MAX = 100
BACKLOG_SPAN_MAX = 2000
AFTER_FLOOD_MS = 50

READABLE = Clause(
    id="CLIENT-SUBSCRIBE-001",
    level=Level.MUST,
    text="A consumer's queues are, of every broker whose permission for the topic has"
    " bit 2, the queue ids from 0 to the read queue count less one, whether or not the"
    " broker has a master.",
    source=f"{_INSTANCE}#topicRouteData2TopicSubscribeInfo",
)
SUBSCRIPTION_IS_TOLD = Clause(
    id="CLIENT-SUBSCRIBE-002",
    level=Level.MUST,
    text="A consumer's heartbeat has of each topic the expression, each tag in it and"
    " each tag's hash; a pull that names the expression (bit 2 of its flags) names the"
    " same.",
    source="4.6.0 org.apache.rocketmq.common.filter.FilterAPI#buildSubscriptionData",
)
SQL_IS_TOLD = Clause(
    id="CLIENT-SUBSCRIBE-003",
    level=Level.MUST,
    text="A subscription by SQL92 has expressionType SQL92 in heartbeats and pulls, the"
    " expression as the application gave it, and no tags; the consumer hands out"
    " whatever such a pull brings.",
    source="4.6.0 org.apache.rocketmq.common.filter.FilterAPI#build",
)
SQL_WANTS_A_VERSION = Clause(
    id="CLIENT-SUBSCRIBE-004",
    level=Level.MUST,
    text="A consumer by SQL92 pulls only from a broker whose answers to its heartbeats"
    " have at least the version of 4.1.0-SNAPSHOT (232).",
    source=f"{_PULLS}#pullKernelImpl",
)
SQL_IS_CHECKED = Clause(
    id="CLIENT-SUBSCRIBE-005",
    level=Level.MUST,
    text="A consumer by SQL92 that starts sends its subscription with"
    " CHECK_CLIENT_CONFIG (46) to a broker of the topic, if there is one, and tells"
    " the application of any answer but SUCCESS (0).",
    source=f"{_INSTANCE}#checkClientInBroker",
)
PULL_CODES = Clause(
    id="CLIENT-PULL-001",
    level=Level.MUST,
    text="A consumer takes SUCCESS (0) for messages, PULL_NOT_FOUND (19) for none yet,"
    " PULL_RETRY_IMMEDIATELY (20) for none that match, PULL_OFFSET_MOVED (21) for an"
    " offset that the queue does not have, and every other code for an error.",
    source=f"{_REQUESTS}#processPullResponse",
)
TAGS_AGAIN = Clause(
    id="CLIENT-PULL-002",
    level=Level.MUST,
    text="A consumer of tags compares the tag of each message it gets as text, and"
    " drops those whose tag only has the same hash.",
    source=f"{_PULLS}#processPullResult",
)
SUGGESTED = Clause(
    id="CLIENT-PULL-003",
    level=Level.MUST,
    text="A consumer's next pull from a queue goes to the broker id that the last"
    " answer suggested, to any of the same name where there is none of this id.",
    source=f"{_PULLS}#updatePullFromWhichNode",
)
SLAVES_COMMIT_NOTHING = Clause(
    id="CLIENT-PULL-004",
    level=Level.MUST,
    text="A pull from a slave commits no offset.",
    source=f"{_PULLS}#pullKernelImpl",
)
GOES_ON = Clause(
    id="CLIENT-PULL-005",
    level=Level.MUST,
    text="A consumer goes on at nextBeginOffset, whether it got messages or was told"
    " that there are none or that its offset is wrong.",
    source=f"{_PUSHED}#pullMessage",
)
PULL_WAITS = Clause(
    id="CLIENT-PULL-006",
    level=Level.SHOULD,
    text="A consumer lets a broker hold its pull for 15 seconds and waits 30 seconds"
    " for the answer.",
    source=f"{_PUSHED}#BROKER_SUSPEND_MAX_TIME_MILLIS",
)
AFTER_ERROR = Clause(
    id="CLIENT-PULL-012",
    level=Level.SHOULD,
    text="After an error a consumer pulls the queue again in one second (before 4.6.0,"
    " in three).",
    source="4.6.0 org.apache.rocketmq.client.ClientConfig"
    "#pullTimeDelayMillsWhenException",
    since="4.6",
)
INFLATED = Clause(
    id="CLIENT-PULL-007",
    level=Level.MUST,
    text="A consumer hands out the body of a message with bit 0 of its system flags as"
    " it was before the producer compressed it.",
    source="4.6.0 org.apache.rocketmq.common.message.MessageDecoder#decode",
)
INFLATED_BY = Clause(
    id="CLIENT-PULL-009",
    level=Level.MUST,
    text="Bits 8 to 10 of a message's system flags say how a compressed body was"
    " compressed: 1 is LZ4 (its frame format), 2 Zstandard, 0 and 3 zlib.",
    source="5.3.3 org.apache.rocketmq.common.compression.CompressionType#findByValue",
    since="5.0",
)
FROM_COMMITTED = Clause(
    id="CLIENT-BEGIN-001",
    level=Level.MUST,
    text="A consumer begins a queue at its group's committed offset where it has one.",
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.RebalancePushImpl"
    "#computePullFromWhere",
)
FROM_LAST = Clause(
    id="CLIENT-BEGIN-002",
    level=Level.MUST,
    text="A group without a committed offset begins with CONSUME_FROM_LAST_OFFSET at"
    " the queue's max offset, in its retry topic at 0; with CONSUME_FROM_FIRST_OFFSET"
    " at 0.",
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.RebalancePushImpl"
    "#computePullFromWhere",
)
FROM_TIME = Clause(
    id="CLIENT-BEGIN-003",
    level=Level.MUST,
    text="A group without a committed offset begins with CONSUME_FROM_TIMESTAMP at the"
    " offset that SEARCH_OFFSET_BY_TIMESTAMP (29) gives for the time.",
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.RebalancePushImpl"
    "#computePullFromWhere",
)
RETRIES_FROM_TIME = Clause(
    id="CLIENT-BEGIN-004",
    level=Level.QUIRK,
    text="A group that begins with CONSUME_FROM_TIMESTAMP begins its retry topic at the"
    " max offset, where other groups begin it at 0.",
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.RebalancePushImpl"
    "#computePullFromWhere",
)
COMMITS = Clause(
    id="CLIENT-COMMIT-001",
    level=Level.MUST,
    text="A consumer commits the offsets up to which it has handled every message: with"
    " its pulls, oneway every 5 seconds, and when it gives a queue up or ends.",
    source="4.6.0 org.apache.rocketmq.client.consumer.store.RemoteBrokerOffsetStore"
    "#persistAll",
)
HANDS_BACK = Clause(
    id="CLIENT-RETURN-001",
    level=Level.MUST,
    text="A message that the application could not handle goes back to the broker it"
    " came from, with CONSUMER_SEND_MSG_BACK, delay level 0 and at most 16 deliveries.",
    source=f"{_PUSHED}#sendMessageBack",
)
READS_RETRIES = Clause(
    id="CLIENT-RETURN-002",
    level=Level.MUST,
    text="A clustering consumer also reads the retry topic of its group, and hands its"
    " messages out under the topic they came from.",
    source=f"{_PUSHED}#resetRetryAndNamespace",
)
SENDS_ANEW = Clause(
    id="CLIENT-RETURN-003",
    level=Level.MUST,
    text="A message that its broker does not take back is sent to the retry topic of"
    " the group, with the properties it had, RETRY_TOPIC, and as DELAY the level 3 and"
    " one more for each delivery before.",
    source=f"{_PUSHED}#sendMessageBack",
)
KEEPS_WHAT_CANNOT_GO = Clause(
    id="CLIENT-RETURN-004",
    level=Level.MUST,
    text="A message that cannot be sent to the retry topic either is handed to the"
    " application again, 5 seconds later; until then it is not handled.",
    source="4.6.0 org.apache.rocketmq.client.impl.consumer."
    "ConsumeMessageConcurrentlyService#processConsumeResult",
)
BROADCASTS_GIVE_NOTHING_BACK = Clause(
    id="CLIENT-RETURN-005",
    level=Level.QUIRK,
    text="A member of a broadcasting group gives nothing back: a message that it could"
    " not handle counts as handled.",
    source="4.6.0 org.apache.rocketmq.client.impl.consumer."
    "ConsumeMessageConcurrentlyService#processConsumeResult",
)
PULLS_AHEAD = Clause(
    id="CLIENT-PULL-008",
    level=Level.MUST,
    text="A consumer pulls ahead of the application: it waits with the next pull of a"
    " queue, 50 ms at a time, only while more than 1000 of its messages, or 100 whole"
    " MiB of bodies, are not handled, or their offsets are more than 2000 apart.",
    source=f"{_PUSHED}#pullMessage",
)
SHARES_A_THRESHOLD = Clause(
    id="CLIENT-PULL-010",
    level=Level.MUST,
    text="Where a threshold is set for the topic, that of each queue is its quotient by"
    " the number of all queues that the consumer has, those of the retry topic too, at"
    " least 1, and found anew when its share changes.",
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.RebalancePushImpl"
    "#messageQueueChanged",
)
ORDER_MINDS_NO_SPAN = Clause(
    id="CLIENT-PULL-011",
    level=Level.QUIRK,
    text="A consumer in order pulls ahead however far the offsets of what is not"
    " handled are apart.",
    source=f"{_PUSHED}#pullMessage",
)
EMPTY_BODY_IS_A_MESSAGE = Clause(
    id="CLIENT-PULL-013",
    level=Level.MUST,
    text="A consumer hands out a message with an empty body, which other clients send"
    " and brokers before 4.9 store, and whatever is behind it in the same answer.",
    source="5.3.3 org.apache.rocketmq.client.impl.consumer.ProcessQueue#putMessage",
    issues=(
        "apache/rocketmq#2102",
        "apache/rocketmq#9015",
        "apache/rocketmq-client-go#501",
    ),
)
ASKS_AND_DOES_NOT_WAIT = Clause(
    id="CLIENT-PULL-014",
    level=Level.MUST,
    text="The pull of an application that pulls itself names its expression (bit 2 of"
    " its flags), is not to be held (bit 1) and commits no offset (bit 0).",
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.DefaultMQPullConsumerImpl"
    "#pullSyncImpl",
)
READS_VERSION_2 = Clause(
    id="CLIENT-PULL-015",
    level=Level.MUST,
    text="A consumer reads records of version 2 (magic 0xDAA320AB), whose topic has a"
    " length of two bytes.",
    source="5.3.3 org.apache.rocketmq.common.message.MessageDecoder#decode",
    since="5.0",
)
COMMITS_THE_LOWEST = Clause(
    id="CLIENT-COMMIT-002",
    level=Level.MUST,
    text="What a consumer commits of a queue is the offset of the first message that is"
    " not handled, however many after it are; without one, the next after the last.",
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.ProcessQueue#removeMessage",
)
