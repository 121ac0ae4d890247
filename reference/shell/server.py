"""
A name server and a broker in one process, on one event loop.

They share no state: the broker registers over a connection, as with any name server.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from reference.core.broker.broker_config import BrokerOptions
from reference.core.broker.broker_controller import BrokerController
from reference.core.broker.filter.consumer_filters import bits_at_start
from reference.core.settings import PORT_MAX, SettingError
from reference.core.store.config_files import ConfigFiles
from reference.core.store.message_store import MessageStore
from reference.core.store.recovery.recover import BulkScan
from reference.shell.acl_file import acl_file_of
from reference.shell.clock import now_ms, zone_offset_ms
from reference.shell.faults.frames import FaultyBrokerHost
from reference.shell.faults.requests import (
    add_broker_faults,
    add_refusal,
    add_route_faults,
)
from reference.shell.faults.switch import FaultSwitch
from reference.shell.ha_sockets import BrokerHost
from reference.shell.listeners import free_port, require_free_port
from reference.shell.loop_host import stop_signal
from reference.shell.name_server import name_server_config, new_name_server
from reference.shell.remoting_host import RemotingHost
from reference.shell.settings_files import (
    persist_settings,
    resolve,
    resolve_address,
)
from reference.shell.storage.disk import DiskFiles
from reference.shell.storage.log_truncation import truncation_warning, written_end
from reference.shell.tls import NO_TLS, Tls
from spec.host import Host
from spec.wire.ha.replication import PORT_DISTANCE
from spec.wire.remoting.connection import VIP_PORT_DISTANCE

REGISTRATION_TIMEOUT_S = 3.0
BESIDE_BROKER = (-VIP_PORT_DISTANCE, PORT_DISTANCE)
"""Distances of the VIP port and of the port for slaves from the broker's."""
NAME_SERVER_SHARE = 8
"""The name server's peers may hold this fraction of the memory for all peers."""


class Setup(Struct, frozen=True, kw_only=True):
    """Addresses, store directory, and settings of broker.conf."""

    host: str
    name_server_port: int
    broker_port: int | None
    """Port of the broker; None for listenPort of the settings."""
    store: Path
    settings: Mapping[str, str]
    settings_file: Path | None = None
    """File of the settings, to which changes of tools are written."""
    tls: Tls = NO_TLS
    bulk_scan: BulkScan | None = None
    """Scan of large logs (``reference.fast``); None with ``--no-fast``."""
    faults: FaultSwitch | None = None
    """Faults for authors of clients, with ``--fault``."""


async def serve(setup: Setup) -> None:
    """Serve until a signal, then close the store cleanly."""
    stopping = stop_signal()
    setup = with_free_ports(setup)
    options = broker_options(setup)
    addresses = _name_servers(setup, options)
    ports = options.listen_port, options.vip_port, options.ha_listen_port
    # Before the store: an occupied port leaves no half-made directory.
    for port in (setup.name_server_port, *ports):
        await require_free_port(setup.host, port)
    files = DiskFiles(setup.store)
    before = written_end(setup.store)
    store = MessageStore(
        files,
        replace(options.store_options(), zone_offset_ms=zone_offset_ms()),
        now_ms(),
        bulk_scan=setup.bulk_scan,
        calc_bit_map=bits_at_start(options, ConfigFiles(files), now_ms()),
    )
    if warning := truncation_warning(setup.store, before, store.log.files.end):
        sys.stderr.write(f"{warning}\n")
    try:
        await _serve_from(store, options, setup, addresses, stopping)
    finally:
        store.stop()


def with_free_ports(setup: Setup) -> Setup:
    """Return *setup* with free ports in place of 0."""
    changes: dict[str, int] = {}
    if setup.broker_port == 0:
        changes["broker_port"] = free_port(setup.host, BESIDE_BROKER)
    if setup.name_server_port == 0:
        changes["name_server_port"] = free_port(setup.host)
    return replace(setup, **changes)


