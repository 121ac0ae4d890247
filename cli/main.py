"""
``rmqc``, the one command of the project.

Each subcommand is a module of `cli.commands`, with a click command of the same name.
It is imported only when it is called, so that ``rmqc inspect`` does not wait for Spark,
nor ``rmqc serve`` for pytest.
"""

from __future__ import annotations

import importlib
import os
import signal
from types import FrameType
from typing import Any

import click

from cli.options.exit_codes import (
    InterruptedCommand,
    WrongValueError,
    short_usage_errors,
)
from cli.options.extras import missing_extra
from cli.options.selection import unknown_name

COMMANDS = {
    "admin": "Query name servers and brokers, as mqadmin does.",
    "audit": "Audit store directories with Spark.",
    "bench": "Measure the reference beside a real release, in one run.",
    "client": "Describe a client under test: its adapter.",
    "completion": "Print the script with which a shell completes command lines.",
    "consume": "Read messages with the reference consumer.",
    "dump": "Print the messages of a store or of a commit-log file.",
    "evidence": "Record the behaviour of real releases, or compare with the record.",
    "generate": "Make a store of any size, optionally with planted faults.",
    "inspect": "Explain bytes: a file, an offset in it, hex, a message id, a key.",
    "produce": "Send messages with the reference producer.",
    "recover": "Forecast the effects of a broker's start on a store.",
    "report": "Make pages, tables and badges from the reports of runs.",
    "salvage": "Write a new store of all messages that can still be read.",
    "serve": "Run the reference name server and broker.",
    "site": "Build the site of the specification, results and guides.",
    "spec": "List, search, show and export the clauses of the specification.",
    "target": "Describe and probe a target: your own broker.",
    "test": "Run the conformance suites against a target.",
    "test-client": "Run the suite for clients against a client, through its adapter.",
}
"""Description of each subcommand, for ``rmqc --help``."""
PACKAGES = {
    "cluster": ("admin", "consume", "produce", "serve"),
    "stores": ("audit", "dump", "generate", "inspect", "recover", "salvage"),
    "suites": ("client", "evidence", "report", "spec", "target", "test", "test-client"),
}
"""Packages of `cli.commands`, and their subcommands. Others are beside the packages."""
MODULES = {
    name: f"cli.commands.{package}.{name}"
    for package, names in PACKAGES.items()
    for name in names
} | {"test-client": "cli.commands.suites.client"}
FUNCTIONS = {"test-client": "client_suite"}
"""Function of a command that does not have its name."""


class LazyGroup(click.Group):
    """A group that imports a subcommand on its first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's
        """Return the names of all subcommands."""
        return sorted(COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's
        cmd_name: str,
    ) -> click.Command | None:
        """Return the subcommand *cmd_name*, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(
            MODULES.get(cmd_name, f"cli.commands.{cmd_name}")
        )
        command = getattr(module, FUNCTIONS.get(cmd_name, cmd_name))
        assert isinstance(command, click.Command)
        return command

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Return the context of the options before the subcommand."""
        with short_usage_errors():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> object:
        """Run the subcommand; name the extra that it lacks. Ctrl-C ends it with 130."""
        try:
            with short_usage_errors():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            raise InterruptedCommand("interrupted") from None
        except ModuleNotFoundError as error:
            raise (missing_extra(error) or error) from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the subcommand; suggest the nearest ones for an unknown name."""
        if not args[0].startswith("-") and args[0] not in COMMANDS:
            raise WrongValueError(unknown_name(args[0], COMMANDS, "command"))
        return super().resolve_command(ctx, args)

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the list of subcommands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="rocketmq-conformance", prog_name="rmqc")
def main() -> None:
    """Check, explain and audit implementations and stores of Apache RocketMQ.

    Exit codes: 0 conforms or clean, 1 findings, 2 usage or unreadable input,
    3 no verdict, 130 interrupted. Interrupted, serve and consume end with 0.
    """
    if os.environ.get("NO_COLOR"):
        click.get_current_context().color = False
    # SIGTERM would end Python without a cleanup of its child processes.
    signal.signal(signal.SIGTERM, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """End like Ctrl-C, so that all context managers clean up."""
    raise KeyboardInterrupt


if "_RMQC_COMPLETE" in os.environ:  # registers our completion for bash and fish
    importlib.import_module("cli.commands.completion")
