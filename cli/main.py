"""
``rmqc``, the one command of the project.

Each subcommand is a click command in a module of `cli.commands`. The module is imported
only when the subcommand is called, so that ``rmqc inspect`` does not wait for Spark,
nor ``rmqc serve`` for pytest.
"""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import suppress
from errno import EDQUOT, EFBIG, ENOSPC, EPIPE
from typing import Any, NamedTuple

import click

from cli.options.exit_codes import (
    CLOSED_PIPE,
    USAGE,
    InterruptedCommand,
    WrongValueError,
    fail,
    short_usage_errors,
)
from cli.options.extras import missing_extra
from cli.options.selection import unknown_name
from spec.printable import printable


def _discard_output() -> None:
    """Discard what is left of the output, which Python would write at the exit."""
    with suppress(OSError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


class Subcommand(NamedTuple):
    """A subcommand that is imported only when it is called."""

    place: str
    """Its module in `cli.commands`, a colon, and its function."""
    help: str
    """Its description, for ``rmqc --help``."""

    def load(self) -> click.Command:
        """Return the subcommand, imported now."""
        module, _, function = self.place.partition(":")
        command = getattr(importlib.import_module(f"cli.commands.{module}"), function)
        assert isinstance(command, click.Command)
        return command


COMMANDS = {
    "admin": Subcommand(
        "cluster.admin:admin", "Query name servers and brokers, as mqadmin does."
    ),
    "audit": Subcommand("stores.audit:audit", "Audit store directories with Spark."),
    "bench": Subcommand(
        "bench:bench", "Measure the reference beside a real release, in one run."
    ),
    "client": Subcommand(
        "suites.client:client", "Describe a client under test: its adapter."
    ),
    "completion": Subcommand(
        "completion:completion",
        "Print the script with which a shell completes command lines.",
    ),
    "consume": Subcommand(
        "cluster.consume:consume", "Read messages with the reference consumer."
    ),
    "dump": Subcommand(
        "stores.dump:dump", "Print the messages of a store or of a commit-log file."
    ),
    "evidence": Subcommand(
        "suites.evidence:evidence",
        "Record the behaviour of real releases, or compare with the record.",
    ),
    "generate": Subcommand(
        "stores.generate:generate",
        "Make a store of any size, optionally with planted faults.",
    ),
    "inspect": Subcommand(
        "stores.inspect:inspect",
        "Explain bytes: a file, an offset in it, hex, a message id, a key.",
    ),
    "produce": Subcommand(
        "cluster.produce:produce", "Send messages with the reference producer."
    ),
    "recover": Subcommand(
        "stores.recover:recover", "Forecast the effects of a broker's start on a store."
    ),
    "report": Subcommand(
        "suites.report:report",
        "Make pages, tables and badges from the reports of runs.",
    ),
    "salvage": Subcommand(
        "stores.salvage:salvage",
        "Write a new store of all messages that can still be read.",
    ),
    "serve": Subcommand(
        "cluster.serve:serve", "Run the reference name server and broker."
    ),
    "site": Subcommand(
        "site:site", "Build the site of the specification, results and guides."
    ),
    "spec": Subcommand(
        "suites.spec:spec",
        "List, search, show and export the clauses of the specification.",
    ),
    "target": Subcommand(
        "suites.target:target", "Describe and probe a target: your own broker."
    ),
    "test": Subcommand(
        "suites.test:test", "Run the conformance suites against a target."
    ),
    "test-client": Subcommand(
        "suites.client:client_suite",
        "Run the suite for clients against a client, through its adapter.",
    ),
}


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
        return COMMANDS[cmd_name].load() if cmd_name in COMMANDS else None

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Return the context of the options before the subcommand."""
        with short_usage_errors():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> object:
        """Run the subcommand; name the extra that it lacks. Ctrl-C ends it with 130.

        A full disk or file ends it with one line, and a closed pipe without a line.
        """
        try:
            try:
                with short_usage_errors():
                    return super().invoke(ctx)
            finally:
                sys.stdout.flush()  # now: an error at the exit has no handler
        except click.ClickException as error:
            lines = error.message.split("\n")
            error.message = "\n".join(map(printable, lines))  # type: ignore[misc]
            raise
        except KeyboardInterrupt as error:
            import traceback  # now, because it takes 2 ms of each command's start

            # Python before 3.11.8 can crash at the exit if frames hold memory views.
            traceback.clear_frames(error.__traceback__)
            raise InterruptedCommand("interrupted") from None
        except OSError as error:
            if error.errno not in (ENOSPC, EDQUOT, EFBIG, EPIPE):
                raise
            _discard_output()
            if error.errno == EPIPE:
                sys.exit(CLOSED_PIPE)
            output = error.filename or "the output"
            fail(f"{output} cannot be written: {error.strerror}", code=USAGE)
        except MemoryError:  # as an uncaught error it would end with 1, findings
            fail("not enough memory")
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
            formatter.write_dl(
                [(name, COMMANDS[name].help) for name in sorted(COMMANDS)]
            )


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="rocketmq-conformance", prog_name="rmqc")
def main() -> None:
    """Check, explain and audit implementations and stores of Apache RocketMQ.

    Exit codes: 0 conforms or clean, 1 findings, 2 usage or unreadable input,
    3 no verdict, 130 interrupted. Interrupted, serve and consume end with 0.
    """
    if os.environ.get("NO_COLOR"):
        click.get_current_context().color = False


if "_RMQC_COMPLETE" in os.environ:  # registers our completion for bash and fish
    importlib.import_module("cli.commands.completion")
