"""Effort and seed of the generated tests of a run."""

from __future__ import annotations

import os

import click

PROFILES = ("quick", "deep")
SEEDED = "seeded"
"""Profile with the effort of quick and the examples of the seed."""
SEEDED_VARIABLES = ("RECOVERY_SEED", "CRASH_SEED")
"""Environment variables with the seed of the crash tests."""


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
