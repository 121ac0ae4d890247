"""The quick profile of Hypothesis has the same cases on every run."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from conformance.harness.pytest_plugin.hypothesis_profiles import load_profile


def test_constants_in_sources_do_not_change_the_cases(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Both are put back at the end: the session may have another profile.
    profile = settings.get_current_profile_name()
    unpatched = providers._get_local_constants
    monkeypatch.setattr(providers, "_get_local_constants", unpatched)
    monkeypatch.setenv("HYPOTHESIS_PROFILE", "quick")
    try:
        load_profile(pytestconfig)
        # This module is imported and has constants.
        assert len(providers._get_local_constants()) == 0
    finally:
        settings.load_profile(profile)
