"""
Order of tests.

Files marked `long` run first. Tests marked `patient` run last: they check observations
that started with the run. Behind them are only tests marked `heavy`: they load the
target so much that others may wait for its responses. ``--shuffle`` orders the rest by
a seed, which is printed, to show that tests are independent of each other.
"""

from __future__ import annotations

import random

import pytest

from conformance.harness.pytest_plugin.options import Options


def order_items(items: list[pytest.Item], options: Options) -> list[pytest.Item]:
    """Return *items* in the order in which they are to run."""
    if options.shuffle is None:
        return sorted(items, key=_stage)
    shuffled = list(items)
    # The same order in each worker, and no secret.
    random.Random(options.shuffle).shuffle(shuffled)  # noqa: S311
    return sorted(shuffled, key=lambda item: max(_stage(item), 1))


def _stage(item: pytest.Item) -> int:
    stages = {"heavy": 3, "patient": 2, "long": 0}
    return next((n for mark, n in stages.items() if mark in item.keywords), 1)
