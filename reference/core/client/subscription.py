"""
What a consumer wants of a topic, as heartbeats and pulls say it.
"""

from __future__ import annotations

from spec.integers import java_string_hash
from spec.wire.heartbeat import ALL_MESSAGES, Subscription
from spec.wire.properties import Property

_OR = "||"
TAGS = "TAG"
"""The type of an expression that every broker understands."""


def subscription_of(
    topic: str, expression: str, *, version: int, expression_type: str = TAGS
) -> Subscription:
    """Return the subscription to the tags that *expression* has, or to everything."""
    if expression_type != TAGS:  # [CLIENT-SUBSCRIBE-003]
        return Subscription(
            topic=topic,
            expression=expression,
            version=version,
            expression_type=expression_type,
        )
    text = expression.strip() or ALL_MESSAGES
    parts = [] if text == ALL_MESSAGES else text.split(_OR)
    tags = tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
    return Subscription(
        topic=topic,
        expression=text,
        tags=tags,
        # [CLIENT-SUBSCRIBE-002]
        codes=tuple(dict.fromkeys(java_string_hash(tag) for tag in tags)),
        version=version,
    )


def wants(subscription: Subscription, properties: dict[str, str]) -> bool:
    """Return whether a message with *properties* is wanted; tags are read as text."""
    if not subscription.tags:
        return True
    return properties.get(Property.TAGS) in subscription.tags  # [CLIENT-PULL-002]
