"""
Any workload, cut anywhere, taken on from what the cut left, and cut again.
"""

from __future__ import annotations

import os

from hypothesis import given, note, settings
from hypothesis import strategies as st

from reference.core.store.types import StoreOptions
from reference.tests.crash.images import Images
from reference.tests.crash.oracle import check_image
from reference.tests.crash.power_cut import Disk
from reference.tests.crash.trace import StoreState, Trace
from reference.tests.crash.workloads import (
    OPTIONS,
    POOLED,
    SMALL,
    STEPS,
    Player,
    Step,
)

EXAMPLES = int(os.environ.get("CRASH_EXAMPLES", "25"))
Life = tuple[list[Step], float, int, list[int]]

LIVES = st.tuples(
    st.lists(STEPS, max_size=12),
    st.floats(0, 1),
    st.integers(0, 20),
    st.lists(st.integers(0, 7), max_size=40),
)
"""Steps of one life of a store, when in it the power fails, and what is left then."""


def images_at(trace: Trace, when: float) -> tuple[Images, StoreState, StoreState]:
    """Return the images after a part of *trace*, and the beliefs around that moment."""
    moment = round(when * len(trace.events))
    disk = Disk(trace.image, SMALL)
    for event in trace.events[:moment]:
        disk.follow(event)
    return Images(disk), *trace.states_at(moment)


@given(
    lives=st.lists(LIVES, min_size=1, max_size=3),
    options=st.sampled_from([OPTIONS, POOLED]),
)
@settings(max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES == 25)
def test_a_store_survives_one_cut_after_the_other(
    lives: list[Life], options: StoreOptions
) -> None:
    content: dict[str, bytes] = {}
    before, now_ms = StoreState(), 1_700_000_000_000
    for steps, when, names, choice in lives:
        player = Player(content, before=before, now_ms=now_ms, options=options)
        trace = player.play(steps)
        images, before, after = images_at(trace, when)
        image = images.draw(names, choice)
        note(f"{len(trace.events)} events: {image.description}")
        verdict = check_image(image, before, after, options)
        assert not verdict.faults
        content, now_ms = image.content, player.now_ms + 10_000
        before = StoreState(records=verdict.state.records, flushed=before.flushed)
