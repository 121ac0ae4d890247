"""
Effects of registrations on a name server: the clauses.

The layout of the body is in ``broker_registration``, the end of a broker's life in
``liveness``. A name server authenticates nothing. The last registration of an address
wins, and clients see the master's data about a topic.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_TABLES = "4.6.0 org.apache.rocketmq.namesrv.routeinfo.RouteInfoManager"
_NEW_TABLES = "5.3.3 org.apache.rocketmq.namesrv.routeinfo.RouteInfoManager"
_PROCESSOR = "4.6.0 org.apache.rocketmq.namesrv.processor.DefaultRequestProcessor"
_BODY = "4.6.0 org.apache.rocketmq.common.protocol.body.RegisterBrokerBody"
_BROKER_TOPICS = "4.6.0 org.apache.rocketmq.broker.topic.TopicConfigManager"

REGISTRATION_ROUTES = Clause(
    id="ROUTE-REG-001",
    level=Level.MUST,
    text=(
        "A master's registration makes its topics' routes visible before the response."
    ),
    source=f"{_TABLES}#registerBroker",
)
REGISTRATION_COMPRESSED = Clause(
    id="ROUTE-REG-002",
    level=Level.MUST,
    text=(
        "A registration compressed in zlib's format (RFC 1950) has the same effect as "
        "one in JSON."
    ),
    source=f"{_BODY}#decode",
)
REGISTRATION_CRC = Clause(
    id="ROUTE-REG-003",
    level=Level.MUST,
    text=(
        "A registration whose bodyCrc32 is not the checksum of its body as sent is "
        "refused with SYSTEM_ERROR (1) and the remark 'crc32 not match', and changes "
        "nothing."
    ),
    source=f"{_PROCESSOR}#checksum",
)
REGISTRATION_CRC_UNCHECKED = Clause(
    id="ROUTE-REG-004",
    level=Level.MUST,
    text="A registration with bodyCrc32 0, or without one, is not checked.",
    source=f"{_PROCESSOR}#checksum",
)
REGISTRATION_BAD_BODY = Clause(
    id="ROUTE-REG-005",
    level=Level.MUST,
    text=(
        "A registration whose body cannot be decoded is refused with SYSTEM_ERROR "
        "(1), changes nothing and keeps the connection usable."
    ),
    source=f"{_PROCESSOR}#registerBrokerWithFilterServer",
)
REGISTRATION_FIELDS = Clause(
    id="ROUTE-REG-006",
    level=Level.MUST,
    text="A registration without brokerId is refused with SYSTEM_ERROR (1).",
    source="4.6.0 org.apache.rocketmq.common.protocol.header.namesrv"
    ".RegisterBrokerRequestHeader#brokerId",
)
REGISTRATION_NO_BODY = Clause(
    id="ROUTE-REG-007",
    level=Level.SHOULD,
    text="A registration without a body registers the broker without topics.",
    source=f"{_PROCESSOR}#registerBrokerWithFilterServer",
)
REGISTRATION_OLD_VERSION = Clause(
    id="ROUTE-REG-008",
    level=Level.QUIRK,
    text="In a registration whose request version is older than 3.0.11 the body is the"
    " topic table itself.",
    source=f"{_PROCESSOR}#registerBroker",
)
SLAVE_LEARNS_MASTER = Clause(
    id="ROUTE-REG-009",
    level=Level.MUST,
    text=(
        "The response to a slave's registration has masterAddr and haServerAddr of "
        "the master of its name."
    ),
    source=f"{_TABLES}#registerBroker",
)
MASTER_LEARNS_NOTHING = Clause(
    id="ROUTE-REG-010",
    level=Level.MUST,
    text=(
        "The response to a registration of a master, or of a slave without a "
        "registered master, has neither masterAddr nor haServerAddr."
    ),
    source=f"{_TABLES}#registerBroker",
)
SLAVE_TOPICS_IGNORED = Clause(
    id="ROUTE-REG-011",
    level=Level.MUST,
    text=(
        "The topics of a slave's registration without enableActingMaster make no "
        "routes."
    ),
    source=f"{_TABLES}#registerBroker",
)
PRIME_SLAVE_MAKES_ROUTES = Clause(
    id="ROUTE-REG-024",
    level=Level.MUST,
    text=(
        "From 5.0 on, a slave whose registration has enableActingMaster makes routes "
        "with its topics while it has the lowest id of its name. With true they lack "
        "PERM_WRITE (2)."
    ),
    source="5.3.3 org.apache.rocketmq.namesrv.routeinfo.RouteInfoManager"
    "#registerBroker",
    since="5.0",
)
SAME_VERSION_IGNORED = Clause(
    id="ROUTE-REG-012",
    level=Level.QUIRK,
    text=(
        "A changed topic is ignored while the data version is that of the last "
        "registration of this address."
    ),
    source=f"{_TABLES}#isBrokerTopicConfigChanged",
)
SAME_VERSION_NEW_TOPIC_IGNORED = Clause(
    id="ROUTE-REG-013",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, a new topic is ignored while the data version is that of the "
        "last registration of this address."
    ),
    source=f"{_TABLES}#registerBroker",
    until="4.9",
)
SAME_VERSION_NEW_TOPIC_SEEN = Clause(
    id="ROUTE-REG-014",
    level=Level.MUST,
    text=(
        "From 5.0 on, a new topic is registered even if the data version is that of "
        "the last registration of this address."
    ),
    source=f"{_NEW_TABLES}#isTopicConfigChanged",
    since="5.0",
)
NEW_VERSION_SEEN = Clause(
    id="ROUTE-REG-015",
    level=Level.MUST,
    text="A registration with another data version, newer or older, replaces the queue"
    " counts, permission and flags of its topics.",
    source=f"{_TABLES}#createAndUpdateQueueData",
)
MISSING_TOPIC_STAYS = Clause(
    id="ROUTE-REG-016",
    level=Level.QUIRK,
    text="A topic that a later registration leaves out keeps its route.",
    source=f"{_TABLES}#registerBroker",
    issues=("apache/rocketmq#7884",),
)
ADDRESS_HAS_ONE_ID = Clause(
    id="ROUTE-REG-017",
    level=Level.MUST,
    text=(
        "From 4.5 on, an address that registers with another broker id loses the old "
        "one."
    ),
    source=f"{_TABLES}#registerBroker",
    since="4.5",
)
ID_HAS_ONE_ADDRESS = Clause(
    id="ROUTE-REG-018",
    level=Level.MUST,
    text=(
        "A broker id that is registered from another address has the new address, "
        "from 5.0 on unless the new data version has a lower stateVersion."
    ),
    source=f"{_TABLES}#registerBroker",
)
LOWER_STATE_IGNORED = Clause(
    id="ROUTE-REG-025",
    level=Level.MUST,
    text=(
        "From 5.0 on, a registration of a broker id from another address with a lower "
        "stateVersion than the registered one is answered with SUCCESS (0) and ignored."
    ),
    source="5.3.3 org.apache.rocketmq.namesrv.routeinfo.RouteInfoManager"
    "#registerBroker",
    since="5.0",
)
BROKERS_SHARE_TOPIC = Clause(
    id="ROUTE-REG-019",
    level=Level.MUST,
    text="A topic that brokers of several names or clusters register has all of them in"
    " its route.",
    source=f"{_TABLES}#pickupTopicRouteData",
)
SINGLE_TOPIC_FIRST = Clause(
    id="ROUTE-REG-020",
    level=Level.QUIRK,
    text=(
        "From 5.0 on, the first registration of a broker is refused with "
        "SYSTEM_ERROR (1) if it has exactly one topic."
    ),
    source=f"{_NEW_TABLES}#registerBroker",
    since="5.0",
)
SINGLE_TOPIC_TAKEN = Clause(
    id="ROUTE-REG-021",
    level=Level.MUST,
    text="Up to 4.9, the first registration of a broker may have exactly one topic.",
    source=f"{_TABLES}#registerBroker",
    until="4.9",
)
REGISTRATION_BINARY_HEADER = Clause(
    id="ROUTE-REG-022",
    level=Level.MUST,
    text="A request with a ROCKETMQ binary header has the same effect as one in JSON.",
    source="4.6.0 org.apache.rocketmq.remoting.protocol.RocketMQSerializable"
    "#rocketMQProtocolDecode",
)
DATA_VERSION_UNKNOWN = Clause(
    id="ROUTE-VERSION-001",
    level=Level.MUST,
    text=(
        "The response to QUERY_DATA_VERSION about an unregistered broker has "
        "changed=true and no body."
    ),
    source=f"{_PROCESSOR}#queryBrokerTopicConfig",
)
DATA_VERSION_SAME = Clause(
    id="ROUTE-VERSION-002",
    level=Level.MUST,
    text=(
        "The response to QUERY_DATA_VERSION has changed=false for the registered "
        "version and changed=true for any other."
    ),
    source=f"{_PROCESSOR}#queryBrokerTopicConfig",
)
DATA_VERSION_BODY = Clause(
    id="ROUTE-VERSION-003",
    level=Level.MUST,
    text=(
        "The response to QUERY_DATA_VERSION about a registered broker has the "
        "registered version as its body."
    ),
    source=f"{_PROCESSOR}#queryBrokerTopicConfig",
)
WIPE_WRITE = Clause(
    id="ROUTE-PERM-001",
    level=Level.MUST,
    text=(
        "WIPE_WRITE_PERM_OF_BROKER clears PERM_WRITE (2) of the permission of all "
        "topics of the broker, and of no other broker's."
    ),
    source=f"{_TABLES}#wipeWritePermOfBroker",
)
WIPE_COUNT = Clause(
    id="ROUTE-PERM-002",
    level=Level.MUST,
    text=(
        "The response to WIPE_WRITE_PERM_OF_BROKER has the number of the broker's "
        "topics as wipeTopicCount, 0 for an unknown broker."
    ),
    source=f"{_PROCESSOR}#wipeWritePermOfBroker",
)
WIPE_LASTS = Clause(
    id="ROUTE-PERM-003",
    level=Level.MUST,
    text=(
        "A cleared PERM_WRITE outlasts registrations with the same data version and "
        "ends with the first that has another."
    ),
    source=f"{_TABLES}#createAndUpdateQueueData",
)
ADD_WRITE = Clause(
    id="ROUTE-PERM-004",
    level=Level.QUIRK,
    text=(
        "From 4.9.2 on, ADD_WRITE_PERM_OF_BROKER sets the permission of all the "
        "broker's topics to PERM_READ and PERM_WRITE (6), regardless of the old "
        "value, and returns addTopicCount."
    ),
    source="4.9.7 org.apache.rocketmq.namesrv.routeinfo.RouteInfoManager"
    "#operateWritePermOfBroker",
    since="4.9.2",
)
BROKER_REGISTERS_ITSELF = Clause(
    id="ROUTE-BROKER-001",
    level=Level.MUST,
    text="A running broker is in the cluster information, under an address that accepts"
    " its clients.",
    source="4.6.0 org.apache.rocketmq.broker.BrokerController#registerBrokerAll",
)
BROKER_TEMPLATE_TOPIC = Clause(
    id="ROUTE-BROKER-002",
    level=Level.MUST,
    text=(
        "A broker with autoCreateTopicEnable has the topic TBW102 with permission 7 "
        "(PERM_READ, PERM_WRITE, PERM_INHERIT) and as many queues as new topics get "
        "by default."
    ),
    source=f"{_BROKER_TOPICS}#TopicConfigManager",
)
BROKER_SELF_TEST_TOPIC = Clause(
    id="ROUTE-BROKER-003",
    level=Level.SHOULD,
    text="A broker has SELF_TEST_TOPIC and OFFSET_MOVED_EVENT with one queue.",
    source=f"{_BROKER_TOPICS}#TopicConfigManager",
)
BROKER_BENCHMARK_TOPIC = Clause(
    id="ROUTE-BROKER-004",
    level=Level.SHOULD,
    text="A broker has the topic BenchmarkTest with 1024 queues.",
    source=f"{_BROKER_TOPICS}#TopicConfigManager",
)
BROKER_CLUSTER_TOPIC = Clause(
    id="ROUTE-BROKER-005",
    level=Level.SHOULD,
    text=(
        "A broker has a topic of its cluster's name with 16 queues and permission 7 "
        "(PERM_READ, PERM_WRITE, PERM_INHERIT)."
    ),
    source=f"{_BROKER_TOPICS}#TopicConfigManager",
)
BROKER_NAME_TOPIC = Clause(
    id="ROUTE-BROKER-006",
    level=Level.SHOULD,
    text=(
        "A broker has a topic of its own name with one queue and permission 7 "
        "(PERM_READ, PERM_WRITE, PERM_INHERIT)."
    ),
    source=f"{_BROKER_TOPICS}#TopicConfigManager",
)
BROKER_REPLY_TOPIC = Clause(
    id="ROUTE-BROKER-007",
    level=Level.SHOULD,
    text=(
        "From 4.6 on, a broker has a topic named after its cluster with _REPLY_TOPIC "
        "appended, with one queue."
    ),
    source=f"{_BROKER_TOPICS}#TopicConfigManager",
    since="4.6",
)
BROKER_TOPIC_CREATED = Clause(
    id="ROUTE-BROKER-008",
    level=Level.MUST,
    text=(
        "A topic created at a broker soon has a route, with the requested queue "
        "counts and permission."
    ),
    source="4.6.0 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
    "#updateAndCreateTopic",
)
BROKER_TOPIC_CHANGED = Clause(
    id="ROUTE-BROKER-009",
    level=Level.MUST,
    text="A topic changed at a broker has the new queues and permission in its route.",
    source="4.6.0 org.apache.rocketmq.broker.BrokerController"
    "#registerIncrementBrokerData",
)
BROKER_TOPIC_FLAGS = Clause(
    id="ROUTE-BROKER-010",
    level=Level.MUST,
    text="A topic created at a broker with a topicSysFlag has these flags in its"
    " route.",
    source="4.6.0 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
    "#updateAndCreateTopic",
)
BROKER_TOPIC_DELETED = Clause(
    id="ROUTE-BROKER-011",
    level=Level.QUIRK,
    text="A topic deleted at its broker keeps its route until the name server deletes"
    " it.",
    source="4.6.0 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
    "#deleteTopic",
)
