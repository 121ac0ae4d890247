"""
Profiles of Hypothesis. ``HYPOTHESIS_PROFILE`` or ``--hypothesis-profile`` selects.

The profile *quick* has the same cases on every run. Those of *seeded* depend on
``--hypothesis-seed``. The profile *deep* searches new cases and prints how to repeat
them. The profile *glance* only detects whether a test fails, and does not shrink.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import Phase, settings
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.internal.conjecture import engine, providers

from java_runtime.user_cache import cache_path

SHRINKING_S = 15
"""Limit in seconds of shrinking in the quick profile: each attempt queries a peer,
which may take long to respond. Hypothesis itself has five minutes and no setting for
it."""

settings.register_profile(
    "quick", derandomize=True, max_examples=50, deadline=None, database=None
)
settings.register_profile("seeded", max_examples=50, deadline=None, database=None)
settings.register_profile("deep", max_examples=2000, deadline=None, print_blob=True)
settings.register_profile(
    "glance",
    derandomize=True,
    max_examples=50,
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    report_multiple_bugs=False,
)


def load_profile(config: pytest.Config) -> None:
    """Load the profile of this run, unless Hypothesis' own option has chosen one."""
    # Never the working directory: it belongs to the user.
    set_hypothesis_home_dir(cache_path() / "hypothesis")
    name = config.getoption("--hypothesis-profile", None)
    if not name:
        name = os.environ.get("HYPOTHESIS_PROFILE", "quick")
        settings.load_profile(name)
    if name == "quick":
        engine.MAX_SHRINKING_SECONDS = SHRINKING_S
    if name in {"quick", "glance"}:
        _ignore_constants_of_sources()


def _ignore_constants_of_sources() -> None:
    """Do not draw constants that occur in the source of imported modules.

    Hypothesis has no setting for it. The cases would change with each module, and each
    worker would parse all modules in a first run.
    """
    empty = providers._local_constants
    providers._get_local_constants = lambda: empty
