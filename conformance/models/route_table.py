"""
Expected content of a name server, as three dictionaries.

The routing suite's machine compares the name server with this model. It is shorter
than any name server, for it has no connections, no time and no locks.
"""

from __future__ import annotations

from collections.abc import Mapping

from spec.clause import release_key
from spec.routing.broker_registration import BrokerIdentity
from spec.routing.topic_config import TopicConfig

Queues = tuple[int, int, int]
"""Read queues, write queues, permission."""


class RouteTable:
    """The tables of one name server of a release."""

    def __init__(self, release: str) -> None:
        key = release_key(release)
        self._sees_new_topics = key >= (5,)
        """Whether a new topic is seen without a new version."""
        self._one_id_an_address = key >= (4, 5)
        self.addresses: dict[str, dict[int, str]] = {}
        """Addresses by broker name and id."""
        self.queues: dict[str, dict[str, Queues]] = {}
        """Queues by topic and broker name."""
        self._versions: dict[str, int] = {}
        """The data version of each address' last registration."""

    def register(
        self, identity: BrokerIdentity, topics: Mapping[str, TopicConfig], version: int
    ) -> None:
        """Note a registration."""
        addresses = self.addresses.setdefault(identity.broker_name, {})
        first = identity.broker_id not in addresses
        for broker_id, address in list(addresses.items()):
            if address == identity.address and self._one_id_an_address:
                del addresses[broker_id]
        addresses[identity.broker_id] = identity.address
        if identity.broker_id == 0:
            changed = first or self._versions.get(identity.address) != version
            self._take(identity.broker_name, topics, changed=changed)
        self._versions[identity.address] = version

    def unregister(self, identity: BrokerIdentity) -> None:
        """Note an unregistration of an id and the address that it has."""
        self._versions.pop(identity.address, None)
        addresses = self.addresses.get(identity.broker_name, {})
        if addresses.get(identity.broker_id) != identity.address:
            return
        del addresses[identity.broker_id]
        if not addresses:
            del self.addresses[identity.broker_name]
            for topic in list(self.queues):
                self.queues[topic].pop(identity.broker_name, None)
                if not self.queues[topic]:
                    del self.queues[topic]

    def wipe_write(self, broker_name: str) -> int:
        """Note that a broker lost its write permission; return its topic count."""
        topics = [topic for topic in self.queues if broker_name in self.queues[topic]]
        for topic in topics:
            read, write, permission = self.queues[topic][broker_name]
            self.queues[topic][broker_name] = (read, write, permission & ~2)
        return len(topics)

    def delete_topic(self, topic: str) -> None:
        """Note that a topic was deleted."""
        self.queues.pop(topic, None)

    def _take(
        self, broker_name: str, topics: Mapping[str, TopicConfig], *, changed: bool
    ) -> None:
        for name, topic in topics.items():
            known = broker_name in self.queues.get(name, {})
            if changed or (self._sees_new_topics and not known):
                self.queues.setdefault(name, {})[broker_name] = (
                    topic.read_queue_count,
                    topic.write_queue_count,
                    topic.permission,
                )
