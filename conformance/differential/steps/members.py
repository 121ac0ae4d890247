"""Steps of clients about their groups: heartbeats, members, locks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from conformance.differential.steps.step import Body, Response, Step
from conformance.differential.world import World
from conformance.harness.client.client import (
    consumer_data,
    queue_data,
    subscription_data,
)
from spec.integers import java_string_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat(Step):
    """Heartbeat with a client's subscriptions and producer groups."""

    client: str = "C0"
    group: str = "G0"
    expression: str = "*"
    version: int = 0
    model: str = "CLUSTERING"
    produces: bool = False

    kind: ClassVar[str] = "heartbeat"
    changes: ClassVar[bool] = True

    def invoke(self, world: World) -> Response:
        """Send it on the client's own connection."""
        group = world.named(self.group)
        tags = [] if self.expression == "*" else self.expression.split(" || ")
        subscription = subscription_data(
            topic=world.named("T0"),
            expression=self.expression,
            tags=tags,
            codes=[java_string_hash(tag) for tag in tags],
            version=self.version,
        )
        consumer = consumer_data(
            group=group, subscriptions=[subscription], message_model=self.model
        )
        return world.client(self.client).heartbeat(
            client_id=world.named(self.client),
            consumers=[] if self.produces else [consumer],
            producer_groups=[group] if self.produces else [],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Unregister(Step):
    """A client leaves a group."""

    client: str = "C0"
    group: str = "G0"
    produces: bool = False

    kind: ClassVar[str] = "unregister client"
    changes: ClassVar[bool] = True

    def invoke(self, world: World) -> Response:
        """Send it on the client's own connection."""
        group = world.named(self.group)
        return world.client(self.client).unregister_client(
            client_id=world.named(self.client),
            producer_group=group if self.produces else None,
            consumer_group=None if self.produces else group,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Members(Step):
    """Consumers of a group."""

    group: str = "G0"

    kind: ClassVar[str] = "consumer list"
    body: ClassVar[Body] = Body.JSON

    def invoke(self, world: World) -> Response:
        """Send the request."""
        return world.broker.consumer_list(group=world.named(self.group))


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections(Members):
    """The connections and subscriptions of a consumer group."""

    kind: ClassVar[str] = "consumer connections"

    def invoke(self, world: World) -> Response:
        """Send the request."""
        return world.broker.consumer_connections(group=world.named(self.group))


@dataclass(frozen=True, slots=True, kw_only=True)
class Producers(Members):
    """The connections of a producer group."""

    kind: ClassVar[str] = "producer connections"

    def invoke(self, world: World) -> Response:
        """Send the request."""
        return world.broker.producer_connections(group=world.named(self.group))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock(Step):
    """Lock of queues by a client."""

    client: str = "C0"
    group: str = "G0"
    queues: tuple[int, ...] = (0,)

    kind: ClassVar[str] = "lock queues"
    body: ClassVar[Body] = Body.JSON
    changes: ClassVar[bool] = True

    def invoke(self, world: World) -> Response:
        """Send the request."""
        return world.broker.lock_queues(
            group=world.named(self.group),
            client_id=world.named(self.client),
            queues=queues_of(world, self.queues),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlock(Lock):
    """A client gives queues up."""

    kind: ClassVar[str] = "unlock queues"
    body: ClassVar[Body] = Body.PLAIN

    def invoke(self, world: World) -> Response:
        """Give them up."""
        return world.broker.unlock_queues(
            group=world.named(self.group),
            client_id=world.named(self.client),
            queues=queues_of(world, self.queues),
        )


def queues_of(world: World, ids: tuple[int, ...]) -> list[dict[str, object]]:
    """Return queues of T0 as lock bodies name them."""
    broker_name = world.target.broker_name
    return [
        queue_data(topic=world.named("T0"), broker_name=broker_name, queue_id=one)
        for one in ids
    ]
