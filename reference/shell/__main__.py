"""``python -m reference.shell``: run a name server and a broker until a signal."""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct

from reference.core.broker.acl.accounts import AclFileError
from reference.core.broker.broker_config import BrokerOptions
from reference.core.settings import SettingError, read_properties
from reference.core.store.mapped.files import FilesError
from reference.core.store.recovery.recover import BulkScan
from reference.fast.recovery import RECORDS_FROM, bulk_scan
from reference.shell.clock import speed_up
from reference.shell.faults.catalogue import FaultError, parse_faults
from reference.shell.faults.switch import FaultSwitch
from reference.shell.server import Setup, serve
from reference.shell.settings_files import check_settings, read_settings_text
from reference.shell.storage.file_calls import raise_open_files_limit
from reference.shell.tls import NO_TLS, Tls, TlsError, take_tls

CANNOT_START = 2
RATE_MAX = 1000
_COLLECT_AFTER = 50_000


class ServeOptions(Struct, frozen=True, kw_only=True):
    """Options of a name server and a broker in one process."""

    host: str = "127.0.0.1"
    namesrv_port: int = 9876
    broker_port: int | None = None
    """None for listenPort of the settings, or 10911."""
    store: Path = Path("store")
    config: Path | None = None
    """The file broker.conf."""
    clock_rate: float = 1.0
    is_fast: bool = True
    """Whether large stores are recovered with numpy, where it is installed."""
    fast_from: int = RECORDS_FROM
    faults: Sequence[str] = ()
    """Texts of `parse_faults`; without any, none can be switched on later."""
    fault_seed: int = 0


def main(arguments: list[str] | None = None) -> int:
    """Serve with the options of a command line; return the exit code."""
    return run(ServeOptions(**vars(_parser().parse_args(arguments))))


def run(options: ServeOptions) -> int:
    """Serve until a signal; return the exit code."""
    settings: dict[str, str] = {}
    tls = NO_TLS
    try:
        if options.config is not None:
            settings = read_properties(read_settings_text(options.config))
            tls = Tls.of(take_tls(settings))
            check_settings(options.config, settings, BrokerOptions)
        setup = Setup(
            host=options.host,
            name_server_port=options.namesrv_port,
            broker_port=options.broker_port,
            store=options.store,
            settings=settings,
            settings_file=options.config,
            tls=tls,
            bulk_scan=_bulk_scan(options),
            faults=_faults(options),
        )
        speed_up(options.clock_rate)
        raise_open_files_limit()
        # Requests make no reference cycles; the default threshold costs a tenth.
        gc.set_threshold(_COLLECT_AFTER, 20, 20)
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(serve(setup))
    except (
        AclFileError,
        SettingError,
        FaultError,
        FilesError,
        TlsError,
        OSError,
        UnicodeDecodeError,
    ) as error:
        sys.stderr.write(f"cannot serve: {error}\n")
        return CANNOT_START
    return 0


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return the factory of uvloop where it is installed, or that of asyncio."""
    try:
        uvloop = importlib.import_module("uvloop")
    except ImportError:
        return asyncio.new_event_loop
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def _bulk_scan(options: ServeOptions) -> BulkScan | None:
    """Return the scan for large stores, unless it is off or numpy is absent."""
    if not options.is_fast or importlib.util.find_spec("numpy") is None:
        return None
    return partial(bulk_scan, records_from=options.fast_from)


def _faults(options: ServeOptions) -> FaultSwitch | None:
    """Return the active faults; None where they cannot be switched on."""
    if not options.faults:
        return None
    return FaultSwitch(parse_faults(options.faults), seed=options.fault_seed)


def _parser() -> argparse.ArgumentParser:
    """Return a parser whose values are `ServeOptions`; absent ones have no default."""
    parser = argparse.ArgumentParser(
        prog="reference.shell",
        description=__doc__,
        argument_default=argparse.SUPPRESS,
    )
    parser.add_argument("--host", help="address to listen on, 127.0.0.1 by default")
    parser.add_argument("--namesrv-port", type=int, help="9876 by default")
    parser.add_argument(
        "--broker-port", type=int, help="listenPort of the file, or 10911, by default"
    )
    parser.add_argument("--store", type=Path, help="directory")
    parser.add_argument(
        "-c", dest="config", type=Path, help="broker.conf: Java properties"
    )
    parser.add_argument(
        "--clock-rate",
        type=_rate,
        metavar="N",
        help="run the clock N times as fast, for tests of events minutes apart",
    )
    parser.add_argument(
        "--no-fast",
        dest="is_fast",
        action="store_false",
        help="recover without numpy (reference.fast)",
    )
    parser.add_argument(
        "--fast-from",
        type=int,
        metavar="N",
        help="use numpy after N records: for tests",
    )
    parser.add_argument(
        "--fault",
        dest="faults",
        action="append",
        metavar="NAME[:SHARE%]",
        help="misbehave towards clients (reference.shell.faults)",
    )
    parser.add_argument("--fault-seed", type=int, metavar="N")
    return parser


def _rate(text: str) -> float:
    rate = float(text)
    if not 1 <= rate <= RATE_MAX:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and {RATE_MAX}")
    return rate


if __name__ == "__main__":
    sys.exit(main())
