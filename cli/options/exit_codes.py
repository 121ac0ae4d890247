"""Exit codes of all commands, and the error of a wrong value."""

from __future__ import annotations

import click

SUCCESS = 0
"""The target conforms, or the input is clean."""
FINDINGS = 1
USAGE = 2
"""Wrong usage, or input that cannot be read."""
NOT_RUN = 3
"""The harness or the target failed to run, or nothing was checked."""
INTERRUPTED = 130
"""Ctrl-C, as shells number it."""


class WrongValueError(click.ClickException):
    """A value of the command line that names nothing: one line, exit code 2."""

    exit_code = USAGE


class InterruptedCommand(click.ClickException):
    """Ctrl-C, with what it leaves: one line, exit code 130."""

    exit_code = INTERRUPTED
