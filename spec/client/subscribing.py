"""
Where a consumer reads: the queues of a topic that it may, and at which broker.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_INSTANCE = "4.6.0 org.apache.rocketmq.client.impl.factory.MQClientInstance"

READABLE = Clause(
    id="CLIENT-SUBSCRIBE-001",
    level=Level.MUST,
    text="A consumer's queues are, of every broker whose permission for the topic has"
    " bit 2, the queue ids from 0 to the read queue count less one, whether or not the"
    " broker has a master.",
    source=f"{_INSTANCE}#topicRouteData2TopicSubscribeInfo",
)
