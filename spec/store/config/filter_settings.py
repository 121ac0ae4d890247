"""
SQL92 expressions of consumer groups: the file consumerFilter.json.

A broker with enablePropertyFilter persists the expression of every group from its
heartbeats, and for a day those of groups without members. A matching message has the
group's bits in the consume queue's extension.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spec.wire.bodies.json_body import (
    INTEGER,
    TEXT,
    TRUTH,
    list_of,
    map_of,
    member,
    object_of,
    rest_of_members,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BloomFilterData:
    """Bits of a group in the filter over groups."""

    bit_count: int = member("bitNum", INTEGER, "of the filter", default=0)
    positions: tuple[int, ...] = member("bitPos", list_of(INTEGER), "", default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerFilterData:
    """The SQL expression of a group for a topic."""

    group: str = member("consumerGroup", TEXT, "the group")
    topic: str = member("topic", TEXT, "the topic")
    expression: str = member("expression", TEXT, "such as a > 1")
    expression_type: str = member("expressionType", TEXT, "SQL92", default="SQL92")
    born_at_ms: int = member("bornTime", INTEGER, "first heartbeat with it", default=0)
    dead_at_ms: int = member("deadTime", INTEGER, "last member left; or 0", default=0)
    is_dead: bool | None = member("dead", TRUTH, "whether that is not 0", default=None)
    client_version: int = member("clientVersion", INTEGER, "subVersion", default=0)
    bits: BloomFilterData | None = member(  # noqa: RUF009 # a field
        "bloomFilterData", object_of(BloomFilterData), "its bits", default=None
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterDataMapByTopic:
    """The filters of a topic."""

    topic: str = member("topic", TEXT, "the topic")
    filters: Mapping[str, ConsumerFilterData] = member(
        "groupFilterData",
        map_of(TEXT, object_of(ConsumerFilterData)),
        "by group",
        default=dict,
    )
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class FiltersFile:
    """The file consumerFilter.json."""

    topics: Mapping[str, FilterDataMapByTopic] = member(
        "filterDataByTopic",
        map_of(TEXT, object_of(FilterDataMapByTopic)),
        "",
        default=dict,
    )
    rest: Mapping[str, object] = rest_of_members()
