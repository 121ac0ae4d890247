"""
The SQL92 expressions of all consumer groups (Java: ConsumerFilterManager).

Heartbeats bring them. They are persisted in consumerFilter.json for a day after the
group's last member has left. With enableCalcFilterBitMap, the consume queue extension
of each message has the bits of the groups whose expression selects it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from reference.core.broker.broker_config import BrokerOptions
from reference.core.broker.filter.bloom_filter import BloomFilter
from reference.core.broker.filter.sql.expressions import Expression, selects
from reference.core.broker.filter.subscription import Subscription, parsed_expression
from reference.core.store.commitlog.dispatch_request import properties_of
from reference.core.store.config_files import ConfigFiles
from reference.core.store.dispatcher import CalcBitMap, empty_bit_map
from reference.core.store.get_message import UnitFilter
from spec.store.config.config_files import CONSUMER_FILTERS_FILE
from spec.store.queue_extension import ExtensionUnit, has_bits

_DEAD_SINCE_MS = 30_000
"""Time for which all groups count as dead at a start."""


@dataclass(slots=True)
class ConsumerFilter:
    """The expression of a group for a topic (Java: ConsumerFilterData)."""

    group: str
    topic: str
    text: str
    expression_type: str
    expression: Expression | None
    version: int
    born_at_ms: int
    positions: tuple[int, ...]
    dead_at_ms: int = 0

    @property
    def is_dead(self) -> bool:
        """Whether no member of the group subscribes to the topic."""
        return self.dead_at_ms >= self.born_at_ms

    def as_json(self, bit_count: int) -> dict[str, object]:
        """Return the JSON object of the file."""
        return {
            "bloomFilterData": {"bitNum": bit_count, "bitPos": self.positions},
            "bornTime": self.born_at_ms,
            "clientVersion": self.version,
            "consumerGroup": self.group,
            "dead": self.is_dead,
            "deadTime": self.dead_at_ms,
            "expression": self.text,
            "expressionType": self.expression_type,
            "topic": self.topic,
        }


def bits_at_start(
    options: BrokerOptions, config: ConfigFiles, now_ms: int
) -> CalcBitMap:
    """Return the bit map function for messages that a start dispatches again."""
    if not options.enable_calc_filter_bit_map:
        return empty_bit_map
    filters = ConsumerFilters(options)
    config.load(CONSUMER_FILTERS_FILE, partial(filters.load, now_ms=now_ms))
    return filters.bits


class ConsumerFilters:
    """The filters of all groups, by topic and group."""

    def __init__(self, options: BrokerOptions) -> None:
        self.is_dirty = False
        """Whether the table has changed since it was last written."""
        self._bloom = BloomFilter(
            error_percent=options.max_error_rate_of_bloom_filter,
            group_count=options.expect_consumer_num_use_filter,
        )
        self._table: dict[str, dict[str, ConsumerFilter]] = {}

    def subscribe(
        self, group: str, subscriptions: Iterable[Subscription], now_ms: int
    ) -> None:
        """Record the subscriptions in a heartbeat of *group*."""
        topics = set()
        for subscription in subscriptions:
            topics.add(subscription.topic)
            if not subscription.is_by_tag and subscription.text:
                self._put(group, subscription, now_ms)
        for one in self._of_group(group):
            if one.topic not in topics and not one.is_dead:
                one.dead_at_ms, self.is_dirty = now_ms, True

    def leave(self, group: str, now_ms: int) -> None:
        """Record that *group* has no members."""
        for one in self._of_group(group):
            if not one.is_dead:
                one.dead_at_ms, self.is_dirty = now_ms, True

    def bits(self, topic: str, record: memoryview) -> bytes:
        """Return the bit map of a message; empty where no group filters its topic."""
        filters = self._table.get(topic)
        if not filters:
            return b""  # [STORE-EXTENSION-008]
        properties = properties_of(record)
        return self._bloom.bits(
            position
            for one in filters.values()
            if one.expression is not None and selects(one.expression, properties)
            for position in one.positions
        )

    def bitmap_filter(self, group: str, topic: str) -> UnitFilter | None:
        """Return a filter that skips messages by their bit map, or None.

        4.6.0 org.apache.rocketmq.broker.filter.ExpressionMessageFilter
        #isMatchedByConsumeQueue; None where no expression of the group is known.
        """
        one = self._table.get(topic, {}).get(group)
        return None if one is None else partial(self._matches, one)

    def forget_dead(self, now_ms: int, patience_ms: int) -> None:
        """Remove the filters that have been dead for *patience_ms* or longer."""
        for topic, filters in list(self._table.items()):
            for one in list(filters.values()):
                if one.is_dead and now_ms - one.dead_at_ms >= patience_ms:
                    del filters[one.group]
                    self.is_dirty = True
            if not filters:
                del self._table[topic]

    def as_json(self) -> dict[str, object]:
        """Return the JSON object of consumerFilter.json."""
        count = self._bloom.bit_count
        topics = {
            topic: {
                "groupFilterData": {
                    group: one.as_json(count) for group, one in filters.items()
                },
                "topic": topic,
            }
            for topic, filters in self._table.items()
        }
        return {"filterDataByTopic": topics}  # [STORE-SETTINGS-007]

    def load(self, content: Mapping[Any, Any], now_ms: int) -> None:
        """Load consumerFilter.json, unless its bloom filter has other parameters."""
        table: dict[str, dict[str, ConsumerFilter]] = {}
        for topic, filters in _object(content.get("filterDataByTopic")).items():
            for group, value in _object(
                _object(filters).get("groupFilterData")
            ).items():
                one = self._read(str(group), str(topic), _object(value), now_ms)
                if one is None:
                    return
                table.setdefault(one.topic, {})[one.group] = one
        self._table = table

    def _matches(self, one: ConsumerFilter, unit: ExtensionUnit) -> bool:
        if unit.stored_at_ms <= one.born_at_ms:
            return True  # [PULL-SQL-017]
        bits = unit.filter_bits
        is_ours = 8 * len(bits) == self._bloom.bit_count
        return not is_ours or has_bits(bits, one.positions)

    def _put(self, group: str, subscription: Subscription, now_ms: int) -> None:
        """Record an expression that is new to its group, or newer."""
        filters = self._table.setdefault(subscription.topic, {})
        old = filters.get(group)
        if old is not None and subscription.version <= old.version:
            if subscription.version == old.version and old.is_dead:
                old.dead_at_ms, self.is_dirty = 0, True
            return
        self.is_dirty = True
        kind = subscription.expression_type
        is_same = (old.text, old.expression_type) if old else None
        if old is not None and is_same == (subscription.text, kind):
            old.version, old.dead_at_ms = subscription.version, 0
        elif subscription.expression is None:
            filters.pop(group, None)
        else:
            filters[group] = ConsumerFilter(
                group,
                subscription.topic,
                subscription.text,
                kind,
                subscription.expression,
                subscription.version,
                now_ms,
                self._bloom.positions(f"{group}#{subscription.topic}"),
            )

    def _of_group(self, group: str) -> list[ConsumerFilter]:
        return [filters[group] for filters in self._table.values() if group in filters]

    def _read(
        self, group: str, topic: str, value: dict[Any, Any], now_ms: int
    ) -> ConsumerFilter | None:
        """Return a filter of the file; None with other parameters."""
        bits = _object(value.get("bloomFilterData"))
        positions = tuple(int(one) for one in bits.get("bitPos") or ())
        counts = bits.get("bitNum"), len(positions)
        if counts != (self._bloom.bit_count, self._bloom.hash_count):
            return None
        text, kind = str(value.get("expression")), str(value.get("expressionType"))
        one = ConsumerFilter(
            group,
            topic,
            text,
            kind,
            parsed_expression(text, kind),
            int(value.get("clientVersion") or 0),
            int(value.get("bornTime") or 0),
            positions,
            int(value.get("deadTime") or 0),
        )
        if one.dead_at_ms == 0:
            one.dead_at_ms = max(now_ms - _DEAD_SINCE_MS, one.born_at_ms)
        return one


def _object(value: object) -> dict[Any, Any]:
    """Return *value* if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}
