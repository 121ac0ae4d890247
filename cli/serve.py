"""``rmqc serve``: the reference name server and broker, until told to stop."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command()
@click.option("--namesrv-port", default=9876, show_default=True, help="Name server.")
@click.option("--broker-port", default=10911, show_default=True, help="Broker.")
@click.option(
    "--store",
    default="store",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Directory of the message store; made if there is none.",
)
@click.option(
    "-c",
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="broker.conf of a real broker: Java properties.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Listen here.")
def serve(
    namesrv_port: int, broker_port: int, store: Path, config: Path | None, host: str
) -> None:
    """Serve a name server and a broker that real clients can use.

    Prints one line when both take connections. SIGTERM or Ctrl-C stops them in good
    order.
    """
    # The reference is started only when asked for: other commands do not load it.
    from reference.shell.__main__ import main

    arguments = ["--namesrv-port", str(namesrv_port), "--broker-port", str(broker_port)]
    arguments += ["--store", str(store), "--host", host]
    if config is not None:
        arguments += ["-c", str(config)]
    sys.exit(main(arguments))
