"""
What a broker says to its name servers, and when.

Name servers do not know one another, so a broker tells each of them everything: when
it starts, again and again while it lives, at once when a topic comes or changes, and
when it stops in good order. What a name server makes of it is in
``spec.routing.registration_rules``; what the bytes are in
``spec.routing.broker_registration``.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_OUT = "4.6.0 org.apache.rocketmq.broker.out.BrokerOuterAPI"
_BROKER = "4.6.0 org.apache.rocketmq.broker.BrokerController"
_TOPICS = "org.apache.rocketmq.broker.topic.TopicConfigManager"
_SETTINGS = "org.apache.rocketmq.common.BrokerConfig"

PERIOD_LEAST_MS = 10_000
PERIOD_MOST_MS = 60_000

ALL_NAME_SERVERS = Clause(
    id="ROUTE-SAY-001",
    level=Level.MUST,
    text="A broker that starts registers, by REGISTER_BROKER (103), with each of the"
    " name servers that namesrvAddr lists, with semicolons between.",
    source=f"{_OUT}#registerBrokerAll",
)
SAID_WHO = Clause(
    id="ROUTE-SAY-002",
    level=Level.MUST,
    text="A registration names the broker by brokerName, clusterName, brokerId, and"
    " its addresses for clients and slaves by brokerAddr and haServerAddr.",
    source=f"{_OUT}#registerBrokerAll",
    hints=(("is absent", "the article says that only slaves learn haServerAddr"),),
)
SAID_CHECKSUM = Clause(
    id="ROUTE-SAY-003",
    level=Level.MUST,
    text="A registration's bodyCrc32 is the CRC-32 of its body as sent, its highest bit"
    " cleared.",
    source=f"{_OUT}#registerBrokerAll",
)
SAID_ALL_TOPICS = Clause(
    id="ROUTE-SAY-004",
    level=Level.MUST,
    text="The registration at the start has all of the broker's topics, and their data"
    " version.",
    source=f"{_BROKER}#registerBrokerAll",
)
SAID_AT_ONCE = Clause(
    id="ROUTE-SAY-005",
    level=Level.MUST,
    text="A topic that comes or changes is registered at once.",
    source=f"{_BROKER}#registerIncrementBrokerData",
)
SAID_GOODBYE = Clause(
    id="ROUTE-SAY-006",
    level=Level.MUST,
    text="A broker that stops in good order unregisters, by UNREGISTER_BROKER (104)"
    " with the same names, from each of its name servers.",
    source=f"{_OUT}#unregisterBrokerAll",
)
SAID_COMPRESSED = Clause(
    id="ROUTE-SAY-007",
    level=Level.MUST,
    text="While a broker's compressedRegister is true its registrations say compressed"
    " true and have compressed bodies.",
    source=f"{_OUT}#registerBrokerAll",
    until="4.9",
)
SAID_COMPRESSED_WRONGLY = Clause(
    id="ROUTE-SAY-012",
    level=Level.QUIRK,
    text="While a broker's compressedRegister is true its registrations have compressed"
    " bodies and say compressed false, so that name servers refuse them.",
    source="5.3.3 org.apache.rocketmq.broker.out.BrokerOuterAPI#registerBrokerAll",
    since="5.0",
)
SAID_AGAIN = Clause(
    id="ROUTE-SAY-008",
    level=Level.MUST,
    text="A broker registers again, also when nothing has changed, first after 10"
    " seconds and then every registerNameServerPeriod, but not more often than every"
    " 10 seconds and not less often than every 60.",
    source=f"{_BROKER}#start",
)
SAID_AGAIN_DEFAULT = Clause(
    id="ROUTE-SAY-009",
    level=Level.SHOULD,
    text="By default registerNameServerPeriod is 30000.",
    source=f"4.6.0 {_SETTINGS}#registerNameServerPeriod",
)
ASKED_FIRST = Clause(
    id="ROUTE-SAY-010",
    level=Level.MUST,
    text="A broker whose forceRegister is false asks by QUERY_DATA_VERSION (322) and"
    " registers again only where its topics are not known in their data version.",
    source=f"{_BROKER}#needRegister",
)
SAID_DEFAULTS = Clause(
    id="ROUTE-SAY-011",
    level=Level.SHOULD,
    text="By default forceRegister is true and compressedRegister is false.",
    source=f"4.6.0 {_SETTINGS}#forceRegister",
)
SAID_HA_PORT = Clause(
    id="ROUTE-SAY-013",
    level=Level.MUST,
    text="The port of a registration's haServerAddr is the broker's haListenPort, which"
    " is one more than its listenPort unless its file says otherwise.",
    source="4.6.0 org.apache.rocketmq.broker.BrokerStartup#createBrokerController",
)
DEAF_NAME_SERVER = Clause(
    id="ROUTE-SAY-014",
    level=Level.MUST,
    text="A name server that does not answer keeps a broker neither from registering"
    " with the others nor, for longer than registerBrokerTimeoutMills, from its work.",
    source=f"{_OUT}#registerBrokerAll",
)
ORDER_IS_HEARD = Clause(
    id="ROUTE-BROKER-012",
    level=Level.MUST,
    text="A broker makes the topics that a registration's answer lists under"
    " ORDER_TOPIC_CONFIG order topics.",
    source=f"4.6.0 {_TOPICS}#updateOrderTopicConfig",
)
FIRST_ANSWER_COUNTS = Clause(
    id="ROUTE-BROKER-014",
    level=Level.QUIRK,
    text="A broker of several name servers heeds only the answer that comes first: the"
    " order topics that the others list are nothing to it.",
    source=f"{_BROKER}#doRegisterBrokerAll",
)
ORDER_ENDS = Clause(
    id="ROUTE-BROKER-013",
    level=Level.QUIRK,
    text="A broker makes every topic that the answer does not list an ordinary one,"
    " also one that an administrator created as an order topic.",
    source=f"4.6.0 {_TOPICS}#updateOrderTopicConfig",
    until="5.3.0",
)
