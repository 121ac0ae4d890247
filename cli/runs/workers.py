"""Over how many workers a run is spread, and in which order its tests come."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Sequence

import click

ORDERS = ("usual", "random")
JOBS_PER_CORE = 4
"""Most tests wait for the target, or for something that it does after a while."""
JAVA_JOBS_PER_CORE = {"jvm:4.": 3, "jvm:": 2, "docker:": 2}
"""Each may run a broker of its own, and Java works hard at a start, 5.x hardest."""
MOST_JOBS = 8
"""More workers than this only wait for the one target that they share."""
FEW_TESTS = 10
"""The start of the workers takes as long as so many tests."""
SEED_END = 2**31
BY_FILE = ("--dist=loadfile", "--no-loadscope-reorder")
"""A file's tests share a worker, and what they start; files keep their order."""


def jobs_of(
    jobs: int | None,
    names: Iterable[str],
    pytest_args: Sequence[str],
    test_count: int | None = None,
) -> int:
    """Return the number of workers; few tests are faster without any.

    *test_count* is the number of selected tests, None where it is unknown.
    """
    if jobs is not None:
        return jobs
    if test_count is not None and test_count <= FEW_TESTS:
        return 0
    if any(word == "-k" or "::" in word for word in pytest_args):
        return 0
    per_core = min(map(_per_core, names), default=JOBS_PER_CORE)
    return min(MOST_JOBS, per_core * (os.cpu_count() or 1))


def _per_core(name: str) -> int:
    java = (jobs for kind, jobs in JAVA_JOBS_PER_CORE.items() if name.startswith(kind))
    return next(java, JOBS_PER_CORE)


def seed_of(order: str, seed: int | None) -> int | None:
    """Return the seed of a run; a random order without one draws and prints it."""
    if order == "random" and seed is None:
        seed = secrets.randbelow(SEED_END)
    if order == "random":
        click.echo(f"random order; --order random --seed {seed} repeats it")
    return seed


def spread_words(order: str, seed: int | None, jobs: int) -> list[str]:
    """Return pytest's words for the order and the workers."""
    if order == "random":
        return [f"--shuffle={seed}", "-n", str(jobs), "--dist=load"]
    return ["-n", str(jobs), *(BY_FILE if jobs else ())]
