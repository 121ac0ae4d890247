"""The quick profile of Hypothesis has the same cases on every run."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings
from hypothesis.configuration import set_hypothesis_home_dir, storage_directory
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


def test_a_cache_that_cannot_be_written_does_not_end_a_run(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = settings.get_current_profile_name()
    unpatched = providers._get_local_constants
    monkeypatch.setattr(providers, "_get_local_constants", unpatched)
    home = storage_directory(intent_to_write=False).home_directory
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    try:
        load_profile(pytestconfig)
        without_cache = storage_directory(intent_to_write=False).home_directory
        assert without_cache.is_relative_to(os.devnull)
    finally:
        settings.load_profile(profile)
        set_hypothesis_home_dir(home)
