"""Loads the suite's plugin: options, markers, fixtures, outcomes and the report."""

from __future__ import annotations

import pytest

PLUGIN = "conformance.harness.pytest_plugin.plugin"


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Load the plugin before options are read; ``rmqc test`` has loaded it already."""
    if not pluginmanager.has_plugin(PLUGIN):
        pluginmanager.import_plugin(PLUGIN)
