"""Effort of the property tests here: few examples, the same in every run."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("quick", max_examples=60, derandomize=True, deadline=None)
settings.register_profile("deep", max_examples=3000, deadline=None, print_blob=True)
if settings.get_current_profile_name() == "default":
    settings.load_profile("quick")
