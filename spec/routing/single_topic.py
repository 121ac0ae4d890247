"""
REGISTER_TOPIC_IN_NAMESRV: a broker of 5.x registers the route of one topic.

A broker sends it instead of its whole table where enableSingleTopicRegister is true.
The body is route data whose queue data name brokers that have registered before.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_TABLES = "5.3.3 org.apache.rocketmq.namesrv.routeinfo.RouteInfoManager"

SINGLE_TOPIC_ROUTES = Clause(
    id="ROUTE-SINGLETOPIC-001",
    level=Level.MUST,
    text=(
        "From 5.0 on, REGISTER_TOPIC_IN_NAMESRV (217) makes a topic's route visible "
        "before the response, with the queue data of its body."
    ),
    source=f"{_TABLES}#registerTopic",
    since="5.0",
)
SINGLE_TOPIC_OF_UNKNOWN_BROKER = Clause(
    id="ROUTE-SINGLETOPIC-002",
    level=Level.MUST,
    text=(
        "From 5.0 on, REGISTER_TOPIC_IN_NAMESRV (217) for a broker name that is not "
        "registered is answered with SUCCESS (0) and registers nothing."
    ),
    source=f"{_TABLES}#registerTopic",
    since="5.0",
)
SINGLE_TOPIC_WITHOUT_QUEUES = Clause(
    id="ROUTE-SINGLETOPIC-003",
    level=Level.MUST,
    text=(
        "From 5.0 on, REGISTER_TOPIC_IN_NAMESRV (217) without a body is answered with "
        "SUCCESS (0) and registers nothing."
    ),
    source="5.3.3 org.apache.rocketmq.namesrv.processor.DefaultRequestProcessor"
    "#registerTopicToNamesrv",
    since="5.0",
)
