"""
A name server and a broker in one process.

They share a thread and nothing else: the broker registers with the name server over
a connection, as it would with any.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from reference.core.broker.broker import Broker
from reference.core.broker.consumer_filters import bits_at_start
from reference.core.broker.dispatch import HANDLERS
from reference.core.broker.options import BrokerOptions, OptionError
from reference.core.broker.role import check_role
from reference.core.name_server.dispatch import NameServer
from reference.core.store.message_store import MessageStore
from reference.shell.clock import now_ms, zone_offset_ms
from reference.shell.disk import DiskFiles
from reference.shell.host import ServiceHost
from reference.shell.name_server import NameServerSetup, name_server
from reference.shell.replication import BrokerHost
from spec.host import Host
from spec.wire.replication import PORT_DISTANCE

VIP_PORT_DISTANCE = 2
"""Clients may use this many ports below the broker's (Java: the VIP channel)."""
REGISTRATION_TIMEOUT_S = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Where to listen, where to store, and the settings of broker.conf."""

    host: str
    name_server_port: int
    broker_port: int
    store: Path
    settings: Mapping[str, str]


async def serve(setup: Setup) -> None:
    """Serve until a signal says to stop; then stop in good order."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    files = DiskFiles(setup.store)
    options = _options(setup)
    store = MessageStore(
        files, replace(options.store_options(), zone_offset_ms=zone_offset_ms())
    )
    store.filter_bits = bits_at_start(options, store.config, now_ms())
    store.start(now_ms())
    try:
        await _serve_from(store, options, setup, stopping)
    finally:
        store.stop(now_ms())


async def _serve_from(
    store: MessageStore, options: BrokerOptions, setup: Setup, stopping: asyncio.Event
) -> None:
    """Serve what *store* has until *stopping* is set."""
    names = _name_server(setup)
    broker = Broker(options, store, store.config, handlers=HANDLERS, now_ms=now_ms())
    hosts = ServiceHost(names), BrokerHost(broker)
    try:
        await _start(setup, *hosts)
        await _until_registered(broker)
        sys.stdout.write(
            f"ready namesrv={setup.host}:{setup.name_server_port} "
            f"broker={setup.host}:{setup.broker_port} store={setup.store}\n"
        )
        sys.stdout.flush()
        await stopping.wait()
        broker.stop(now_ms())
        hosts[1].perform(broker.take())
    finally:
        for host in reversed(hosts):
            await host.stop()


async def _start(setup: Setup, names: ServiceHost, brokers: BrokerHost) -> None:
    name_server, broker = names.service, brokers.broker
    assert isinstance(name_server, NameServer)
    await names.listen(setup.host, setup.name_server_port)
    await brokers.listen(setup.host, setup.broker_port)
    await brokers.listen(setup.host, setup.broker_port - VIP_PORT_DISTANCE)
    port_for_slaves = broker.options.number("haListenPort")
    await brokers.listen_for_slaves(setup.host, port_for_slaves)
    name_server.start(now_ms())
    names.perform(name_server.take())
    wildcard = setup.host in {"0.0.0.0", "::"}  # noqa: S104
    near = "127.0.0.1" if wildcard else setup.host
    own = Host.of(near, setup.name_server_port)
    broker.start([own, *_other_name_servers(setup, own)], now_ms())
    brokers.perform(broker.take())


def _other_name_servers(setup: Setup, own: Host) -> list[Host]:
    """Return the name servers that broker.conf names beside our own."""
    texts = setup.settings.get("namesrvAddr", "").split(";")
    named = [text.strip().rpartition(":") for text in texts if text.strip()]
    try:
        hosts = [Host.of(address, int(port)) for address, _, port in named]
    except ValueError as error:
        raise OptionError(f"namesrvAddr: {error}") from None
    return [host for host in dict.fromkeys(hosts) if host != own]


async def _until_registered(broker: Broker) -> None:
    """Wait until the name server has the broker's topics, but not for ever."""
    deadline_s = asyncio.get_running_loop().time() + REGISTRATION_TIMEOUT_S
    while asyncio.get_running_loop().time() < deadline_s:
        if broker.links and broker.links[0].is_registered:
            return
        await asyncio.sleep(0.001)


def _options(setup: Setup) -> BrokerOptions:
    settings = {"brokerIP1": setup.host, **setup.settings}
    settings["listenPort"] = str(setup.broker_port)
    ha_port = setup.broker_port + PORT_DISTANCE
    settings.setdefault("haListenPort", str(ha_port))
    options = BrokerOptions(settings)
    check_role(options)
    return options


def _name_server(setup: Setup) -> NameServer:
    """Return a name server that keeps its files beside the store's."""
    home = setup.store / "namesrv"
    place = NameServerSetup(host=setup.host, home=home, port=setup.name_server_port)
    return name_server(place)