async def _serve_from(
    store: MessageStore,
    options: BrokerOptions,
    setup: Setup,
    addresses: list[Host],
    stopping: asyncio.Event,
) -> None:
    """Serve from *store* until *stopping* is set; *addresses* are name servers."""
    name_server = new_name_server(
        name_server_config(setup.store / "namesrv", port=setup.name_server_port)
    )
    broker = BrokerController(
        options,
        store,
        now_ms=now_ms(),
        acl_file=acl_file_of(options),
        persist_settings=lambda changes: persist_settings(setup.settings_file, changes),
    )
    name_server_memory = options.peer_memory_max // NAME_SERVER_SHARE
    name_host = RemotingHost(name_server, name_server_memory, setup.tls)
    broker_host = _broker_host(
        broker, options.peer_memory_max - name_server_memory, setup
    )
    if setup.faults is not None:
        add_route_faults(name_server, setup.faults)
    try:
        await name_host.listen(setup.host, setup.name_server_port)
        await broker_host.listen(setup.host, options.listen_port)
        await broker_host.listen(setup.host, options.vip_port)
        await broker_host.listen_for_slaves(setup.host, options.ha_listen_port)
        name_server.start(now_ms())
        name_host.perform(name_server.take_effects())
        broker.start(addresses, now_ms())
        broker_host.perform(broker.take_effects())
        await _until_registered(broker)
        sys.stdout.write(_ready_line(setup, options))
        sys.stdout.flush()
        await stopping.wait()
        broker.stop(now_ms())
        broker_host.perform(broker.take_effects())
    finally:
        await broker_host.stop()
        await name_host.stop()


def _ready_line(setup: Setup, options: BrokerOptions) -> str:
    """Return the line with all addresses, and with the faults if there may be any."""
    faults = "" if setup.faults is None else f"faults={setup.faults} "
    return (
        f"ready namesrv={setup.host}:{setup.name_server_port} "
        f"broker={setup.host}:{options.listen_port} "
        f"vip={setup.host}:{options.vip_port} "
        f"ha={setup.host}:{options.ha_listen_port} {faults}store={setup.store}\n"
    )


def _broker_host(broker: BrokerController, memory_max: int, setup: Setup) -> BrokerHost:
    if setup.faults is None:
        add_refusal(broker)
        return BrokerHost(broker, memory_max, setup.tls)
    add_broker_faults(broker, setup.faults)
    return FaultyBrokerHost(broker, memory_max, setup.tls, setup.faults)


def _name_servers(setup: Setup, options: BrokerOptions) -> list[Host]:
    """Return the name server of this process, and then those of broker.conf."""
    wildcard = setup.host in {"0.0.0.0", "::"}  # noqa: S104
    near = "127.0.0.1" if wildcard else resolve(setup.host)
    own = Host.of(near, setup.name_server_port)
    texts = options.namesrv_addr.split(";")
    named = [text.strip() for text in texts if text.strip()]
    hosts = [Host.of(*resolve_address("namesrvAddr", text)) for text in named]
    return list(dict.fromkeys([own, *hosts]))


async def _until_registered(broker: BrokerController) -> None:
    """Wait until the broker is registered, at most REGISTRATION_TIMEOUT_S."""
    deadline_s = asyncio.get_running_loop().time() + REGISTRATION_TIMEOUT_S
    while asyncio.get_running_loop().time() < deadline_s:
        if broker.registrations and broker.registrations[0].is_registered:
            return
        await asyncio.sleep(0.001)


def broker_options(setup: Setup) -> BrokerOptions:
    """Return the options of the broker, or raise SettingError."""
    settings = {"brokerIP1": setup.host, **setup.settings}
    if setup.broker_port is not None:
        settings["listenPort"] = str(setup.broker_port)
    if not 1 <= setup.name_server_port <= PORT_MAX:
        port = setup.name_server_port
        raise SettingError(f"--namesrv-port is {port}, not between 1 and {PORT_MAX}")
    port = BrokerOptions(settings).listen_port
    settings["haListenPort"] = str(port + PORT_DISTANCE)  # [ROUTE-OUTERAPI-013]
    options = BrokerOptions(settings)
    options.check_role()
    options.store_ip = resolve(options.broker_ip1)
    master = options.ha_master_address
    if master:
        ip, port = resolve_address("haMasterAddress", master)
        options.ha_master_address = str(Host.of(ip, port))
    return options
