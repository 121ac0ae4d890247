"""
In which order tests run: files that wait for long begin first, patient tests end.

A run may also be shuffled by a number, which it prints, to show that no test leans on
another. Patient tests end that order, too: they look at what began with the run.
"""

from __future__ import annotations

import random

import pytest

from conformance.harness.options import Options


def ordered(items: list[pytest.Item], options: Options) -> list[pytest.Item]:
    """Return *items* in the order in which they are to run."""
    if options.shuffle is None:
        return sorted(items, key=_stage)
    shuffled = list(items)
    # The same order in each worker, and no secret.
    random.Random(options.shuffle).shuffle(shuffled)  # noqa: S311
    return sorted(shuffled, key=lambda item: "patient" in item.keywords)


def _stage(item: pytest.Item) -> int:
    if "patient" in item.keywords:
        return 2
    return 0 if "long" in item.keywords else 1
