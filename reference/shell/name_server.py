"""
A name server with its files; ``python -m reference.shell.name_server`` runs one alone.

The key-value configuration is written to `kvConfigPath` and read again at the next
start. Changed settings are written to `configStorePath`; as in 4.6.0, only a name
server started with ``-c`` on that file reads them again.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from reference.core.name_server.config import NameServerConfig
from reference.core.name_server.kv_config import Namespaces, decode_kv_config
from reference.core.name_server.server import NameServer
from reference.core.settings import SettingError, read_properties, write_properties
from reference.core.store.mapped.files import FilesError
from reference.shell.clock import now_ms
from reference.shell.listeners import free_port
from reference.shell.remoting_host import RemotingHost
from reference.shell.settings_files import check_settings, read_settings_text
from reference.shell.storage.text_files import read_text, replace_text
from reference.shell.tls import NO_TLS, Tls, TlsError, take_tls

CANNOT_START = 2


class NameServerSetup(Struct, frozen=True, kw_only=True):
    """Address, files and settings of a name server."""

    host: str
    home: Path
    port: int | None = None
    """None for `listenPort` of the settings."""
    config: Path | None = None
    """The file of its settings, to which changes are written."""
    file_settings: Mapping[str, str] = field(default_factory=dict)
    """The content of that file, without the settings of TLS."""
    tls: Tls = NO_TLS

    def name_server_config(self) -> NameServerConfig:
        """Return all settings, with defaults for those that the file does not set."""
        home = self.home.resolve()
        settings = {
            "rocketmqHome": str(home),
            "kvConfigPath": str(home / "kvConfig.json"),
            "configStorePath": str(home / "namesrv.properties"),
            **self.file_settings,
        }
        if self.config is not None:  # [ROUTE-CONFIG-008]
            settings["configStorePath"] = str(self.config.resolve())
        if self.port is not None:
            settings["listenPort"] = str(self.port)
        return NameServerConfig(settings)


def new_name_server(setup: NameServerSetup) -> NameServer:
    """Return a name server with its files."""
    config = setup.name_server_config()
    namespaces = _load_kv_config(Path(config.kv_config_path))
    return NameServer(
        config, namespaces, lambda path, text: replace_text(Path(path), text)
    )


def _load_kv_config(path: Path) -> Namespaces:
    try:
        return decode_kv_config(read_text(path) or "")
    except ValueError as error:
        raise FilesError(f"{path} is broken ({error}); no .bak is read") from error


async def serve(setup: NameServerSetup) -> None:
    """Serve until SIGTERM or SIGINT."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    server = new_name_server(setup)
    host = RemotingHost(server, tls=setup.tls)
    port = server.config.listen_port
    try:
        await host.listen(setup.host, port)
        server.start(now_ms())
        host.perform(server.take_effects())
        sys.stdout.write(f"ready namesrv={setup.host}:{port} home={setup.home}\n")
        sys.stdout.flush()
        await stopping.wait()
    finally:
        await host.stop()


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


def main(arguments: list[str] | None = None) -> int:
    """Serve with the options of a command line; return the exit code."""
    return run(NameServerOptions(**vars(_parser().parse_args(arguments))))


def run(options: NameServerOptions) -> int:
    """Serve, or print the settings; return the exit code."""
    file = options.config
    try:
        text = read_settings_text(file) if file is not None else ""
        settings = dict(read_properties(text))
        setup = NameServerSetup(
            host=options.host,
            tls=Tls.of(take_tls(settings)),
            port=free_port(options.host) if options.port == 0 else options.port,
            home=options.home,
            config=file,
            file_settings=settings,
        )
        if file is not None:
            check_settings(file, setup.file_settings, NameServerConfig)
        config = setup.name_server_config()
        if options.print_settings:
            sys.stdout.write(write_properties(config.texts()))
            return 0
        asyncio.run(serve(setup))
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
