"""Subscriptions: a topic with a tag or SQL92 filter (Java: SubscriptionData)."""

from __future__ import annotations

from collections.abc import Iterable

from spec.integers import java_string_hash
from spec.wire.bodies.heartbeat import (
    ALL_MESSAGES,
    JAVA_BLANKS,
    TAG,
    ConsumerData,
    SubscriptionData,
    tags_of,
)
from spec.wire.message.properties import Property


def subscription_of(
    topic: str, expression: str, *, version: int, expression_type: str = TAG
) -> SubscriptionData:
    """Build the subscription to the tags in *expression*, or to every message."""
    if expression_type != TAG:  # [CLIENT-SUBSCRIBE-003]
        return SubscriptionData(
            topic=topic,
            expression=expression,
            version=version,
            expression_type=expression_type,
        )
    text = expression.strip(JAVA_BLANKS) or ALL_MESSAGES
    tags = () if text == ALL_MESSAGES else tags_of(text)
    return SubscriptionData(
        topic=topic,
        expression=text,
        tags=tags,
        # [CLIENT-SUBSCRIBE-002]
        codes=tuple(dict.fromkeys(java_string_hash(tag) for tag in tags)),
        version=version,
    )


def matches_tags(subscription: SubscriptionData, properties: dict[str, str]) -> bool:
    """Return whether the tag of a message, compared as text, is subscribed to."""
    if not subscription.tags:
        return True
    return properties.get(Property.TAGS) in subscription.tags  # [CLIENT-PULL-002]


def consumer_data(
    group: str,
    subscriptions: Iterable[SubscriptionData] = (),
    *,
    is_push: bool = False,
    broadcasts: bool = False,
    consume_from: str = "CONSUME_FROM_LAST_OFFSET",
) -> ConsumerData:
    """Build the group's part of a heartbeat."""
    return ConsumerData(
        group=group,
        consume_type="CONSUME_PASSIVELY" if is_push else "CONSUME_ACTIVELY",
        message_model="BROADCASTING" if broadcasts else "CLUSTERING",
        consume_from=consume_from,
        subscriptions=tuple(subscriptions),
    )
