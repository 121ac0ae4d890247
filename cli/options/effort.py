"""How hard a run tries, and which of the possible inputs it tries."""

from __future__ import annotations

import os

import click

PROFILES = ("quick", "deep")
SEEDED = "seeded"
"""As many as quick, chosen by the seed."""
SEEDED_VARIABLES = ("RECOVERY_SEED", "CRASH_SEED")
"""Where the crash tests look for the seed of their moments and images."""


def effort_words(examples: str, seed: int | None) -> list[str]:
    """Return pytest's words for ``--examples`` and ``--seed``.

    *examples* is quick, deep or how many histories each stateful machine tries.
    """
    profile, words = examples, []
    if examples.isdecimal() and int(examples):
        words, profile = [f"--examples={examples}"], "quick"
    elif examples not in PROFILES:
        wanted = f"{', '.join(PROFILES)} or a number above 0"
        raise click.UsageError(f"--examples: {examples} is none of {wanted}")
    if seed is not None:
        os.environ.update(dict.fromkeys(SEEDED_VARIABLES, str(seed)))
        words.append(f"--hypothesis-seed={seed}")
        profile = SEEDED if profile == "quick" else profile
    return words + ([] if profile == "quick" else [f"--hypothesis-profile={profile}"])
