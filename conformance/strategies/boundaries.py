"""
Values at which implementations go wrong: sizes around powers of two, the ends of
Java's integers, characters of every width. Plain random values almost never hit them.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from spec.integers import INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN

OVER_THE_WIRE = settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
"""For properties that send requests: few examples, all on the test's one connection."""
ON_A_TOPIC_EACH = settings(OVER_THE_WIRE, max_examples=8)
"""For properties whose examples each make a topic and wait for its queues."""


def near(*boundaries: int) -> st.SearchStrategy[int]:
    """Sizes around each boundary, smallest first so that shrinking is kind."""
    around = {boundary + step for boundary in boundaries for step in (-1, 0, 1)}
    return st.sampled_from(sorted({0, 1} | {size for size in around if size >= 0}))


def int32s() -> st.SearchStrategy[int]:
    """Java's ints, their ends and sign changes first."""
    planted = (0, 1, -1, 127, 128, 255, 256, 65535, 65536, INT32_MAX, INT32_MIN)
    return st.one_of(st.sampled_from(planted), st.integers(INT32_MIN, INT32_MAX))


def int64s() -> st.SearchStrategy[int]:
    """Java's longs, their ends and those of ints first."""
    planted = (0, 1, -1, INT32_MAX, INT32_MAX + 1, INT32_MIN - 1, INT64_MAX, INT64_MIN)
    return st.one_of(st.sampled_from(planted), st.integers(INT64_MIN, INT64_MAX))


def texts(*, max_size: int = 40, without: str = "") -> st.SearchStrategy[str]:
    """Texts in one-, two-, three- and four-byte characters, none of *without*."""
    planted = [
        text
        for text in (
            "a",
            "é",
            "中文",
            "😀",
            "a b",
            '"quoted"',
            "back\\slash",
            "\t",
            "ÿ",
        )
        if not set(text) & set(without)
    ]
    anything = st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\x00" + without),
        min_size=1,
        max_size=max_size,
    )
    return st.one_of(st.sampled_from(planted), anything)
