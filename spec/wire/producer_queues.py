"""
A producer chooses the queue to which it sends: from a route, in turn.

It asks the name server for the topic's route, makes a list of queues of it, keeps the
list, and goes round. The broker that failed last is passed over where there is another.
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
    text="A producer asks for a topic's route before its first message to it, and not"
    " again before a message while it has queues.",
    source=f"{_SENDER}#tryToFindTopicPublishInfo",
)
DEFAULT_ROUTE = Clause(
    id="CLIENT-PUBLISH-002",
    level=Level.MUST,
    text="When the topic has no route a producer asks for that of its createTopicKey,"
    " TBW102 by default, and takes its queues for the topic's.",
    source=f"{_INSTANCE}#updateTopicRouteInfoFromNameServer",
    hints=(
        (
            "the name server answers by itself with the default topic",
            "it answers TOPIC_NOT_EXIST (17): it is the client that asks twice",
        ),
    ),
)
DEFAULT_ROUTE_QUEUES = Clause(
    id="CLIENT-PUBLISH-003",
    level=Level.MUST,
    text="Of the default topic a producer takes the smaller of its own"
    " defaultTopicQueueNums, 4, and the route's read queue count, of every broker.",
    source=f"{_INSTANCE}#updateTopicRouteInfoFromNameServer",
)
NO_ROUTE = Clause(
    id="CLIENT-PUBLISH-004",
    level=Level.MUST,
    text="A send to a topic of which no route can be had fails before a broker is"
    " asked.",
    source=f"{_SENDER}#sendDefaultImpl",
)
WRITABLE = Clause(
    id="CLIENT-PUBLISH-005",
    level=Level.MUST,
    text="A producer passes over queue data whose permission lacks bit 1, to write.",
    source=_QUEUES,
)
WITH_MASTER = Clause(
    id="CLIENT-PUBLISH-006",
    level=Level.MUST,
    text="A producer passes over queue data of a broker name that the route does not"
    " have, or that has no address under broker id 0.",
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
    text="A client asks again for the routes of the topics it uses every 30 seconds, so"
    " that long it may send to a broker that is gone.",
    source="4.6.0 org.apache.rocketmq.client.ClientConfig#pollNameServerInterval",
)
ROUTE_TIMEOUT = Clause(
    id="CLIENT-PUBLISH-010",
    level=Level.SHOULD,
    text="A client waits 3000 ms for the answer of a name server about a route.",
    source=f"{_INSTANCE}#updateTopicRouteInfoFromNameServer",
)
BROKER_IS_LOOKED_UP = Clause(
    id="CLIENT-PUBLISH-011",
    level=Level.MUST,
    text="A producer that has no address of a queue's broker asks for the topic's route"
    " unless it has queues of the topic, and fails where it has no address then.",
    source=f"{_SENDER}#sendKernelImpl",
)
IN_TURN = Clause(
    id="CLIENT-SELECT-001",
    level=Level.MUST,
    text="A producer's messages go to the queues of its list in turn.",
    source=f"{_TURN}#selectOneMessageQueue",
)
TURN_OF_A_THREAD = Clause(
    id="CLIENT-SELECT-002",
    level=Level.QUIRK,
    text="Every thread of a producer takes its own turn, beginning at a random queue.",
    source="4.6.0 org.apache.rocketmq.client.common.ThreadLocalIndex#getAndIncrement",
    hints=(
        (
            "one counter, reset to 0 after 2147483647",
            "so says the article on the send path; the release keeps one a thread and"
            " takes its absolute value",
        ),
    ),
)
LAST_BROKER = Clause(
    id="CLIENT-SELECT-003",
    level=Level.MUST,
    text="A retry goes to the next queue of another broker than the last attempt; if"
    " all are of that broker, to the next of these.",
    source=f"{_TURN}#selectOneMessageQueue",
)
