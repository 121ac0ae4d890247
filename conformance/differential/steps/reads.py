"""Steps that read: pulls, offsets, searches, messages by id and by key."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from conformance.differential.steps.step import Body, Nothing, Response, Step
from conformance.differential.world import World

HOUR_MS = 3_600_000


class When(StrEnum):
    """Time, relative to a message that was stored then."""

    EXACTLY = "exactly then"
    JUST_AFTER = "just after"
    HOUR_BEFORE = "an hour before"
    HOUR_AFTER = "an hour after"


SHIFTS_MS = {
    When.EXACTLY: 0,
    When.JUST_AFTER: 1,
    When.HOUR_BEFORE: -HOUR_MS,
    When.HOUR_AFTER: HOUR_MS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pull(Step):
    """The messages of a queue from an offset on."""

    topic: str = "T0"
    queue_id: int = 0
    offset: int = 0
    count: int = 32
    group: str = "G0"
    subscription: str | None = "*"
    flags: int = 4
    commit: int = 0
    expression_type: str = "TAG"

    kind: ClassVar[str] = "pull"
    body: ClassVar[Body] = Body.RECORDS

    def invoke(self, world: World) -> Response:
        """Pull, once the queue has what was sent to it."""
        world.settle(self.topic, self.queue_id)
        return world.broker.pull(
            topic=world.named(self.topic),
            queue_id=self.queue_id,
            offset=self.offset,
            max_count=self.count,
            group=world.named(self.group),
            subscription=self.subscription,
            system_flags=self.flags,
            commit_offset=self.commit,
            expression_type=self.expression_type,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryOffset(Step):
    """Committed offset of a group."""

    topic: str = "T0"
    queue_id: int = 0
    group: str = "G0"

    kind: ClassVar[str] = "query offset"

    def invoke(self, world: World) -> Response:
        """Send the request, once the queue has its messages."""
        world.settle(self.topic, self.queue_id)
        return world.broker.query_offset(
            group=world.named(self.group),
            topic=world.named(self.topic),
            queue_id=self.queue_id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateOffset(Step):
    """A group commits an offset."""

    topic: str = "T0"
    queue_id: int = 0
    group: str = "G0"
    offset: int = 0

    kind: ClassVar[str] = "update offset"
    changes: ClassVar[bool] = True

    def invoke(self, world: World) -> Response:
        """Commit it."""
        return world.broker.update_offset(
            group=world.named(self.group),
            topic=world.named(self.topic),
            queue_id=self.queue_id,
            offset=self.offset,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxOffset(Step):
    """End of a queue."""

    topic: str = "T0"
    queue_id: int = 0

    kind: ClassVar[str] = "max offset"

    def invoke(self, world: World) -> Response:
        """Send the request, once the queue has its messages."""
        world.settle(self.topic, self.queue_id)
        return world.broker.max_offset(
            topic=world.named(self.topic), queue_id=self.queue_id
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MinOffset(MaxOffset):
    """Begin of a queue."""

    kind: ClassVar[str] = "min offset"

    def invoke(self, world: World) -> Response:
        """Send the request."""
        world.settle(self.topic, self.queue_id)
        return world.broker.min_offset(
            topic=world.named(self.topic), queue_id=self.queue_id
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EarliestTime(MaxOffset):
    """Store time of a queue's oldest message."""

    kind: ClassVar[str] = "earliest store time"

    def invoke(self, world: World) -> Response:
        """Send the request."""
        world.settle(self.topic, self.queue_id)
        return world.broker.earliest_store_time(
            topic=world.named(self.topic), queue_id=self.queue_id
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(Step):
    """Offset of a time, which is that of a message of the same queue."""

    message: int = 0
    when: When = When.EXACTLY
    boundary: str | None = None

    kind: ClassVar[str] = "search offset"

    def invoke(self, world: World) -> Response:
        """Look up when that message was stored, and search."""
        one = world.message(self.message)
        if one is None:
            return Nothing.NOT_SENT
        world.settle(one.topic, one.queue_id)
        stored_at_ms = world.stored_at_ms(one)
        return world.broker.search_offset(
            topic=world.named(one.topic),
            queue_id=one.queue_id,
            timestamp_ms=stored_at_ms + SHIFTS_MS[self.when],
            boundary=self.boundary,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class View(Step):
    """A message by its place in the commit log."""

    message: int = 0

    kind: ClassVar[str] = "view message"
    body: ClassVar[Body] = Body.RECORDS

    def invoke(self, world: World) -> Response:
        """Send the request."""
        one = world.message(self.message)
        if one is None:
            return Nothing.NOT_SENT
        return world.broker.view_message(commit_log_offset=one.commit_log_offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryKey(Step):
    """The messages of a key."""

    topic: str = "T0"
    key: str = "k"
    count: int = 32
    unique: bool = False

    kind: ClassVar[str] = "query message"
    body: ClassVar[Body] = Body.RECORDS

    def invoke(self, world: World) -> Response:
        """Query the index, once it has all sent messages."""
        for queue_id in range(4):
            world.settle(self.topic, queue_id)
        world.settle_key(self.topic, self.key)
        return world.broker.query_message(
            topic=world.named(self.topic),
            key=world.named(self.key),
            max_count=self.count,
            unique=self.unique,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicStats(Step):
    """Both ends of each queue of a topic."""

    topic: str = "T0"

    kind: ClassVar[str] = "topic stats"
    body: ClassVar[Body] = Body.JSON

    def invoke(self, world: World) -> Response:
        """Send the request, once the queues have their messages."""
        for queue_id in range(4):
            world.settle(self.topic, queue_id)
        return world.broker.topic_stats(topic=world.named(self.topic))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeStats(Step):
    """Lag of a group."""

    group: str = "G0"
    topic: str | None = "T0"

    kind: ClassVar[str] = "consume stats"
    body: ClassVar[Body] = Body.JSON

    def invoke(self, world: World) -> Response:
        """Send the request, once the queues have their messages."""
        for queue_id in range(4):
            world.settle("T0", queue_id)
        topic = world.named(self.topic) if self.topic else None
        return world.broker.consume_stats(group=world.named(self.group), topic=topic)
