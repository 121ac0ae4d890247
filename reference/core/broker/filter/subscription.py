"""
Subscriptions: the selection of a topic's messages by tag or by SQL92 expression.

Tags are compared by their hash in the consume queue; the client compares the text.
``A || B`` selects the tags A and B (Java: SubscriptionData, FilterAPI).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reference.core.broker.filter.sql.expressions import Expression, selects
from reference.core.broker.filter.sql.parser import parse_sql
from reference.core.broker.filter.sql.values import SqlError
from reference.core.store.commitlog.dispatch_request import properties_of
from spec.integers import java_string_hash
from spec.wire.consumer.sql_filter import SQL92

ALL = "*"
TAG = "TAG"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """The subscription of a consumer group to one topic."""

    topic: str
    text: str
    """The expression as the consumer wrote it (Java: subString)."""
    codes: frozenset[int] | None
    """Hashes of the selected tags; None selects every message."""
    tags: tuple[str, ...] = ()
    expression_type: str = TAG
    version: int = 0
    class_filter: bool = False
    expression: Expression | None = None
    """The parsed SQL92 expression; None also where the text is invalid."""

    @property
    def is_by_tag(self) -> bool:
        """Whether messages are selected by tag."""
        return self.expression_type == TAG

    def accepts(self, record: memoryview) -> bool:
        """Return whether the expression selects the message of a record."""
        if self.expression is None:
            return True  # [PULL-SQL-010]
        return selects(self.expression, properties_of(record))  # [PULL-SQL-001]

    def as_json(self) -> dict[str, object]:
        """Return the JSON object of bodies."""
        return {
            "classFilterMode": self.class_filter,
            "codeSet": sorted(self.codes or ()),
            "expressionType": self.expression_type,
            "subString": self.text,
            "subVersion": self.version,
            "tagsSet": list(self.tags),
            "topic": self.topic,
        }


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
    if not text or text == ALL:  # [PULL-FILTER-003]
        return Subscription(topic=topic, text=ALL, codes=None)
    parts = text.split("||")
    if not any(parts):
        raise SubscriptionError("subString split error")
    tags = tuple(part.strip() for part in parts if part.strip())  # [PULL-FILTER-002]
    codes = frozenset(java_string_hash(tag) for tag in tags)
    return Subscription(topic=topic, text=text, codes=codes, tags=tags)


def subscription_of(value: Mapping[str, Any]) -> Subscription:
    """Return the subscription in a heartbeat."""
    text = str(value.get("subString") or ALL)
    expression_type = str(value.get("expressionType") or TAG)
    class_filter = bool(value.get("classFilterMode"))
    everything = class_filter or text == ALL or expression_type != TAG
    # [GROUP-HEARTBEAT-003]
    codes = frozenset(int(code) for code in value.get("codeSet") or ())
    return Subscription(
        topic=str(value["topic"]),
        text=text,
        codes=None if everything else codes,
        tags=tuple(str(tag) for tag in value.get("tagsSet") or ()),
        expression_type=expression_type,
        version=int(value.get("subVersion") or 0),
        class_filter=class_filter,
        expression=parsed_expression(text, expression_type),
    )


def parsed_expression(text: str, expression_type: str | None) -> Expression | None:
    """Return the expression in *text*; None for an invalid one and for tags."""
    if expression_type != SQL92:
        return None
    try:
        return parse_sql(text)
    except SqlError:
        return None
