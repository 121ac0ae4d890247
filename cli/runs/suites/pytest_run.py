"""One run of pytest with the suites, against one target."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import click
import pytest

from cli.options.exit_codes import (
    FINDINGS,
    NOT_RUN,
    SUCCESS,
    USAGE,
    InterruptedCommand,
    WrongValueError,
)
from cli.options.selection import unknown_name
from cli.runs.suites.run_end import RunEnd
from cli.runs.suites.run_progress import run_progress
from conformance.harness.process.workspace import sweep
from conformance.harness.targets.started.embedded import SOURCES

PLUGINS = (
    "conformance.harness.pytest_plugin.plugin",
    "xdist.plugin",
    "_hypothesis_pytestplugin",
)
"""All plugins of a run, but for those that the user names with ``-p``."""
NO_AUTOLOAD = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"
"""Variable of pytest. Plugins that happen to be installed could change a verdict.

Also, pytest rewrites all modules of each: 5 s of processor time in a first run.
"""
INSTALLED = SOURCES / "conformance" / "harness" / "installed.toml"

EXIT_CODES = {
    pytest.ExitCode.OK: SUCCESS,
    pytest.ExitCode.TESTS_FAILED: FINDINGS,
    pytest.ExitCode.INTERRUPTED: NOT_RUN,
    pytest.ExitCode.INTERNAL_ERROR: NOT_RUN,
    pytest.ExitCode.USAGE_ERROR: USAGE,
    pytest.ExitCode.NO_TESTS_COLLECTED: NOT_RUN,
}
_PYTEST_MESSAGE = "unrecognized arguments: "


def run_pytest(name: str, words: list[str], reports: list[str]) -> int:
    """Run pytest once, against *name*, and return our exit code."""
    fixed = [word for plugin in PLUGINS for word in ("-p", plugin)]
    fixed += [f"--rootdir={SOURCES}", "--import-mode=importlib", "-q"]
    fixed += [f"--config-file={_settings()}", f"--confcutdir={SOURCES}"]
    # Each failure has its name and its command: no list of names at the end.
    fixed += ["-rN", "-p", "no:cacheprovider", "--by-cause", "--require-target"]
    fixed += [f"--target={name}"]
    # A target's modules may be imported before pytest could rewrite their assertions.
    fixed += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    end = RunEnd()
    with run_progress() as progress, pytest.MonkeyPatch.context() as environment:
        environment.setenv(NO_AUTOLOAD, "1")  # also for the workers
        plugins = [UnknownOptions(), SuitePaths(), end, progress]
        code = pytest.main([*fixed, *reports, *words], plugins=plugins)
    if end.is_interrupted:
        sweep()  # a worker amid a long test was killed
        raise InterruptedCommand(f"interrupted {end.progress()}")
    if end.error:
        click.echo(f"Error: {end.error}", err=True)
        return NOT_RUN
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:
        click.echo("checked nothing: no test has been selected", err=True)
    return EXIT_CODES.get(pytest.ExitCode(code), NOT_RUN)


def _settings() -> Path:
    """Return the file of pytest's settings: never that of a project around us."""
    is_checkout = (SOURCES / "fixtures" / "MANIFEST.toml").exists()
    return SOURCES / "pyproject.toml" if is_checkout else INSTALLED


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


class UnknownOptions:
    """A pytest plugin that replaces pytest's own usage by an error of the command."""

    @pytest.hookimpl(wrapper=True)
    def pytest_cmdline_parse(self) -> Generator[None, pytest.Config, pytest.Config]:
        """Raise WrongValueError for an unknown option."""
        try:
            return (yield)
        except pytest.UsageError as error:
            _, found, unknown = str(error).partition(_PYTEST_MESSAGE)
            if not found:
                raise
            name = unknown.split()[0].partition("=")[0]
            reason = unknown_name(name, _own_options(), "option")
            raise WrongValueError(reason) from None


def _own_options() -> list[str]:
    """Return the options of the command, and of the one that invoked it."""
    found = []
    context: click.Context | None = click.get_current_context()
    while context is not None:
        found += [one for option in context.command.params for one in option.opts]
        context = context.parent
    return found
