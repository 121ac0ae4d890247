"""Exit codes of all commands, and the errors that end them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn

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
CLOSED_PIPE = 141
"""The reader of the output has ended, as ``head`` does: SIGPIPE, as shells number it.
"""


class FailedCommand(click.ClickException):
    """The end of a command with one line and an exit code."""

    def __init__(self, reason: str, code: int) -> None:
        super().__init__(reason)
        self.exit_code = code  # type: ignore[misc] # click reads it of the instance


def fail(reason: object, *, code: int = NOT_RUN) -> NoReturn:
    """End the command with *reason* in one line."""
    raise FailedCommand(str(reason), code) from None


class WrongValueError(click.ClickException):
    """A value of the command line that names nothing: one line, exit code 2."""

    exit_code = USAGE


class ShortUsageError(click.UsageError):
    """An error of usage in two lines: the reason, and the command that helps."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print both lines."""
        lines = [f"Error: {self.format_message()}"]
        if self.ctx is not None:
            lines.append(f"Try '{self.ctx.command_path} --help' for help.")
        click.echo("\n".join(lines), file=file, err=file is None)


@contextmanager
def short_usage_errors() -> Iterator[None]:
    """Print errors of usage without the line of usage, so that two lines remain."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise  # its text is the help
    except click.UsageError as error:
        raise ShortUsageError(error.format_message(), error.ctx) from None


def reason_of(error: OSError, source: Path) -> str:
    """Return *error* in one line; a file in *source* is one that cannot be read."""
    reason = error.strerror or str(error)
    if error.filename is None:
        return reason
    is_read = Path(error.filename).absolute().is_relative_to(source.absolute())
    return f"{error.filename}{' cannot be read' if is_read else ''}: {reason}"


class InterruptedCommand(click.ClickException):
    """Ctrl-C, with what it leaves: one line, exit code 130."""

    exit_code = INTERRUPTED
