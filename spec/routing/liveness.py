"""
A broker's registration ends in one of three ways.

It unregisters when it stops in an orderly way; the connection over which it registered
last is closed, which the name server takes for its death; or it falls silent for two
minutes while the connection stays open. Each removes the address, then the broker name
with its last address, then the name's queues from all routes, then empty clusters.
"""

from __future__ import annotations

from spec.clause import Clause, Level

SCAN_INTERVAL_MS = 10_000
"""How often a name server looks for silent brokers."""
EXPIRY_MS = 120_000
"""How long a broker may be silent (Java: BROKER_CHANNEL_EXPIRED_TIME)."""

_TABLES = "4.6.0 org.apache.rocketmq.namesrv.routeinfo.RouteInfoManager"
_NEW_TABLES = "5.3.3 org.apache.rocketmq.namesrv.routeinfo.RouteInfoManager"

UNREGISTER_REMOVES = Clause(
    id="ROUTE-LIVE-001",
    level=Level.MUST,
    text="When the last address of a broker name unregisters, its queues leave all"
    " routes, and a topic that nobody else has is unknown.",
    source=f"{_TABLES}#unregisterBroker",
)
UNREGISTER_BEFORE_ANSWER = Clause(
    id="ROUTE-LIVE-002",
    level=Level.MUST,
    text="An unregistration has taken effect when its answer comes.",
    source=f"{_TABLES}#unregisterBroker",
    until="4.9",
)
UNREGISTER_OTHER_BROKERS = Clause(
    id="ROUTE-LIVE-003",
    level=Level.MUST,
    text="An unregistration leaves the queues of other broker names in the routes.",
    source=f"{_TABLES}#removeTopicByBrokerName",
)
UNREGISTER_MASTER_LEAVES_SLAVE = Clause(
    id="ROUTE-LIVE-004",
    level=Level.MUST,
    text="When a master goes and a slave of its name stays, routes keep the queues and"
    " the slave's address.",
    source=f"{_TABLES}#unregisterBroker",
)
UNREGISTER_UNKNOWN = Clause(
    id="ROUTE-LIVE-005",
    level=Level.MUST,
    text="Unregistering a broker that is not registered is answered with success.",
    source=f"{_TABLES}#unregisterBroker",
)
UNREGISTER_BY_ID = Clause(
    id="ROUTE-LIVE-006",
    level=Level.QUIRK,
    text="An unregistration removes the address of its broker id, whatever address it"
    " names.",
    source=f"{_TABLES}#unregisterBroker",
    until="4.9",
    issues=(
        "apache/rocketmq#11043",
        "apache/rocketmq#5374",
    ),
)
UNREGISTER_BY_ADDRESS = Clause(
    id="ROUTE-LIVE-007",
    level=Level.MUST,
    text="An unregistration removes the address that it names, whatever broker id it"
    " names.",
    source=f"{_NEW_TABLES}#unRegisterBroker",
    since="5.0",
)
CLOSED_CONNECTION = Clause(
    id="ROUTE-LIVE-008",
    level=Level.MUST,
    text="A broker whose connection is closed is removed at once, as if it had"
    " unregistered.",
    source=f"{_TABLES}#onChannelDestroy",
)
OLD_CONNECTION_CLOSED = Clause(
    id="ROUTE-LIVE-009",
    level=Level.MUST,
    text="Closing a connection does not remove a broker that registered again over"
    " another one.",
    source=f"{_TABLES}#onChannelDestroy",
)
QUERY_VERSION_IS_NO_CONNECTION = Clause(
    id="ROUTE-LIVE-010",
    level=Level.MUST,
    text="Closing a connection that only asked about a broker does not remove it.",
    source=f"{_TABLES}#onChannelDestroy",
)
REGISTERS_AGAIN = Clause(
    id="ROUTE-LIVE-011",
    level=Level.MUST,
    text="A broker that was removed is back with its topics when it registers again,"
    " also with the same data version.",
    source=f"{_TABLES}#registerBroker",
)
SLAVE_ALONE = Clause(
    id="ROUTE-LIVE-012",
    level=Level.MUST,
    text="A slave that registers alone is in the cluster information and in no route.",
    source=f"{_TABLES}#registerBroker",
)
# The articles say both that a name server looks at its brokers every 30 seconds and
# that it does every 10; releases before 5.0 look every 10, later ones every 5.
EXPIRY = Clause(
    id="ROUTE-LIVE-013",
    level=Level.MUST,
    text="A broker that does not register for 120 seconds is removed within the next"
    " 10, and its connection closed, whatever else it asks meanwhile.",
    source=f"{_TABLES}#scanNotActiveBroker",
)
