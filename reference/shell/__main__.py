"""``python -m reference.shell``: a name server and a broker, until told to stop."""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib
import sys
from collections.abc import Callable
from pathlib import Path

from reference.core.broker.options import OptionError
from reference.core.java_properties import read_properties
from reference.core.store.files import FilesError
from reference.shell.clock import hasten
from reference.shell.server import Setup, serve

CANNOT_START = 2
FASTEST = 1000
_COLLECT_AFTER = 50_000


def main(arguments: list[str] | None = None) -> int:
    """Serve; return the exit code."""
    given = _parser().parse_args(arguments)
    settings = {}
    try:
        if given.config is not None:
            settings = read_properties(given.config.read_text())
        setup = Setup(
            host=given.host,
            name_server_port=given.namesrv_port,
            broker_port=given.broker_port,
            store=given.store,
            settings=settings,
        )
        hasten(given.clock_rate)
        # Requests make no cycles; looking for some after every 700 costs a tenth.
        gc.set_threshold(_COLLECT_AFTER, 20, 20)
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(serve(setup))
    except (OptionError, FilesError, OSError, UnicodeDecodeError) as error:
        sys.stderr.write(f"cannot serve: {error}\n")
        return CANNOT_START
    return 0


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return what makes an event loop: the fast one where the system has it."""
    try:
        uvloop = importlib.import_module("uvloop")
    except ImportError:
        return asyncio.new_event_loop
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="reference.shell", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--namesrv-port", type=int, default=9876)
    parser.add_argument("--broker-port", type=int, default=10911)
    parser.add_argument("--store", type=Path, default=Path("store"), help="directory")
    parser.add_argument(
        "-c", dest="config", type=Path, help="broker.conf: Java properties"
    )
    parser.add_argument(
        "--clock-rate",
        type=_rate,
        default=1.0,
        metavar="N",
        help="let time run N times as fast: for tests of what takes minutes",
    )
    return parser


def _rate(text: str) -> float:
    rate = float(text)
    if not 1 <= rate <= FASTEST:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and {FASTEST}")
    return rate


if __name__ == "__main__":
    sys.exit(main())
