"""
The tables of one broker, which its handlers read and change (Java: BrokerController).

State has no behaviour: it sends nothing and starts nothing. Tables that are written to
files report their changes to the controller, which owns the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count

from msgspec import Struct, field

from reference.core.broker.acl.access_control import AccessControl
from reference.core.broker.admin.broker_statistics import BrokerStatistics
from reference.core.broker.broker_config import BrokerOptions
from reference.core.broker.config_table import ReplicatedTable
from reference.core.broker.filter.consumer_filters import ConsumerFilters
from reference.core.broker.group.clients import Clients, QueueLocks
from reference.core.broker.group.subscription_groups import SubscriptionGroups
from reference.core.broker.offset.consumer_offsets import ConsumerOffsets
from reference.core.broker.topic.topic_config import Topics
from reference.core.remoting.connection import Connection
from reference.core.store.message_store import MessageStore
from spec.host import Host
from spec.wire.bodies.queue_name import QueueName
from spec.wire.remoting.request_code import RequestCode


class BrokerState(Struct, kw_only=True):
    """Everything that a broker has."""

    options: BrokerOptions
    store: MessageStore
    topics: Topics
    groups: SubscriptionGroups
    filters: ConsumerFilters
    statistics: BrokerStatistics
    connections: Mapping[int, Connection]
    """The open connections, by number."""
    store_host: Host
    """Address of this broker, as records contain it."""
    message_id_begin: str
    """The part of this broker's offset message ids that its address makes."""
    started_at_ms: int
    clients: Clients = field(default_factory=Clients)
    offsets: ConsumerOffsets = field(default_factory=ConsumerOffsets)
    locks: QueueLocks = field(default_factory=QueueLocks)
    access_control: AccessControl | None = None
    """None with aclEnable=false."""
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    """A new number each time, in place of Java's random ones."""
    has_appended: bool = False
    """Whether messages were appended or committed since the last dispatch."""

    def queue_name(self, topic: str, queue_id: int) -> QueueName:
        """Return the name of one of this broker's queues in bodies."""
        broker = self.options.broker_name
        return QueueName(broker_name=broker, queue_id=queue_id, topic=topic)

    @property
    def replicated_tables(self) -> Mapping[int, ReplicatedTable]:
        """The tables that a slave copies from its master, by the request for each."""
        return {
            RequestCode.GET_ALL_TOPIC_CONFIG: self.topics,
            RequestCode.GET_ALL_CONSUMER_OFFSET: self.offsets,
            RequestCode.GET_ALL_DELAY_OFFSET: self.store.schedule_service,
            RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: self.groups,
        }
