"""
Registrations as a broker sends them to its name servers, and their times.

Name servers do not exchange data, so a broker registers with each of them. It registers
when it starts, at intervals, and immediately after a change of topics. It unregisters
when it stops in good order. The effects on a name server are in
``spec.routing.registration_rules``, and the bytes in
``spec.routing.broker_registration``.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_OUT = "4.6.0 org.apache.rocketmq.broker.out.BrokerOuterAPI"
_BROKER = "4.6.0 org.apache.rocketmq.broker.BrokerController"
_TOPICS = "org.apache.rocketmq.broker.topic.TopicConfigManager"
_SETTINGS = "org.apache.rocketmq.common.BrokerConfig"

PERIOD_LEAST_MS = 10_000

ALL_NAME_SERVERS = Clause(
    id="ROUTE-OUTERAPI-001",
    level=Level.MUST,
    text=(
        "A broker that starts sends REGISTER_BROKER (103) to each of the name "
        "servers in namesrvAddr, a list with semicolons."
    ),
    source=f"{_OUT}#registerBrokerAll",
)
REGISTRATION_IDENTITY = Clause(
    id="ROUTE-OUTERAPI-002",
    level=Level.MUST,
    text=(
        "A registration names the broker by brokerName, clusterName and brokerId, "
        "and has its addresses for clients and slaves in brokerAddr and "
        "haServerAddr."
    ),
    source=f"{_OUT}#registerBrokerAll",
    hints=(("is absent", "does only a slave send haServerAddr?"),),
)
REGISTRATION_CHECKSUM = Clause(
    id="ROUTE-OUTERAPI-003",
    level=Level.MUST,
    text="A registration's bodyCrc32 is the CRC-32 of its body as sent, its highest bit"
    " cleared.",
    source=f"{_OUT}#registerBrokerAll",
)
REGISTRATION_TOPICS = Clause(
    id="ROUTE-OUTERAPI-004",
    level=Level.MUST,
    text=(
        "The registration at the start has all of the broker's topics and their data "
        "version."
    ),
    source=f"{_BROKER}#registerBrokerAll",
)
INCREMENTAL_REGISTRATION = Clause(
    id="ROUTE-OUTERAPI-005",
    level=Level.MUST,
    text="A new or changed topic is registered immediately.",
    source=f"{_BROKER}#registerIncrementBrokerData",
)
UNREGISTRATION = Clause(
    id="ROUTE-OUTERAPI-006",
    level=Level.MUST,
    text=(
        "A broker that stops in good order sends UNREGISTER_BROKER (104), with the "
        "same names, to each of its name servers."
    ),
    source=f"{_OUT}#unregisterBrokerAll",
)
COMPRESSED_REGISTRATION = Clause(
    id="ROUTE-OUTERAPI-007",
    level=Level.MUST,
    text=(
        "Up to 4.9, registrations of a broker with compressedRegister true have "
        "compressed true and compressed bodies."
    ),
    source=f"{_OUT}#registerBrokerAll",
    until="4.9",
)
COMPRESSION_NOT_DECLARED = Clause(
    id="ROUTE-OUTERAPI-012",
    level=Level.QUIRK,
    text=(
        "From 5.0 on, registrations of a broker with compressedRegister true have "
        "compressed bodies but compressed false, so name servers refuse them."
    ),
    source="5.3.3 org.apache.rocketmq.broker.out.BrokerOuterAPI#registerBrokerAll",
    since="5.0",
)
PERIODIC_REGISTRATION = Clause(
    id="ROUTE-OUTERAPI-008",
    level=Level.MUST,
    text=(
        "An unchanged broker registers again first after 10 seconds and then every "
        "registerNameServerPeriod, but at an interval of at least 10 and at most 60 "
        "seconds."
    ),
    source=f"{_BROKER}#start",
)
REGISTRATION_PERIOD = Clause(
    id="ROUTE-OUTERAPI-009",
    level=Level.SHOULD,
    text="By default registerNameServerPeriod is 30000.",
    source=f"4.6.0 {_SETTINGS}#registerNameServerPeriod",
)
DATA_VERSION_QUERY = Clause(
    id="ROUTE-OUTERAPI-010",
    level=Level.MUST,
    text=(
        "A broker whose forceRegister is false sends QUERY_DATA_VERSION (322) and "
        "registers again only with name servers that have another data version of "
        "its topics."
    ),
    source=f"{_BROKER}#needRegister",
)
REGISTRATION_DEFAULTS = Clause(
    id="ROUTE-OUTERAPI-011",
    level=Level.SHOULD,
    text="By default forceRegister is true and compressedRegister is false.",
    source=f"4.6.0 {_SETTINGS}#forceRegister",
)
REGISTERED_HA_PORT = Clause(
    id="ROUTE-OUTERAPI-013",
    level=Level.MUST,
    text=(
        "The port of a registration's haServerAddr is the broker's haListenPort, by "
        "default its listenPort plus one. Up to 5.1.0 a broker ignores another "
        "haListenPort in its configuration file."
    ),
    source="4.6.0 org.apache.rocketmq.broker.BrokerStartup#createBrokerController",
)
DEAF_NAME_SERVER = Clause(
    id="ROUTE-OUTERAPI-014",
    level=Level.MUST,
    text=(
        "A name server without a response prevents a broker neither from registering "
        "with the others nor, for longer than registerBrokerTimeoutMills, from its "
        "work."
    ),
    source=f"{_OUT}#registerBrokerAll",
)
PERMISSION_REPLACES = Clause(
    id="ROUTE-OUTERAPI-015",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, a broker whose brokerPermission lacks PERM_READ (4) or PERM_WRITE "
        "(2) registers each topic with brokerPermission as perm and with topicSysFlag "
        "0."
    ),
    source="4.6.0 org.apache.rocketmq.broker.BrokerController#registerBrokerAll",
    until="4.9",
)
ORDER_TOPICS_APPLIED = Clause(
    id="ROUTE-BROKER-012",
    level=Level.MUST,
    text=(
        "A broker makes the topics that a registration's response lists under "
        "ORDER_TOPIC_CONFIG order topics."
    ),
    source=f"4.6.0 {_TOPICS}#updateOrderTopicConfig",
)
FIRST_RESPONSE_COUNTS = Clause(
    id="ROUTE-BROKER-014",
    level=Level.QUIRK,
    text=(
        "A broker of several name servers uses only the response that arrives first: "
        "it ignores the order topics that the others list."
    ),
    source=f"{_BROKER}#doRegisterBrokerAll",
)
ORDER_ENDS = Clause(
    id="ROUTE-BROKER-013",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, a broker makes every topic that the registration's response "
        "does not list an unordered one, even one that an administrator created as "
        "an order topic."
    ),
    source=f"4.6.0 {_TOPICS}#updateOrderTopicConfig",
    until="4.9",
)
