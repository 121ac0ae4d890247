"""Workers, order, seed and effort of a run, as words of pytest."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Sequence

import click

from conformance.harness.targets.target import is_client

ORDERS = ("usual", "random")
OTHER_JOBS_PER_CORE = 4
"""Most tests wait for the target, or for something that it does after a while."""
JOBS_PER_CORE = {"embedded:": 6, "jvm:4.": 4, "jvm:": 2, "docker:": 2}
"""Each may run a broker of its own. Ours is ready soon; Java works hard at a start, 5.x
hardest. On two cores a whole run on the reference takes 54 s with twelve workers. One
on 4.6.0 takes 186 s with eight, and 220 s with six.
"""
CLIENT_JOBS = 4
"""Each has an adapter of its own, and one in Java takes some hundred megabytes."""
MOST_JOBS = 12
"""More workers than this only wait for the one target that they share."""
TESTS_PER_WORKER = 40
"""A worker with fewer costs more than it saves.

On two cores, eight workers take 24 s for the 63 tests of the suite wire, none 7 s. Two
take 33 s for the 124 tests of routing, none 45 s.
"""
SEED_END = 2**31
BY_FILE = ("--dist=loadfile", "--no-loadscope-reorder")
"""A file's tests share a worker, and what they start; files keep their order."""
PROFILES = ("quick", "deep")
SEEDED = "seeded"
"""Profile with the effort of quick and the examples of the seed."""
SEEDED_VARIABLES = ("RECOVERY_SEED", "CRASH_SEED")
"""Environment variables with the seed of the crash tests."""


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
    if any("::" in word for word in pytest_args):
        return 0
    most = min(map(_most_jobs, names), default=MOST_JOBS)
    if test_count is not None:
        most = min(most, test_count // TESTS_PER_WORKER)
    return most if most > 1 else 0


def _most_jobs(name: str) -> int:
    """Return the largest useful number of workers for one target."""
    most = CLIENT_JOBS if is_client(name) else MOST_JOBS
    return min(most, _per_core(name) * (os.cpu_count() or 1))


def _per_core(name: str) -> int:
    known = (jobs for kind, jobs in JOBS_PER_CORE.items() if name.startswith(kind))
    return next(known, OTHER_JOBS_PER_CORE)


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


def effort_words(examples: str, seed: int | None) -> list[str]:
    """Return pytest's words for ``--examples`` and ``--seed``.

    *examples* is quick, deep or the number of histories of each stateful machine.
    """
    profile, words = examples, []
    if examples.isdecimal() and int(examples):
        words, profile = [f"--examples={examples}"], "quick"
    elif examples not in PROFILES:
        known = f"{', '.join(PROFILES)} or a number above 0"
        raise click.UsageError(f"--examples: {examples} is not {known}")
    if seed is not None:
        os.environ.update(dict.fromkeys(SEEDED_VARIABLES, str(seed)))
        words.append(f"--hypothesis-seed={seed}")
        profile = SEEDED if profile == "quick" else profile
    return words + ([] if profile == "quick" else [f"--hypothesis-profile={profile}"])
