"""``rmqc serve``: the reference name server and broker, until a signal stops them."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click.core import ParameterSource


@click.command()
@click.option(
    "--namesrv-port", default=9876, show_default=True, help="Port of the name server."
)
@click.option(
    "--broker-port", default=10911, show_default=True, help="Port of the broker."
)
@click.option(
    "--store",
    default="store",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Directory of the message store; created if it is missing.",
)
@click.option(
    "-c",
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
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
@click.pass_context
def serve(
    ctx: click.Context,
    *,
    namesrv_port: int,
    broker_port: int,
    store: Path,
    config: Path | None,
    host: str,
    only: str | None,
    no_fast: bool,
    print_settings: bool,
) -> None:
    """Serve a name server and a broker that real clients can use.

    Prints one line when both accept connections. SIGTERM or Ctrl-C stops them cleanly.
    """
    arguments = ["--host", host]
    if config is not None:
        arguments += ["-c", str(config)]
    # Imported here, so that other commands do not load the reference.
    if only:
        from reference.shell.name_server import main

        arguments += ["--home", str(store / "namesrv")]
        arguments += ["-p"] if print_settings else []
        if ctx.get_parameter_source("namesrv_port") is not ParameterSource.DEFAULT:
            arguments += ["--port", str(namesrv_port)]
    else:
        from reference.shell.__main__ import main

        if print_settings:
            raise click.UsageError("-p is for --only namesrv")
        arguments += ["--namesrv-port", str(namesrv_port), "--store", str(store)]
        arguments += ["--broker-port", str(broker_port)]
        arguments += ["--no-fast"] if no_fast else []
    sys.exit(main(arguments))
