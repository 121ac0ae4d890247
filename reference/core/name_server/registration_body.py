"""
The body of a registration, as the tables of routes take it (Java: RegisterBrokerBody).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from reference.core.name_server.route_tables import DataVersion, QueueData
from reference.core.remoting.request import Request
from spec.routing import topic_config
from spec.routing.broker_registration import decode_registration
from spec.routing.topic_config import TopicTable, decode_topic_table

_FIRST_WITH_FILTER_SERVERS = 37
"""In requests of older versions the body is the topic table (Java: V3_0_11)."""


class RegistrationBody(NamedTuple):
    """Topics of a broker, their data version, and its filter servers."""

    version: DataVersion = (0, 0)
    topics: Mapping[str, QueueData] = {}
    filter_servers: tuple[str, ...] | None = ()
    """None where the body has no list of them."""


def decode_body(request: Request, broker_name: str) -> RegistrationBody:
    """Return the body of a registration; errors are ValueErrors."""
    has_filter_servers = request.version >= _FIRST_WITH_FILTER_SERVERS
    if not request.body:  # [ROUTE-REG-007]
        return RegistrationBody(filter_servers=() if has_filter_servers else None)
    if not has_filter_servers:  # [ROUTE-REG-008]
        return _body(decode_topic_table(request.body), broker_name, None)
    found = decode_registration(
        request.body,
        compressed=request.truth("compressed"),  # [ROUTE-REG-002]
        takes_attributes=False,  # [ROUTE-TOPIC-005]
    )
    return _body(found.topics, broker_name, found.filter_servers)


def decode_data_version(body: bytes) -> DataVersion:
    """Return the data version in *body*; errors are ValueErrors."""
    return _compared(topic_config.decode_data_version(body))


def _body(
    table: TopicTable, broker_name: str, filter_servers: tuple[str, ...] | None
) -> RegistrationBody:
    # [ROUTE-TOPIC-001] [ROUTE-TOPIC-002] [ROUTE-TOPIC-003]
    topics = {
        topic.topic: QueueData(
            broker_name,
            topic.read_queue_count,
            topic.write_queue_count,
            topic.permission,
            topic.topic_flags,
        )
        for topic in table.topics.values()
    }
    return RegistrationBody(_compared(table.version), topics, filter_servers)


def _compared(version: topic_config.DataVersion) -> DataVersion:
    """Return the members by which 4.6.0 compares versions."""
    return version.timestamp_ms, version.counter
