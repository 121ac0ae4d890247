"""Paths of tests in the output of pytest: those of the suites, from any directory."""

from __future__ import annotations

import pytest


class SuitePaths:
    """A pytest plugin: names of tests begin with the suites' folder, conformance.

    Pytest shows them from the working directory. For an installed command these are
    long paths into its environment, which no command takes.
    """

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Let the terminal show paths from the root directory."""
        vars(config)["cwd_relative_nodeid"] = str
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.startpath = config.rootpath
