"""
Short traces, each about one thing, cut at every moment: all images of the shortest.

``CRASH_IMAGES`` is the number of images drawn at a moment that has more.
``CRASH_SEED`` selects them. ``tox -e crashes`` draws many.
"""

from __future__ import annotations

import os
from itertools import islice

import pytest

from reference.tests.crash.cutting import Cuts
from reference.tests.crash.images import seeded
from reference.tests.crash.oracle import scanned_alike
from reference.tests.crash.short_traces import TAGGED, TRACES
from reference.tests.crash.trace import Trace
from reference.tests.crash.workloads import OPTIONS, SMALL, Player

LIMIT = int(os.environ.get("CRASH_IMAGES", "3"))
SEED = int(os.environ.get("CRASH_SEED", "1"))


SHORT = ("one message", "a record on three pages", "a batch", "a delayed message")
"""Traces of which all images are taken, always."""
ALL = 1000
"""No moment of theirs has more."""


def expect_no_faults(trace: Trace, limit: int = LIMIT) -> int:
    """Cut *trace* everywhere; return on how many images a store was started."""
    cuts = Cuts(trace, SMALL, OPTIONS, limit=limit, random=seeded(SEED))
    faults = list(islice(cuts.faults(), 5))
    assert not faults, f"CRASH_SEED={SEED} CRASH_IMAGES={LIMIT}: " + "\n".join(faults)
    return cuts.started


@pytest.mark.parametrize("name", TRACES)
def test_a_store_survives_every_cut(name: str) -> None:
    trace = Player().play(TRACES[name])
    started = expect_no_faults(trace, ALL if name in SHORT else LIMIT)
    assert started > 20


def test_a_store_survives_a_cut_of_its_recovery() -> None:
    player = Player()
    player.play(TRACES["two queues"])
    image = player.files.image()
    log = "commitlog/" + "0" * 20
    assert scanned_alike(image)
    # The second record lost its middle, so the third, which is whole, must not return.
    torn = bytearray(image[log])
    torn[330:370] = bytes(40)
    again = Player(image | {log: bytes(torn)})
    again.play([("put", 1, 20, TAGGED), ("dispatch",), ("put", 0, 20), ("flush_log",)])
    assert expect_no_faults(again.trace) > 40
