"""
A broker's registration ends in one of three ways.

It unregisters at an orderly stop, its last registration's connection is closed, or it
is silent for two minutes on an open connection. Each removes the address,
then the broker name with its last address, then the name's queues from all routes, then
empty clusters.
"""

from __future__ import annotations

from spec.clause import Clause, Level

EXPIRY_MS = 120_000
"""Longest silence of a broker (Java: BROKER_CHANNEL_EXPIRED_TIME)."""

_TABLES = "4.6.0 org.apache.rocketmq.namesrv.routeinfo.RouteInfoManager"
_NEW_TABLES = "5.3.3 org.apache.rocketmq.namesrv.routeinfo.RouteInfoManager"

UNREGISTER_REMOVES = Clause(
    id="ROUTE-LIVENESS-001",
    level=Level.MUST,
    text=(
        "When the last address of a broker name unregisters, its queues leave all "
        "routes, and a topic without another broker is unknown."
    ),
    source=f"{_TABLES}#unregisterBroker",
)
UNREGISTER_BEFORE_RESPONSE = Clause(
    id="ROUTE-LIVENESS-002",
    level=Level.MUST,
    text="Up to 4.9, an unregistration has taken effect when its response is sent.",
    source=f"{_TABLES}#unregisterBroker",
    until="4.9",
)
UNREGISTER_OTHER_BROKERS = Clause(
    id="ROUTE-LIVENESS-003",
    level=Level.MUST,
    text="An unregistration leaves the queues of other broker names in the routes.",
    source=f"{_TABLES}#removeTopicByBrokerName",
)
UNREGISTER_MASTER_LEAVES_SLAVE = Clause(
    id="ROUTE-LIVENESS-004",
    level=Level.MUST,
    text="When a master goes and a slave of its name stays, routes keep the queues and"
    " the slave's address.",
    source=f"{_TABLES}#unregisterBroker",
)
UNREGISTER_UNKNOWN = Clause(
    id="ROUTE-LIVENESS-005",
    level=Level.MUST,
    text="Unregistering a broker that is not registered is answered with SUCCESS (0).",
    source=f"{_TABLES}#unregisterBroker",
)
UNREGISTER_BY_ID = Clause(
    id="ROUTE-LIVENESS-006",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, an unregistration removes the address of its broker id, even if "
        "it names another address."
    ),
    source=f"{_TABLES}#unregisterBroker",
    until="4.9",
    issues=(
        "apache/rocketmq#11043",
        "apache/rocketmq#5374",
    ),
)
UNREGISTER_BY_ADDRESS = Clause(
    id="ROUTE-LIVENESS-007",
    level=Level.MUST,
    text=(
        "From 5.0 on, an unregistration removes the address that it names, even if "
        "it names another broker id."
    ),
    source=f"{_NEW_TABLES}#unRegisterBroker",
    since="5.0",
)
CLOSED_CONNECTION = Clause(
    id="ROUTE-LIVENESS-008",
    level=Level.MUST,
    text=(
        "A broker whose connection is closed is removed immediately, as if it had "
        "unregistered."
    ),
    source=f"{_TABLES}#onChannelDestroy",
)
OLD_CONNECTION_CLOSED = Clause(
    id="ROUTE-LIVENESS-009",
    level=Level.MUST,
    text="Closing a connection does not remove a broker that registered again over"
    " another one.",
    source=f"{_TABLES}#onChannelDestroy",
)
QUERY_VERSION_IS_NO_CONNECTION = Clause(
    id="ROUTE-LIVENESS-010",
    level=Level.MUST,
    text=(
        "Closing a connection that only sent requests about a broker does not remove "
        "the broker."
    ),
    source=f"{_TABLES}#onChannelDestroy",
)
REGISTERS_AGAIN = Clause(
    id="ROUTE-LIVENESS-011",
    level=Level.MUST,
    text=(
        "A broker that was removed is back with its topics when it registers again, "
        "even with the same data version."
    ),
    source=f"{_TABLES}#registerBroker",
)
SLAVE_ALONE = Clause(
    id="ROUTE-LIVENESS-012",
    level=Level.MUST,
    text="A slave that registers alone, without enableActingMaster, is in the cluster"
    " information and in no route.",
    source=f"{_TABLES}#registerBroker",
)
# Published descriptions have a scan every 30 seconds, or every 10. Releases
# before 5.0 scan every 10 seconds, later ones every 5.
EXPIRY = Clause(
    id="ROUTE-LIVENESS-013",
    level=Level.MUST,
    text=(
        "A broker that does not register for 120 seconds is removed within the next "
        "10, and its connection closed. Of its other requests only QUERY_DATA_VERSION "
        "(322) and, from 5.0 on, a heartbeat postpone this."
    ),
    source=f"{_TABLES}#scanNotActiveBroker",
)
RENEWED_BY_QUERY = Clause(
    id="ROUTE-LIVENESS-015",
    level=Level.MUST,
    text=(
        "QUERY_DATA_VERSION (322) with the registered data version restarts the 120 "
        "seconds after which a broker is removed, as a registration does."
    ),
    source="4.6.0 org.apache.rocketmq.namesrv.processor.DefaultRequestProcessor"
    "#queryBrokerTopicConfig",
)
RENEWED_BY_HEARTBEAT = Clause(
    id="ROUTE-LIVENESS-016",
    level=Level.MUST,
    text=(
        "From 5.0 on, BROKER_HEARTBEAT (904) restarts the 120 seconds after which the "
        "broker in its header is removed, as a registration does."
    ),
    source="5.3.3 org.apache.rocketmq.namesrv.processor.DefaultRequestProcessor"
    "#brokerHeartbeat",
    since="5.0",
)
EXPIRY_OF_ITS_OWN = Clause(
    id="ROUTE-LIVENESS-017",
    level=Level.MUST,
    text=(
        "From 5.0 on, a broker whose registration has heartbeatTimeoutMillis in its "
        "header is removed after that silence instead of 120 seconds, and its "
        "connection closed. The name server checks every 5 seconds "
        "(scanNotActiveBrokerInterval)."
    ),
    source=f"{_NEW_TABLES}#scanNotActiveBroker",
    since="5.0",
)
