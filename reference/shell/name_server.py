"""
A name server and its files; alone, it is ``python -m reference.shell.name_server``.

What tools put into its key-value table and change in its settings goes to disk. The
key values are read again at a start; the settings only by a name server that is
started with their file, as is so in 4.6.0.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reference.core.java_properties import read_properties, write_properties
from reference.core.name_server.dispatch import NameServer
from reference.core.name_server.key_values import decode_key_values, encode_key_values
from reference.core.name_server.settings import SETTINGS, SettingError, remarks
from reference.core.store.files import FilesError
from reference.shell.clock import now_ms
from reference.shell.disk import DiskFiles
from reference.shell.host import ServiceHost

CANNOT_START = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class NameServerSetup:
    """Where a name server listens, what it keeps where, and its settings."""

    host: str
    home: Path
    port: int | None = None
    """None for the port that the settings name."""
    config: Path | None = None
    """The file of its settings, into which changes go."""
    given: Mapping[str, str] = field(default_factory=dict)
    """What is in that file."""

    def settings(self) -> dict[str, str]:
        """Return all settings, the usual ones where none are given."""
        home = self.home.resolve()
        places = {
            "rocketmqHome": str(home),
            "kvConfigPath": str(home / "kvConfig.json"),
            "configStorePath": str(home / "namesrv.properties"),
        }
        told = {**SETTINGS, **places, **self.given}
        if self.config is not None:
            told["configStorePath"] = str(self.config.resolve())  # [ROUTE-CONFIG-008]
        if self.port is not None:
            told["listenPort"] = str(self.port)
        return told


def name_server(setup: NameServerSetup) -> NameServer:
    """Return a name server with the key values that it had before.

    Raises SettingError for a setting that it cannot follow.
    """
    settings = setup.settings()
    key_values, kept = Path(settings["kvConfigPath"]), Path(settings["configStorePath"])
    text = DiskFiles(key_values.parent).read_text(key_values.name)
    return NameServer(
        decode_key_values(text) if text else {},
        save=lambda table: _replace(key_values, encode_key_values(table)),
        settings=settings,
        save_settings=lambda changed: _replace(kept, write_properties(changed)),
    )


def _replace(path: Path, text: str) -> None:
    DiskFiles(path.parent).replace_text(path.name, text)


async def serve(setup: NameServerSetup) -> None:
    """Serve until a signal says to stop."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    server = name_server(setup)
    host, port = ServiceHost(server), int(server.settings["listenPort"])
    try:
        await host.listen(setup.host, port)
        server.start(now_ms())
        host.perform(server.take())
        sys.stdout.write(f"ready namesrv={setup.host}:{port} home={setup.home}\n")
        sys.stdout.flush()
        await stopping.wait()
    finally:
        await host.stop()


def main(arguments: list[str] | None = None) -> int:
    """Serve, or print the settings; return the exit code."""
    given = _parser().parse_args(arguments)
    try:
        text = given.config.read_text() if given.config is not None else ""
        setup = NameServerSetup(
            host=given.host,
            port=given.port,
            home=given.home,
            config=given.config,
            given=read_properties(text),
        )
        for remark in remarks(setup.given):
            sys.stderr.write(f"{given.config}: {remark}\n")
        if given.print_settings:
            sys.stdout.write(write_properties(setup.settings()))
            return 0
        asyncio.run(serve(setup))
    except (SettingError, FilesError, OSError, UnicodeDecodeError) as error:
        sys.stderr.write(f"cannot serve: {error}\n")
        return CANNOT_START
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="reference.shell.name_server")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, help="instead of the settings' listenPort")
    parser.add_argument("--home", type=Path, default=Path("namesrv"), help="directory")
    parser.add_argument(
        "-c", dest="config", type=Path, help="namesrv.properties: Java properties"
    )
    parser.add_argument(
        "-p", dest="print_settings", action="store_true", help="print the settings"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
