"""
How hard Hypothesis tries. ``HYPOTHESIS_PROFILE`` or ``--hypothesis-profile`` chooses.

*quick* is the same on every run; *deep* looks for new cases and prints how to repeat
them; *glance* only wants to know whether a test fails, and does not shrink.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import Phase, settings

settings.register_profile(
    "quick", derandomize=True, max_examples=50, deadline=None, database=None
)
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
    if not config.getoption("--hypothesis-profile", None):
        settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
