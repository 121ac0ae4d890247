"""
Filters by expression: each group's bits, their start times, and the file's content.
"""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from reference.core.broker.broker_config import BrokerOptions
from reference.core.broker.filter.bloom_filter import BloomFilter, murmur64
from reference.core.broker.filter.consumer_filters import ConsumerFilters
from reference.core.broker.filter.subscription import Subscription, subscription_of
from spec.store.queue_extension import ExtensionUnit, has_bits
from spec.wire.bodies.fastjson_forms import dumps_pretty
from spec.wire.bodies.heartbeat import SubscriptionData

FIXTURES = Path(__file__).parents[3] / "fixtures" / "parts"
BLOOM = BloomFilter(error_percent=20, group_count=32)  # as in the default settings
DAY_MS = 86_400_000


def wanting(text: str, *, version: int = 1, topic: str = "T") -> Subscription:
    """Return a subscription by expression."""
    data = SubscriptionData(
        topic=topic, expression=text, expression_type="SQL92", version=version
    )
    return subscription_of(data)


def text_of(filters: ConsumerFilters) -> str:
    """Return the content of the file."""
    return dumps_pretty(filters.as_json()).decode()


def test_the_hash_is_the_published_one() -> None:
    # The first half of a test vector of the reference implementation, little-endian.
    assert murmur64(b"") == 0
    assert murmur64(b"hello") == 0xCBD8A7B341BD9B02


def test_bits_are_those_that_4_6_0_wrote() -> None:
    text = (FIXTURES / "4.6.0" / "config" / "consumerFilter.json").read_text()
    written = json.loads(text)["filterDataByTopic"]
    for topic, filters in written.items():
        for group, one in filters["groupFilterData"].items():
            bits = one["bloomFilterData"]
            assert bits["bitNum"] == BLOOM.bit_count
            assert tuple(bits["bitPos"]) == BLOOM.positions(f"{group}#{topic}")


def test_a_file_of_4_6_0_is_read_and_written_back() -> None:
    text = (FIXTURES / "4.6.0" / "config" / "consumerFilter.json").read_text()
    filters = ConsumerFilters(BrokerOptions())
    filters.load(json.loads(text), now_ms=2**60)
    assert text_of(filters) == text


@given(name=st.text())
def test_a_bit_map_has_the_bits_of_its_name(name: str) -> None:
    positions = BLOOM.positions(name.encode("utf-8", "replace").decode())
    assert has_bits(BLOOM.bits(positions), positions)


def test_an_older_version_changes_nothing_and_a_wrong_one_removes() -> None:
    filters = ConsumerFilters(BrokerOptions())
    filters.subscribe("G", [wanting("a > 1", version=2)], 10)
    filters.subscribe("G", [wanting("a > 2", version=1)], 20)
    assert "a > 1" in text_of(filters)
    filters.subscribe("G", [wanting("no expression", version=3)], 30)
    assert "a > 1" not in text_of(filters)


def test_a_group_that_is_gone_is_forgotten_after_a_day() -> None:
    filters = ConsumerFilters(BrokerOptions())
    filters.subscribe("G", [wanting("a > 1")], 10)
    filters.leave("G", 20)
    filters.remove_dead(20 + DAY_MS - 1, DAY_MS)
    assert "a > 1" in text_of(filters)
    filters.subscribe("G", [wanting("a > 1")], 30)
    filters.remove_dead(20 + DAY_MS, DAY_MS)
    assert "a > 1" in text_of(filters)
    filters.subscribe("G", [wanting("b > 1", topic="U")], 40)
    filters.remove_dead(40 + DAY_MS, DAY_MS)
    assert "a > 1" not in text_of(filters)


def test_bits_decide_for_messages_since_the_expression_and_of_our_length() -> None:
    filters = ConsumerFilters(BrokerOptions())
    assert filters.bitmap_filter("G", "T") is None
    filters.subscribe("G", [wanting("a > 1")], 10)
    unit_filter = filters.bitmap_filter("G", "T")
    assert unit_filter is not None
    ours = BLOOM.bits(BLOOM.positions("G#T"))
    nobodys = bytes(len(ours))
    assert unit_filter(ExtensionUnit(stored_at_ms=11, filter_bits=ours))
    assert not unit_filter(ExtensionUnit(stored_at_ms=11, filter_bits=nobodys))
    assert unit_filter(ExtensionUnit(stored_at_ms=10, filter_bits=nobodys))
    assert unit_filter(ExtensionUnit(stored_at_ms=11, filter_bits=nobodys[1:]))
    assert unit_filter(ExtensionUnit(stored_at_ms=11))
