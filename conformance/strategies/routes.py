"""
Topics, permissions and registrations as brokers might send them to a name server.

Names are made by the test, because a shared name server must not be confused; what is
generated here is everything else.
"""

from __future__ import annotations

from hypothesis import strategies as st

from spec.routing.topic_config import TopicConfig

QUEUE_COUNT_MAX = 2**31 - 1


def queue_counts() -> st.SearchStrategy[int]:
    """Return numbers of queues: usual ones, none, the largest that the field holds."""
    return st.one_of(
        st.integers(min_value=0, max_value=16),
        st.sampled_from((127, 128, 1024, 32767, 65536, QUEUE_COUNT_MAX)),
    )


def permissions() -> st.SearchStrategy[int]:
    """Return permissions: all mixtures of the known bits, and of a bit beyond."""
    return st.integers(min_value=0, max_value=31)


def topic_flags() -> st.SearchStrategy[int]:
    """Return flags of a topic: the two known bits, and others."""
    return st.integers(min_value=0, max_value=7)


def topic_configs(topic: str) -> st.SearchStrategy[TopicConfig]:
    """Return configurations of *topic*."""
    return st.builds(
        TopicConfig,
        topic=st.just(topic),
        read_queue_count=queue_counts(),
        write_queue_count=queue_counts(),
        permission=permissions(),
        filter_type=st.sampled_from(("SINGLE_TAG", "MULTI_TAG")),
        topic_flags=topic_flags(),
        is_order=st.booleans(),
    )


def key_value_texts() -> st.SearchStrategy[str]:
    """Return texts for keys and values: any characters that UTF-8 can carry."""
    return st.text(
        alphabet=st.characters(codec="utf-8"),
        min_size=1,
        max_size=60,
    )
