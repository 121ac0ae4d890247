"""
Subscriptions: the selection of a topic's messages by tag or by SQL92 expression.

Tags are compared by their hash in the consume queue; the client compares the text.
``A || B`` selects the tags A and B (Java: SubscriptionData, FilterAPI).
"""

from __future__ import annotations

from dataclasses import dataclass

from reference.core.broker.filter.sql.expressions import Expression, selects
from reference.core.broker.filter.sql.parser import parse_sql
from reference.core.broker.filter.sql.values import SqlError
from reference.core.store.commitlog.dispatch_request import properties_of
from spec.integers import java_string_hash
from spec.wire.bodies.heartbeat import ALL_MESSAGES, TAG, SubscriptionData
from spec.wire.consumer.sql_filter import SQL92


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """The subscription of a consumer group to one topic."""

    topic: str
    text: str
    """The expression as the consumer wrote it (Java: subString)."""
    codes: frozenset[int] | None
    """Hashes of the selected tags; None selects every message."""
    expression_type: str = TAG
    version: int = 0
    expression: Expression | None = None
    """The parsed SQL92 expression; None also where the text is invalid."""
    data: SubscriptionData | None = None
    """The subscription as a heartbeat has it; None in a pull request."""

    @property
    def is_by_tag(self) -> bool:
        """Whether messages are selected by tag."""
        return self.expression_type == TAG

    def accepts(self, record: memoryview) -> bool:
        """Return whether the expression selects the message of a record."""
        if self.expression is None:
            return True  # [PULL-SQL-010]
        return selects(self.expression, properties_of(record))  # [PULL-SQL-001]


class SubscriptionError(ValueError):
    """A subscription text that cannot be parsed."""


def parse_subscription(
    topic: str, text: str | None, expression_type: str | None
) -> Subscription:
    """Return the subscription in a pull request."""
    if expression_type not in {None, TAG}:
        if not text:
            raise SubscriptionError(f"Expression can't be null! {expression_type}")
        return Subscription(
            topic=topic,
            text=text,
            codes=None,
            expression_type=str(expression_type),
            expression=parsed_expression(text, expression_type),
        )
    if not text or text == ALL_MESSAGES:  # [PULL-FILTER-003]
        return Subscription(topic=topic, text=ALL_MESSAGES, codes=None)
    parts = text.split("||")
    if not any(parts):
        raise SubscriptionError("subString split error")
    tags = tuple(part.strip() for part in parts if part.strip())  # [PULL-FILTER-002]
    codes = frozenset(java_string_hash(tag) for tag in tags)
    return Subscription(topic=topic, text=text, codes=codes)


def subscription_of(data: SubscriptionData) -> Subscription:
    """Return the subscription in a heartbeat."""
    text, kind = data.expression or ALL_MESSAGES, data.expression_type
    everything = data.class_filter_mode or text == ALL_MESSAGES or kind != TAG
    return Subscription(
        topic=data.topic,
        text=text,
        codes=None if everything else frozenset(data.codes),  # [GROUP-HEARTBEAT-003]
        expression_type=kind,
        version=data.version,
        expression=parsed_expression(text, kind),
        data=data,
    )


def parsed_expression(text: str, expression_type: str | None) -> Expression | None:
    """Return the expression in *text*; None for an invalid one and for tags."""
    if expression_type != SQL92:
        return None
    try:
        return parse_sql(text)
    except SqlError:
        return None
