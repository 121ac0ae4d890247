"""
A name server with its files; ``python -m reference.shell.name_server`` runs one alone.

The key-value configuration is written to `kvConfigPath` and read again at the next
start. Changed settings are written to `configStorePath`; as in 4.6.0, only a name
server started with ``-c`` on that file reads them again.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from reference.core.name_server.config import NameServerConfig
from reference.core.name_server.kv_config import decode_kv_config
from reference.core.name_server.server import NameServer
from reference.core.settings import SettingError, read_properties, write_properties
from reference.core.store.mapped.files import FilesError
from reference.shell.clock import now_ms
from reference.shell.listeners import free_port
from reference.shell.loop_host import stop_signal
from reference.shell.remoting_host import RemotingHost
from reference.shell.settings_files import check_settings, read_settings_text
from reference.shell.storage.file_calls import read_text, replace_text
from reference.shell.tls import Tls, TlsError, take_tls

CANNOT_START = 2


def name_server_config(
    home: Path,
    *,
    port: int | None = None,
    file: Path | None = None,
    file_settings: Mapping[str, str] = MappingProxyType({}),
) -> NameServerConfig:
    """Return the settings of *file*, and defaults for all others.

    Changed settings are written to *file*. The *port* replaces `listenPort`.
    """
    home = home.resolve()
    settings = {
        "rocketmqHome": str(home),
        "kvConfigPath": str(home / "kvConfig.json"),
        "configStorePath": str(home / "namesrv.properties"),
        **file_settings,
    }
    if file is not None:  # [ROUTE-CONFIG-008]
        settings["configStorePath"] = str(file.resolve())
    if port is not None:
        settings["listenPort"] = str(port)
    return NameServerConfig(settings)


def new_name_server(config: NameServerConfig) -> NameServer:
    """Return a name server with its files."""
    path = Path(config.kv_config_path)
    try:
        namespaces = decode_kv_config(read_text(path) or "")
    except ValueError as error:
        raise FilesError(f"{path} is broken ({error}); no .bak is read") from error
    return NameServer(
        config, namespaces, lambda path, text: replace_text(Path(path), text)
    )


class NameServerOptions(Struct, frozen=True, kw_only=True):
    """Options of a name server in a process of its own."""

    host: str = "127.0.0.1"
    port: int | None = None
    """None for `listenPort` of the settings, 0 for a free one."""
    home: Path = Path("namesrv")
    config: Path | None = None
    """The file namesrv.properties."""
    print_settings: bool = False
    """Whether to print the settings and end."""


async def serve(server: NameServer, options: NameServerOptions, tls: Tls) -> None:
    """Serve until a signal."""
    stopping = stop_signal()
    host = RemotingHost(server, tls=tls)
    port = server.config.listen_port
    try:
        await host.listen(options.host, port)
        server.start(now_ms())
        host.perform(server.take_effects())
        sys.stdout.write(f"ready namesrv={options.host}:{port} home={options.home}\n")
        sys.stdout.flush()
        await stopping.wait()
    finally:
        await host.stop()


def main(arguments: list[str] | None = None) -> int:
    """Serve with the options of a command line; return the exit code."""
    return run(NameServerOptions(**vars(_parser().parse_args(arguments))))


def run(options: NameServerOptions) -> int:
    """Serve, or print the settings; return the exit code."""
    file = options.config
    try:
        text = read_settings_text(file) if file is not None else ""
        settings = dict(read_properties(text))
        tls = Tls.of(take_tls(settings))
        port = free_port(options.host) if options.port == 0 else options.port
        if file is not None:
            check_settings(file, settings, NameServerConfig)
        config = name_server_config(
            options.home, port=port, file=file, file_settings=settings
        )
        if options.print_settings:
            sys.stdout.write(write_properties(config.texts()))
            return 0
        asyncio.run(serve(new_name_server(config), options, tls))
    except (SettingError, FilesError, TlsError, OSError, UnicodeDecodeError) as error:
        sys.stderr.write(f"cannot serve: {error}\n")
        return CANNOT_START
    return 0


def _parser() -> argparse.ArgumentParser:
    """Return a parser whose values are `NameServerOptions`, without defaults."""
    parser = argparse.ArgumentParser(
        prog="reference.shell.name_server", argument_default=argparse.SUPPRESS
    )
    parser.add_argument("--host", help="address to listen on, 127.0.0.1 by default")
    parser.add_argument("--port", type=int, help="instead of the settings' listenPort")
    parser.add_argument("--home", type=Path, help="directory, namesrv by default")
    parser.add_argument(
        "-c", dest="config", type=Path, help="namesrv.properties: Java properties"
    )
    parser.add_argument(
        "-p", dest="print_settings", action="store_true", help="print the settings"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
