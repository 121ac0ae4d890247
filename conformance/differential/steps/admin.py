"""Steps of administrators: topics, groups, settings of a name server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from conformance.differential.steps.step import Body, Response, Step
from conformance.differential.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTopic(Step):
    """A topic is created, or gets other queues and permissions."""

    topic: str = "T0"
    write_queues: int = 3
    read_queues: int = 3
    permissions: int = 6
    filter_type: str = "SINGLE_TAG"
    order: bool = False

    kind: ClassVar[str] = "create topic"
    changes: ClassVar[bool] = True

    def invoke(self, world: World) -> Response:
        """Create it."""
        return world.broker.create_topic(
            topic=world.named(self.topic),
            queue_count=self.write_queues,
            read_queue_count=self.read_queues,
            permissions=self.permissions,
            filter_type=self.filter_type,
            order=self.order,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTopic(Step):
    """A topic is deleted, its queues with it."""

    topic: str = "T0"

    kind: ClassVar[str] = "delete topic"
    changes: ClassVar[bool] = True

    def invoke(self, world: World) -> Response:
        """Delete it, once nothing is on its way into its queues."""
        for queue_id in range(4):
            world.settle(self.topic, queue_id)
        response = world.broker.delete_topic(topic=world.named(self.topic))
        world.emptied(self.topic)
        return response


@dataclass(frozen=True, slots=True, kw_only=True)
class Topics(Step):
    """The configuration of topics."""

    kind: ClassVar[str] = "all topic config"
    body: ClassVar[Body] = Body.TABLE

    def invoke(self, world: World) -> Response:
        """Get all of them."""
        return world.broker.all_topic_config()


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateGroup(Step):
    """A group is created, or gets other settings."""

    group: str = "G0"
    settings: tuple[tuple[str, int | bool], ...] = ()

    kind: ClassVar[str] = "update group"
    changes: ClassVar[bool] = True

    def invoke(self, world: World) -> Response:
        """Create it."""
        group = world.named(self.group)
        return world.broker.update_group(group=group, settings=dict(self.settings))


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteGroup(Step):
    """A group is deleted."""

    group: str = "G0"

    kind: ClassVar[str] = "delete group"
    changes: ClassVar[bool] = True

    def invoke(self, world: World) -> Response:
        """Delete it."""
        return world.broker.delete_group(group=world.named(self.group))


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups(Step):
    """The settings of groups."""

    kind: ClassVar[str] = "all groups"
    body: ClassVar[Body] = Body.TABLE

    def invoke(self, world: World) -> Response:
        """Get all of them."""
        return world.broker.all_groups()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsOfTopic(Step):
    """Groups that consume a topic."""

    topic: str = "T0"

    kind: ClassVar[str] = "groups of topic"
    body: ClassVar[Body] = Body.JSON

    def invoke(self, world: World) -> Response:
        """Send the request."""
        return world.broker.group_topics(topic=world.named(self.topic))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetOffset(Step):
    """A group is moved to the oldest message or behind the newest."""

    group: str = "G0"
    to_end: bool = False
    force: bool = True

    kind: ClassVar[str] = "reset offset"
    body: ClassVar[Body] = Body.JSON
    changes: ClassVar[bool] = True

    def invoke(self, world: World) -> Response:
        """Move it."""
        for queue_id in range(4):
            world.settle("T0", queue_id)
        return world.broker.reset_offset(
            group=world.named(self.group),
            topic=world.named("T0"),
            timestamp_ms=-1 if self.to_end else 1,
            force=self.force,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyValue(Step):
    """A setting of the name server is put, read, deleted or listed."""

    verb: str = "get"
    namespace: str = "N0"
    key: str = "a"
    value: str = "1"

    kind: ClassVar[str] = "key value"
    body: ClassVar[Body] = Body.JSON
    changes: ClassVar[bool] = True

    def invoke(self, world: World) -> Response:
        """Send the request to the name server."""
        space = world.named(self.namespace)
        client = world.namesrv
        if self.verb == "put":
            return client.put_kv(namespace=space, key=self.key, value=self.value)
        if self.verb == "delete":
            return client.delete_kv(namespace=space, key=self.key)
        if self.verb == "list":
            return client.kv_list(namespace=space)
        return client.get_kv(namespace=space, key=self.key)
