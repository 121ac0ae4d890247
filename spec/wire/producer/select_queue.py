"""
A producer selects the queue of a message from a route, round robin.

It requests the topic's route from the name server, makes a list of its queues, keeps
the list, and goes round. The last failed broker is skipped if there is another.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_SENDER = "4.6.0 org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl"
_INSTANCE = "4.6.0 org.apache.rocketmq.client.impl.factory.MQClientInstance"
_QUEUES = f"{_INSTANCE}#topicRouteData2TopicPublishInfo"
_TURN = "4.6.0 org.apache.rocketmq.client.impl.producer.TopicPublishInfo"

ROUTE_PERIOD_MS = 30_000
ROUTE_TIMEOUT_MS = 3000

ROUTE_IS_KEPT = Clause(
    id="CLIENT-PUBLISH-001",
    level=Level.MUST,
    text=(
        "A producer requests a topic's route before its first message to it, and not "
        "again before a message while it has queues."
    ),
    source=f"{_SENDER}#tryToFindTopicPublishInfo",
)
DEFAULT_ROUTE = Clause(
    id="CLIENT-PUBLISH-002",
    level=Level.MUST,
    text=(
        "When the topic has no route a producer requests that of its createTopicKey, "
        "TBW102 by default, and uses its queues for the topic."
    ),
    source=f"{_INSTANCE}#updateTopicRouteInfoFromNameServer",
    hints=(
        (
            "the client sends no request for the default topic's route",
            "it has to request that after TOPIC_NOT_EXIST (17) for the topic itself",
        ),
    ),
)
DEFAULT_ROUTE_QUEUES = Clause(
    id="CLIENT-PUBLISH-003",
    level=Level.MUST,
    text=(
        "From the default topic's route a producer takes the smaller of its "
        "defaultTopicQueueNums, 4, and the read queue count, of every broker."
    ),
    source=f"{_INSTANCE}#updateTopicRouteInfoFromNameServer",
)
NO_ROUTE = Clause(
    id="CLIENT-PUBLISH-004",
    level=Level.MUST,
    text=(
        "A send to a topic for which no route is found fails without a request to a "
        "broker."
    ),
    source=f"{_SENDER}#sendDefaultImpl",
)
WRITABLE = Clause(
    id="CLIENT-PUBLISH-005",
    level=Level.MUST,
    text="A producer ignores queue data whose permission lacks PERM_WRITE (2).",
    source=_QUEUES,
)
WITH_MASTER = Clause(
    id="CLIENT-PUBLISH-006",
    level=Level.MUST,
    text=(
        "A producer ignores queue data of a broker name that the route does not "
        "have, or that has no address under broker id 0 (MASTER_ID)."
    ),
    source=_QUEUES,
)
QUEUE_LIST = Clause(
    id="CLIENT-PUBLISH-007",
    level=Level.MUST,
    text="A producer's queues are, by broker name, the queue ids from 0 to the write"
    " queue count less one.",
    source=_QUEUES,
)
ORDERED_QUEUES = Clause(
    id="CLIENT-PUBLISH-008",
    level=Level.MUST,
    text="Where a route has an orderTopicConf, BROKER:COUNT pairs with a semicolon"
    " between, a producer's queues are these and no others.",
    source=_QUEUES,
)
ROUTE_PERIOD = Clause(
    id="CLIENT-PUBLISH-009",
    level=Level.MUST,
    text=(
        "A client requests the routes of its topics again every 30 seconds "
        "(pollNameServerInterval); until then it may send to a broker that is gone."
    ),
    source="4.6.0 org.apache.rocketmq.client.ClientConfig#pollNameServerInterval",
)
ROUTE_TIMEOUT = Clause(
    id="CLIENT-PUBLISH-010",
    level=Level.SHOULD,
    text="A client waits 3000 ms for a name server's response to a route request.",
    source=f"{_INSTANCE}#updateTopicRouteInfoFromNameServer",
)
BROKER_IS_LOOKED_UP = Clause(
    id="CLIENT-PUBLISH-011",
    level=Level.MUST,
    text=(
        "A producer without an address of a queue's broker requests the topic's "
        "route unless it has queues of the topic, and fails if it has no address "
        "then."
    ),
    source=f"{_SENDER}#sendKernelImpl",
)
IN_TURN = Clause(
    id="CLIENT-SELECT-001",
    level=Level.MUST,
    text="A producer sends to the queues of its list round robin.",
    source=f"{_TURN}#selectOneMessageQueue",
)
TURN_OF_A_THREAD = Clause(
    id="CLIENT-SELECT-002",
    level=Level.QUIRK,
    text=(
        "Every thread of a producer has its own round robin, which begins at a "
        "random queue."
    ),
    source="4.6.0 org.apache.rocketmq.client.common.ThreadLocalIndex#getAndIncrement",
    hints=(
        (
            "one counter, reset to 0 after 2147483647",
            "the release has a counter for each thread, and takes its absolute value",
        ),
    ),
)
LAST_BROKER = Clause(
    id="CLIENT-SELECT-003",
    level=Level.MUST,
    text=(
        "A retry goes to the next queue of a broker other than that of the last "
        "attempt; if all queues are of that broker, to the next queue."
    ),
    source=f"{_TURN}#selectOneMessageQueue",
)
