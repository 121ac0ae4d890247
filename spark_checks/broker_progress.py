"""
Progress of a broker in its system topics, according to its configuration files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spark_checks.config_files import (
    CONSUMED_OFFSETS,
    DELIVERED_OFFSETS,
    config_file,
    numbers_of,
)
from spark_checks.store_files import Store
from spec.wire.message.topic_names import HALF_TOPIC, TRANSACTION_CHECK_GROUP


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerProgress:
    """Queue offsets that a broker has reached, and the end of its log."""

    min_offset: int
    """First commit-log offset that still exists."""
    last_ms: int
    """Store time of the log's last record."""
    delivered_offsets: Mapping[int, int]
    """Queue offset up to which each delay level is delivered, by queue id."""
    checked_offsets: Mapping[int, int]
    """Queue offset up to which each half-message queue is checked."""


def broker_progress(store: Store, min_offset: int, last_ms: int) -> BrokerProgress:
    """Return the progress by the configuration of *store*."""
    levels = numbers_of(config_file(store, DELIVERED_OFFSETS).entries)
    checked = f"{HALF_TOPIC}@{TRANSACTION_CHECK_GROUP}"
    consumed = config_file(store, CONSUMED_OFFSETS).entries
    return BrokerProgress(
        min_offset=min_offset,
        last_ms=last_ms,
        delivered_offsets={level - 1: offset for level, offset in levels.items()},
        checked_offsets=numbers_of(consumed.get(checked)),
    )
