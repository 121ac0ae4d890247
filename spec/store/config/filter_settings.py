"""
SQL92 expressions of consumer groups: the file consumerFilter.json.

A broker with enablePropertyFilter persists the expression of every group from its
heartbeats, and for a day those of groups without members. A matching message has the
group's bits in the consume queue's extension.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from spec.wire.bodies.json_body import Body, Member, OpenBody


class BloomFilterData(Body, frozen=True, kw_only=True):
    """Bits of a group in the filter over groups."""

    bit_count: Annotated[int, Member("bitNum", "of the filter")] = 0
    positions: Annotated[tuple[int, ...], Member("bitPos")] = ()


class ConsumerFilterData(OpenBody, frozen=True, kw_only=True):
    """The SQL expression of a group for a topic."""

    group: Annotated[str, Member("consumerGroup", "the group")]
    topic: Annotated[str, Member("topic", "the topic")]
    expression: Annotated[str, Member("expression", "such as a > 1")]
    expression_type: Annotated[str, Member("expressionType", "SQL92")] = "SQL92"
    born_at_ms: Annotated[int, Member("bornTime", "first heartbeat with it")] = 0
    dead_at_ms: Annotated[int, Member("deadTime", "last member left; or 0")] = 0
    is_dead: Annotated[bool | None, Member("dead", "whether that is not 0")] = None
    client_version: Annotated[int, Member("clientVersion", "subVersion")] = 0
    bits: Annotated[BloomFilterData | None, Member("bloomFilterData", "its bits")] = (
        None
    )


class FilterDataMapByTopic(OpenBody, frozen=True, kw_only=True):
    """The filters of a topic."""

    topic: Annotated[str, Member("topic", "the topic")]
    filters: Annotated[
        Mapping[str, ConsumerFilterData], Member("groupFilterData", "by group")
    ] = {}


class FiltersFile(OpenBody, frozen=True, kw_only=True):
    """The file consumerFilter.json."""

    topics: Annotated[
        Mapping[str, FilterDataMapByTopic], Member("filterDataByTopic")
    ] = {}
