"""
Which messages of a topic a consumer wants: all, or those with certain tags.

Tags are compared by hash, as the consume queue has them; the client compares the
text. ``A || B`` wants tag A or tag B.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reference.core.broker.sql.expressions import Expression, selects
from reference.core.broker.sql.parser import parse_sql
from reference.core.broker.sql.values import SqlError
from reference.core.store.records import properties_of
from spec.integers import java_string_hash
from spec.wire.sql_filter import SQL92

ALL = "*"
TAG = "TAG"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """What a consumer wants of one topic."""

    topic: str
    text: str
    """As the consumer wrote it (Java: subString)."""
    codes: frozenset[int] | None
    """Hashes of the wanted tags; None wants everything."""
    tags: tuple[str, ...] = ()
    expression_type: str = TAG
    version: int = 0
    class_filter: bool = False
    expression: Expression | None = None
    """What a message must fulfil; None also where the text is a wrong expression."""

    @property
    def is_by_tag(self) -> bool:
        """Whether it is about tags, and not an expression over properties."""
        return self.expression_type == TAG

    def wants(self, tags_code: int) -> bool:
        """Return whether a message with this tags code is wanted."""
        return self.codes is None or tags_code in self.codes  # [PULL-FILTER-001]

    @property
    def looks_at_records(self) -> bool:
        """Whether the tags code of a message does not tell if it is wanted."""
        return self.expression is not None

    def accepts(self, record: memoryview) -> bool:
        """Return whether a message is wanted, by its record."""
        if self.expression is None:
            return True  # [PULL-SQL-010]
        return selects(self.expression, properties_of(record))  # [PULL-SQL-001]

    def as_json(self) -> dict[str, object]:
        """Return it as bodies spell it."""
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
    """A subscription's text cannot be understood."""


def parse_subscription(
    topic: str, text: str | None, expression_type: str | None
) -> Subscription:
    """Return what a pull that brings its own subscription wants."""
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
    """Return the subscription that a heartbeat spells."""
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
    """Return the expression that *text* is; None for a wrong one and for tags."""
    if expression_type != SQL92:
        return None
    try:
        return parse_sql(text)
    except SqlError:
        return None
