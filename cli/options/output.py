"""Output of a command's result: to standard output, or into a file by ``--out``."""

from __future__ import annotations

from pathlib import Path

import click

from cli.options.common import Decorator, LocalPath
from cli.options.exit_codes import USAGE
from conformance.harness.report.terminal.line_width import wrapped
from spec.printable import printable


class NotWrittenError(click.ClickException):
    """The file cannot be written."""

    exit_code = USAGE


def out_option() -> Decorator:
    """Return ``--out``, the file that a result is written into."""
    return click.option(
        "--out",
        type=LocalPath(dir_okay=False, path_type=Path),
        callback=_in_a_directory,
        help="Write the result into this file.",
    )


def _in_a_directory(
    _: click.Context, __: click.Parameter, out: Path | None
) -> Path | None:
    """Refuse a file without a directory now, and not after the command's work."""
    if out is not None and not out.absolute().parent.is_dir():
        reason = f"{out} cannot be written: there is no directory {out.parent}"
        raise NotWrittenError(reason)
    return out


def echo_line(text: str, *, err: bool = False) -> None:
    """Print a line with texts of a peer, whose control characters are replaced."""
    click.echo(printable(text), err=err)


def write_result(text: str, out: Path | None, *, is_table: bool = False) -> None:
    """Write *text* into *out*, or to standard output without one.

    With *is_table*, lines on standard output fit into the terminal.
    """
    if out is None:
        click.echo(wrapped(text) if is_table else text, nl=False)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        reason = f"{out} cannot be written: {error.strerror}"
        raise NotWrittenError(reason) from error
