"""Generated conditions over the properties a and b, numbers, and s, a text."""

from __future__ import annotations

from hypothesis import strategies as st

from conformance.models.conditions import (
    SIGNS,
    Absent,
    Among,
    Between,
    Compared,
    Condition,
    Joined,
    Opposite,
    Same,
)

TEXTS = ("x", "it's", "中", "")


def conditions() -> st.SearchStrategy[Condition]:
    """Conditions of any form, some levels deep."""
    return st.recursive(_simple(), _joined, max_leaves=6)


def _simple() -> st.SearchStrategy[Condition]:
    numbers, texts = st.sampled_from("ab"), st.sampled_from(TEXTS)
    values = st.one_of(st.integers(0, 8), st.sampled_from([0.5, 6.5, 7.0, 2**31]))
    bounds = st.tuples(st.integers(0, 8), st.integers(0, 8)).map(sorted)
    return st.one_of(
        st.builds(
            Compared, numbers, st.sampled_from(sorted(SIGNS)), values, st.booleans()
        ),
        st.builds(
            lambda name, ends, negated: Between(name, ends[0], ends[1], negated),
            numbers,
            bounds,
            st.booleans(),
        ),
        st.builds(
            Among,
            st.just("s"),
            st.lists(texts, min_size=1, max_size=6).map(tuple),
            st.booleans(),
        ),
        st.builds(Same, st.just("s"), texts, st.booleans()),
        st.builds(Absent, st.sampled_from("abs"), st.booleans()),
    )


def _joined(parts: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    return st.one_of(
        st.builds(Opposite, parts),
        st.builds(Joined, st.sampled_from(["AND", "OR"]), parts, parts),
    )
