"""
The SQL92 expressions of all consumer groups (Java: ConsumerFilterManager).

Heartbeats bring them. They are persisted in consumerFilter.json for a day after the
group's last member has left. With enableCalcFilterBitMap, the consume queue extension
of each message has the bits of the groups whose expression selects it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from reference.core.broker.broker_config import BrokerOptions
from reference.core.broker.filter.bloom_filter import BloomFilter
from reference.core.broker.filter.sql.expressions import Expression, selects
from reference.core.broker.filter.subscription import Subscription, parsed_expression
from reference.core.store.commitlog.dispatch_request import properties_of
from reference.core.store.config_files import ConfigFiles
from reference.core.store.dispatcher import CalcBitMap, empty_bit_map
from reference.core.store.get_message import UnitFilter
from spec.store.config.config_files import CONSUMER_FILTERS_FILE
from spec.store.config.filter_settings import (
    BloomFilterData,
    ConsumerFilterData,
    FilterDataMapByTopic,
    FiltersFile,
)
from spec.store.queue_extension import ExtensionUnit, has_bits
from spec.wire.bodies.json_body import body_as_json, body_from_json
from spec.wire.bodies.json_object import JsonObject

_DEAD_SINCE_MS = 30_000
"""Time for which all groups count as dead at a start."""


class ConsumerFilter(Struct):
    """The expression of a group for a topic, as the file has it and as parsed."""

    data: ConsumerFilterData
    expression: Expression | None
    positions: tuple[int, ...]

    @property
    def is_dead(self) -> bool:
        """Whether no member of the group subscribes to the topic."""
        return self.data.dead_at_ms >= self.data.born_at_ms


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
            topics.add(subscription.data.topic)
            if not subscription.is_by_tag and subscription.data.expression:
                self._put(group, subscription, now_ms)
        for topic, filters in self._table.items():
            one = filters.get(group)
            if one is not None and topic not in topics and not one.is_dead:
                one.data = replace(one.data, dead_at_ms=now_ms)
                self.is_dirty = True

    def leave(self, group: str, now_ms: int) -> None:
        """Record that *group* has no members."""
        self.subscribe(group, (), now_ms)

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

    def remove_dead(self, now_ms: int, patience_ms: int) -> None:
        """Remove the filters that have been dead for *patience_ms* or longer."""
        for topic, filters in list(self._table.items()):
            for group, one in list(filters.items()):
                if one.is_dead and now_ms - one.data.dead_at_ms >= patience_ms:
                    del filters[group]
                    self.is_dirty = True
            if not filters:
                del self._table[topic]

    def as_json(self) -> dict[str, object]:
        """Return the JSON object of consumerFilter.json."""
        topics = {}
        for topic, filters in self._table.items():
            shown = {
                group: replace(one.data, is_dead=one.is_dead)
                for group, one in filters.items()
            }
            topics[topic] = FilterDataMapByTopic(topic=topic, filters=shown)
        return body_as_json(FiltersFile(topics=topics))  # [STORE-SETTINGS-007]

    def load(self, content: JsonObject, now_ms: int) -> None:
        """Load consumerFilter.json, unless its bloom filter has other parameters."""
        table: dict[str, dict[str, ConsumerFilter]] = {}
        for of_topic in body_from_json(FiltersFile, content).topics.values():
            for data in of_topic.filters.values():
                bits = data.bits or BloomFilterData()
                counts = bits.bit_count, len(bits.positions)
                if counts != (self._bloom.bit_count, self._bloom.hash_count):
                    return
                expression = parsed_expression(data.expression, data.expression_type)
                assumed_ms = max(now_ms - _DEAD_SINCE_MS, data.born_at_ms)
                known = replace(data, dead_at_ms=data.dead_at_ms or assumed_ms)
                one = ConsumerFilter(known, expression, bits.positions)
                table.setdefault(data.topic, {})[data.group] = one
        self._table = table

    def _matches(self, one: ConsumerFilter, unit: ExtensionUnit) -> bool:
        if unit.stored_at_ms <= one.data.born_at_ms:
            return True  # [PULL-SQL-017]
        bits = unit.filter_bits
        is_ours = 8 * len(bits) == self._bloom.bit_count
        return not is_ours or has_bits(bits, one.positions)

    def _put(self, group: str, subscription: Subscription, now_ms: int) -> None:
        """Record an expression that is new to its group, or newer."""
        wanted = subscription.data
        topic, version = wanted.topic, wanted.version
        text, kind = wanted.expression, wanted.expression_type
        filters = self._table.setdefault(topic, {})
        old = filters.get(group)
        if old is not None:
            before = old.data.client_version
            if version < before or (version == before and not old.is_dead):
                return
        self.is_dirty = True
        if old is not None and (
            version == before
            or (text, kind) == (old.data.expression, old.data.expression_type)
        ):
            old.data = replace(old.data, client_version=version, dead_at_ms=0)
        elif subscription.expression is None:
            filters.pop(group, None)
        else:
            positions = self._bloom.positions(f"{group}#{topic}")
            data = ConsumerFilterData(
                group=group,
                topic=topic,
                expression=text,
                expression_type=kind,
                born_at_ms=now_ms,
                client_version=version,
                bits=BloomFilterData(
                    bit_count=self._bloom.bit_count, positions=positions
                ),
            )
            filters[group] = ConsumerFilter(data, subscription.expression, positions)
