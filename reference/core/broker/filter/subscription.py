"""
Subscriptions: the selection of a topic's messages by tag or by SQL92 expression.

Tags are compared by their hash in the consume queue; the client compares the text.
``A || B`` selects the tags A and B (Java: SubscriptionData, FilterAPI).
"""

from __future__ import annotations

from msgspec import Struct

from reference.core.broker.filter.sql.expressions import Expression, selects
from reference.core.broker.filter.sql.parser import parse_sql
from reference.core.broker.filter.sql.values import SqlError
from reference.core.remoting.request import Refused
from reference.core.store.commitlog.dispatch_request import properties_of
from spec.integers import java_string_hash
from spec.wire.bodies.heartbeat import (
    ALL_MESSAGES,
    TAG,
    TAG_SEPARATOR,
    SubscriptionData,
    tags_of,
)
from spec.wire.consumer.sql_filter import SQL92
from spec.wire.remoting.response_code import ResponseCode

_TAG_TYPES = TAG, ""  # [PULL-FILTER-009]
"""Java: ExpressionType#isTagType, for which null is a tag, too."""


class Subscription(Struct, frozen=True):
    """The subscription of a consumer group to one topic."""

    data: SubscriptionData
    codes: frozenset[int] | None
    """Hashes of the selected tags; None selects every message."""
    expression: Expression | None
    """The parsed SQL92 expression; None also where the text is invalid."""

    @property
    def is_by_tag(self) -> bool:
        """Whether messages are selected by tag."""
        return self.data.expression_type in _TAG_TYPES

    def accepts(self, record: memoryview) -> bool:
        """Return whether the expression selects the message of a record."""
        if self.expression is None:
            return True  # [PULL-SQL-010]
        return selects(self.expression, properties_of(record))  # [PULL-SQL-001]


def subscription_of(data: SubscriptionData) -> Subscription:
    """Return the subscription in a heartbeat."""
    text, kind = data.expression or ALL_MESSAGES, data.expression_type
    everything = (
        data.class_filter_mode or text == ALL_MESSAGES or kind not in _TAG_TYPES
    )
    codes = None if everything else frozenset(data.codes)  # [GROUP-HEARTBEAT-003]
    return Subscription(data, codes, parsed_expression(text, kind))


def parse_subscription(
    topic: str, text: str | None, expression_type: str | None
) -> Subscription:
    """Return the subscription in a pull request; raise Refused."""
    kind = TAG if expression_type is None else expression_type
    tags: tuple[str, ...] = ()
    is_malformed = kind != TAG and not text
    if kind == TAG and text and text != ALL_MESSAGES:  # [PULL-FILTER-003]
        is_malformed = not any(text.split(TAG_SEPARATOR))
        tags = tags_of(text)
    if is_malformed:  # [PULL-FILTER-006]
        remark = "parse the consumer's subscription failed"
        raise Refused(ResponseCode.SUBSCRIPTION_PARSE_FAILED, remark)
    return subscription_of(
        SubscriptionData(
            topic=topic,
            expression=text or ALL_MESSAGES,
            codes=tuple(map(java_string_hash, tags)),  # [PULL-FILTER-002]
            version=0,
            expression_type=kind,
        )
    )


def parsed_expression(text: str, expression_type: str) -> Expression | None:
    """Return the expression in *text*; None for an invalid one and for tags."""
    if expression_type != SQL92:
        return None
    try:
        return parse_sql(text)
    except SqlError:
        return None
