"""
Subscription of a consumer: queues, first offsets, brokers, and committed offsets.

The requests are in ``spec.wire``: ``pull``, ``offsets``, ``groups``. Here is what a
client makes of the responses.
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

READABLE_QUEUES = Clause(
    id="CLIENT-SUBSCRIBE-001",
    level=Level.MUST,
    text=(
        "A consumer's queues are the queue ids from 0 to the read queue count less "
        "one of every broker with PERM_READ (4), with or without a master."
    ),
    source=f"{_INSTANCE}#topicRouteData2TopicSubscribeInfo",
)
SUBSCRIPTION_DATA = Clause(
    id="CLIENT-SUBSCRIBE-002",
    level=Level.MUST,
    text=(
        "A consumer's heartbeat has each topic's expression, its tags and their "
        "hashes; a pull with FLAG_SUBSCRIPTION (4) has the same expression."
    ),
    source="4.6.0 org.apache.rocketmq.common.filter.FilterAPI#buildSubscriptionData",
)
SQL_SUBSCRIPTION = Clause(
    id="CLIENT-SUBSCRIBE-003",
    level=Level.MUST,
    text=(
        "A subscription by SQL92 has expressionType SQL92 in heartbeats and pulls, "
        "the application's expression, and no tags. The consumer hands out every "
        "message of the pull."
    ),
    source="4.6.0 org.apache.rocketmq.common.filter.FilterAPI#build",
)
SQL_WANTS_A_VERSION = Clause(
    id="CLIENT-SUBSCRIBE-004",
    level=Level.MUST,
    text=(
        "A consumer by SQL92 pulls only from a broker whose heartbeat responses have "
        "at least the version V4_1_0_SNAPSHOT (232)."
    ),
    source=f"{_PULLS}#pullKernelImpl",
)
SQL_IS_CHECKED = Clause(
    id="CLIENT-SUBSCRIBE-005",
    level=Level.MUST,
    text=(
        "A consumer by SQL92 sends its subscription at its start with "
        "CHECK_CLIENT_CONFIG (46) to a broker of the topic; any code but SUCCESS (0) "
        "is reported to the application."
    ),
    source=f"{_INSTANCE}#checkClientInBroker",
)
PULL_CODES = Clause(
    id="CLIENT-PULL-001",
    level=Level.MUST,
    text=(
        "A consumer maps SUCCESS (0) to FOUND, PULL_NOT_FOUND (19) to NO_NEW_MSG, "
        "PULL_RETRY_IMMEDIATELY (20) to NO_MATCHED_MSG, PULL_OFFSET_MOVED (21) to "
        "OFFSET_ILLEGAL, and every other code to an error."
    ),
    source=f"{_REQUESTS}#processPullResponse",
)
TAGS_AGAIN = Clause(
    id="CLIENT-PULL-002",
    level=Level.MUST,
    text=(
        "A consumer of tags compares the tag of each received message as text, and "
        "drops those whose tag only has the same hash."
    ),
    source=f"{_PULLS}#processPullResult",
)
SUGGESTED = Clause(
    id="CLIENT-PULL-003",
    level=Level.MUST,
    text=(
        "A consumer's next pull from a queue goes to the broker id of the last "
        "suggestWhichBrokerId, or to any id of the same broker name if that one is "
        "missing."
    ),
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
    text=(
        "A consumer continues at nextBeginOffset, whether the response has messages, "
        "has none, or rejects its offset."
    ),
    source=f"{_PUSHED}#pullMessage",
)
PULL_WAITS = Clause(
    id="CLIENT-PULL-006",
    level=Level.SHOULD,
    text=(
        "A consumer's pull has suspendTimeoutMillis 15,000, and waits 30 seconds for "
        "the response."
    ),
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
    text=(
        "A consumer decompresses the body of a message with COMPRESSED_FLAG (1) in "
        "its system flags before it hands the message out."
    ),
    source="4.6.0 org.apache.rocketmq.common.message.MessageDecoder#decode",
)
INFLATED_BY = Clause(
    id="CLIENT-PULL-009",
    level=Level.MUST,
    text=(
        "From 5.0 on, bits 8 to 10 of the system flags are a body's compression "
        "type: 1 is LZ4 (frame format), 2 Zstandard, 0 and 3 zlib."
    ),
    source="5.3.3 org.apache.rocketmq.common.compression.CompressionType#findByValue",
    since="5.0",
)
FROM_COMMITTED = Clause(
    id="CLIENT-CONSUMEFROM-001",
    level=Level.MUST,
    text="A consumer begins a queue at its group's committed offset if there is one.",
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.RebalancePushImpl"
    "#computePullFromWhere",
)
FROM_LAST = Clause(
    id="CLIENT-CONSUMEFROM-002",
    level=Level.MUST,
    text=(
        "After QUERY_NOT_FOUND (22) from QUERY_CONSUMER_OFFSET (14), "
        "CONSUME_FROM_LAST_OFFSET begins at the queue's max offset, in a retry topic "
        "at 0; CONSUME_FROM_FIRST_OFFSET begins at 0. A returned offset 0 is a "
        "committed offset, also that of a new group (OFFSET-QUERY-001)."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.RebalancePushImpl"
    "#computePullFromWhere",
)
FROM_TIME = Clause(
    id="CLIENT-CONSUMEFROM-003",
    level=Level.MUST,
    text=(
        "Without a committed offset, CONSUME_FROM_TIMESTAMP begins at the offset "
        "that SEARCH_OFFSET_BY_TIMESTAMP (29) returns for the time."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.RebalancePushImpl"
    "#computePullFromWhere",
)
RETRIES_FROM_TIME = Clause(
    id="CLIENT-CONSUMEFROM-004",
    level=Level.QUIRK,
    text=(
        "Without a committed offset, CONSUME_FROM_TIMESTAMP begins the group's retry "
        "topic at the max offset, unlike the other settings, which begin it at 0."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.RebalancePushImpl"
    "#computePullFromWhere",
)
COMMITS = Clause(
    id="CLIENT-COMMIT-001",
    level=Level.MUST,
    text=(
        "A consumer commits its consumed offsets with its pulls, oneway every 5 "
        "seconds, when it loses a queue, and at shutdown."
    ),
    source="4.6.0 org.apache.rocketmq.client.consumer.store.RemoteBrokerOffsetStore"
    "#persistAll",
)
HANDS_BACK = Clause(
    id="CLIENT-SENDBACK-001",
    level=Level.MUST,
    text=(
        "A message that the application could not consume goes back to its broker by "
        "CONSUMER_SEND_MSG_BACK, with delay level 0 and maxReconsumeTimes 16."
    ),
    source=f"{_PUSHED}#sendMessageBack",
)
READS_RETRIES = Clause(
    id="CLIENT-SENDBACK-002",
    level=Level.MUST,
    text=(
        "A CLUSTERING consumer also reads the retry topic of its group, and hands "
        "its messages out under their original topic."
    ),
    source=f"{_PUSHED}#resetRetryAndNamespace",
)
SENDS_ANEW = Clause(
    id="CLIENT-SENDBACK-003",
    level=Level.MUST,
    text=(
        "A message whose send-back fails is sent to the group's retry topic with its "
        "properties, RETRY_TOPIC, and DELAY 3 plus one for each earlier delivery."
    ),
    source=f"{_PUSHED}#sendMessageBack",
)
KEEPS_WHAT_CANNOT_GO = Clause(
    id="CLIENT-SENDBACK-004",
    level=Level.MUST,
    text=(
        "A message that cannot be sent to the retry topic is consumed again after 5 "
        "seconds; until then it counts as unconsumed."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.consumer."
    "ConsumeMessageConcurrentlyService#processConsumeResult",
)
BROADCASTS_GIVE_NOTHING_BACK = Clause(
    id="CLIENT-SENDBACK-005",
    level=Level.QUIRK,
    text=(
        "A member of a BROADCASTING group sends nothing back: a message that it "
        "could not consume counts as consumed."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.consumer."
    "ConsumeMessageConcurrentlyService#processConsumeResult",
)
PULLS_AHEAD = Clause(
    id="CLIENT-PULL-008",
    level=Level.MUST,
    text=(
        "A consumer pulls ahead of the application. It delays a queue's next pull by "
        "50 ms while more than 1000 messages or 100 MiB are unconsumed, or their "
        "offsets are more than 2000 apart."
    ),
    source=f"{_PUSHED}#pullMessage",
)
SHARES_A_THRESHOLD = Clause(
    id="CLIENT-PULL-010",
    level=Level.MUST,
    text=(
        "A topic threshold is divided by the number of the consumer's queues, retry "
        "topic included, at each rebalance; each queue's threshold is at least 1."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.RebalancePushImpl"
    "#messageQueueChanged",
)
ORDER_MINDS_NO_SPAN = Clause(
    id="CLIENT-PULL-011",
    level=Level.QUIRK,
    text=(
        "An orderly consumer pulls ahead regardless of the distance between "
        "unconsumed offsets."
    ),
    source=f"{_PUSHED}#pullMessage",
)
EMPTY_BODY_IS_A_MESSAGE = Clause(
    id="CLIENT-PULL-013",
    level=Level.MUST,
    text=(
        "A consumer hands out a message with an empty body, and the messages behind "
        "it in the same response."
    ),
    source="5.3.3 org.apache.rocketmq.client.impl.consumer.ProcessQueue#putMessage",
    issues=(
        "apache/rocketmq#2102",
        "apache/rocketmq#9015",
        "apache/rocketmq-client-go#501",
    ),
)
PULL_WITHOUT_SUSPEND = Clause(
    id="CLIENT-PULL-014",
    level=Level.MUST,
    text=(
        "The pull of a pull consumer has FLAG_SUBSCRIPTION (4) set, FLAG_SUSPEND (2) "
        "and FLAG_COMMIT_OFFSET (1) clear."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.DefaultMQPullConsumerImpl"
    "#pullSyncImpl",
)
READS_VERSION_2 = Clause(
    id="CLIENT-PULL-015",
    level=Level.MUST,
    text=(
        "From 5.1 on, a consumer reads records of MESSAGE_VERSION_V2 (magic "
        "0xDAA320AB), whose topic has a length of two bytes."
    ),
    source="5.3.3 org.apache.rocketmq.common.message.MessageDecoder#decode",
    since="5.1",
)
COMMITS_THE_LOWEST = Clause(
    id="CLIENT-COMMIT-002",
    level=Level.MUST,
    text=(
        "The offset that a consumer commits is that of the queue's first unconsumed "
        "message, even if later ones are consumed; without one, the offset after the "
        "last."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.consumer.ProcessQueue#removeMessage",
)
