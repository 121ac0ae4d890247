"""``rmqc serve``: the reference name server and broker, until a signal stops them."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click.core import ParameterSource

from cli.options.common import LocalPath
from reference.shell.faults.catalogue import FAULTS, FaultError, parse_faults


def _check_faults(
    _ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the faults as given."""
    try:
        if texts:
            parse_faults(texts)
    except FaultError as error:
        raise click.UsageError(f"--fault: {error}") from None
    return texts


class _CommandWithFaults(click.Command):
    """The command, whose help ends with the catalogue of faults."""

    def format_epilog(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the faults, wrapped as the options are."""
        with formatter.section("Faults"):
            formatter.write_dl(sorted(FAULTS.items()))


@click.command(cls=_CommandWithFaults)
@click.option(
    "--namesrv-port",
    default=9876,
    show_default=True,
    help="Port of the name server; 0 takes a free one, which the first line names.",
)
@click.option(
    "--broker-port",
    type=int,
    help="Port of the broker; also opens this port - 2 (VIP), and port + 1 for"
    " slaves. 0 takes free ones.  [default: listenPort of the file, or 10911]",
)
@click.option(
    "--store",
    default="store",
    show_default=True,
    type=LocalPath(file_okay=False, path_type=Path),
    help="Directory of the message store; created if it is missing.",
)
@click.option(
    "-c",
    "--config",
    type=LocalPath(exists=True, dir_okay=False, path_type=Path),
    help="Java properties: broker.conf, or namesrv.properties with --only namesrv.",
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on."
)
@click.option(
    "--only",
    type=click.Choice(["namesrv"]),
    help="Name server without a broker; its files are in STORE/namesrv.",
)
@click.option("--no-fast", is_flag=True, help="Recover large stores without numpy.")
@click.option(
    "-p",
    "--print-settings",
    is_flag=True,
    help="With --only namesrv: print the settings and exit.",
)
@click.option(
    "--fault",
    multiple=True,
    metavar="NAME[:SHARE%]",
    callback=_check_faults,
    help="Misbehave towards clients, as in busy:10%, slow:2s or wrong-opaque. With"
    " none, faults can only be switched on later.",
)
@click.option(
    "--fault-seed", default=0, show_default=True, help="Seed of the shares of faults."
)
@click.pass_context
def serve(
    ctx: click.Context,
    *,
    namesrv_port: int,
    broker_port: int | None,
    store: Path,
    config: Path | None,
    host: str,
    only: str | None,
    no_fast: bool,
    print_settings: bool,
    fault: tuple[str, ...],
    fault_seed: int,
) -> None:
    """Serve a name server and a broker that real clients can use.

    Prints one line with all addresses when they accept connections. SIGTERM or Ctrl-C
    stops them cleanly. With --fault they misbehave; docs/faults.md has the faults.
    """
    # Imported here, so that a name server alone does not load the broker.
    if only:
        from reference.shell import name_server

        if fault:
            raise click.UsageError("--fault is for a broker and its name server")
        is_default = ctx.get_parameter_source("namesrv_port") is ParameterSource.DEFAULT
        options = name_server.NameServerOptions(
            host=host,
            port=None if is_default else namesrv_port,
            home=store / "namesrv",
            config=config,
            print_settings=print_settings,
        )
        sys.exit(name_server.run(options))
    from reference.shell import __main__ as servers

    if print_settings:
        raise click.UsageError("-p is for --only namesrv")
    sys.exit(
        servers.run(
            servers.ServeOptions(
                host=host,
                namesrv_port=namesrv_port,
                broker_port=broker_port,
                store=store,
                config=config,
                is_fast=not no_fast,
                faults=fault,
                fault_seed=fault_seed,
            )
        )
    )
