"""
The name server's table of texts by namespace and key.

RocketMQ itself uses one namespace, ORDER_TOPIC_CONFIG. It has the number of queues of
each broker for an order topic, so clients see a constant number while a broker is away.
All other namespaces belong to administrators. The table survives a restart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spec.clause import Clause, Level
from spec.wire.bodies import fastjson
from spec.wire.bodies.json_object import as_object, object_in

ORDER_TOPIC_NAMESPACE = "ORDER_TOPIC_CONFIG"
"""The namespace of order topics (Java: NAMESPACE_ORDER_TOPIC_CONFIG)."""

_MANAGER = "4.6.0 org.apache.rocketmq.namesrv.kvconfig.KVConfigManager"
_PROCESSOR = "4.6.0 org.apache.rocketmq.namesrv.processor.DefaultRequestProcessor"

KV_PUT_GET = Clause(
    id="ROUTE-KV-001",
    level=Level.MUST,
    text="GET_KV_CONFIG returns the last value put under its namespace and key.",
    source=f"{_MANAGER}#putKVConfig",
)
KV_GET_UNKNOWN = Clause(
    id="ROUTE-KV-002",
    level=Level.MUST,
    text="GET_KV_CONFIG of a missing key is answered with QUERY_NOT_FOUND (22).",
    source=f"{_PROCESSOR}#getKVConfig",
)
KV_DELETE = Clause(
    id="ROUTE-KV-003",
    level=Level.MUST,
    text=(
        "A deleted key is not found; deleting a missing one is answered with SUCCESS "
        "(0)."
    ),
    source=f"{_MANAGER}#deleteKVConfig",
)
KV_LIST = Clause(
    id="ROUTE-KV-004",
    level=Level.MUST,
    text="Listing a namespace gives all its keys and values, and no others.",
    source=f"{_MANAGER}#getKVListByNamespace",
)
KV_LIST_UNKNOWN = Clause(
    id="ROUTE-KV-005",
    level=Level.MUST,
    text=(
        "GET_KVLIST_BY_NAMESPACE of an unused namespace is answered with "
        "QUERY_NOT_FOUND (22)."
    ),
    source=f"{_PROCESSOR}#getKVListByNamespace",
)
KV_EMPTY_NAMESPACE = Clause(
    id="ROUTE-KV-006",
    level=Level.QUIRK,
    text="A namespace outlives its last key: listing it returns an empty table.",
    source=f"{_MANAGER}#deleteKVConfig",
)
KV_ORDER_IN_REGISTRATION = Clause(
    id="ROUTE-KV-007",
    level=Level.MUST,
    text=(
        "The response to a registration has the namespace ORDER_TOPIC_CONFIG as its "
        "body."
    ),
    source=f"{_PROCESSOR}#registerBrokerWithFilterServer",
)
KV_ORDER_OFF = Clause(
    id="ROUTE-KV-008",
    level=Level.MUST,
    text=(
        "A route has no orderTopicConf unless the name server's orderMessageEnable "
        "is true; the default is false."
    ),
    source="4.6.0 org.apache.rocketmq.common.namesrv.NamesrvConfig#orderMessageEnable",
)
KV_ORDER_ON = Clause(
    id="ROUTE-KV-009",
    level=Level.MUST,
    text=(
        "With orderMessageEnable, a route's orderTopicConf is the topic's value in "
        "the namespace ORDER_TOPIC_CONFIG."
    ),
    source=f"{_PROCESSOR}#getRouteInfoByTopic",
)
KV_MISSING_KEY = Clause(
    id="ROUTE-KV-010",
    level=Level.MUST,
    text=(
        "From 4.9 on, PUT_KV_CONFIG without a namespace or a key is refused with "
        "SYSTEM_ERROR (1)."
    ),
    source="4.9.7 org.apache.rocketmq.namesrv.processor.DefaultRequestProcessor"
    "#putKVConfig",
    since="4.9",
)
KV_NULL_KEY = Clause(
    id="ROUTE-KV-011",
    level=Level.QUIRK,
    text=(
        "Up to 4.8, PUT_KV_CONFIG without a key stores the value under the key null, "
        "which the list of the namespace shows without quotes."
    ),
    source=f"{_MANAGER}#putKVConfig",
    until="4.8",
)
KV_NO_VALUE = Clause(
    id="ROUTE-KV-012",
    level=Level.QUIRK,
    text=(
        "PUT_KV_CONFIG without a value is answered with SUCCESS (0), and the key is "
        "not found afterwards."
    ),
    source=f"{_PROCESSOR}#getKVConfig",
)
NAMESRV_CONFIG_READ = Clause(
    id="ROUTE-CONFIG-001",
    level=Level.SHOULD,
    text=(
        "GET_NAMESRV_CONFIG returns lines of name=value, orderMessageEnable among them."
    ),
    source=f"{_PROCESSOR}#getConfig",
)
NAMESRV_CONFIG_UPDATE = Clause(
    id="ROUTE-CONFIG-002",
    level=Level.SHOULD,
    text="UPDATE_NAMESRV_CONFIG changes the named settings immediately and no others.",
    source=f"{_PROCESSOR}#updateConfig",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyValueTable:
    """One namespace, as the body of a response has it (Java: KVTable)."""

    values: Mapping[str, str] = field(default_factory=dict)


def decode_key_value_table(data: bytes) -> KeyValueTable:
    """Return the table that *data*, the body of a response, holds."""
    values = object_in(as_object(fastjson.loads(data)), "table")
    return KeyValueTable(values={str(key): str(value) for key, value in values.items()})
