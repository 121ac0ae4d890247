"""A connection to the master that succeeds while its time runs out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from reference.core.broker.broker_config import BrokerOptions
from reference.core.broker.broker_controller import BrokerController
from reference.core.remoting.effects import ConnectToMaster
from reference.core.store.message_store import MessageStore
from reference.shell.ha_sockets import BrokerHost
from reference.tests.broker.broker_driver import NOON_MS, SMALL
from reference.tests.memory_files import MemoryFiles

SLAVE = {"brokerRole": "SLAVE", "brokerId": "1", "haMasterAddress": "127.0.0.1:1"}


@pytest.mark.parametrize("is_late", [True, False], ids=["connected", "refused"])
def test_a_connect_that_times_out_as_it_succeeds_is_no_failure(
    is_late: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def run() -> tuple[int, int]:
        options = BrokerOptions({**SMALL, **SLAVE})
        store = MessageStore(MemoryFiles(), options.store_options(), NOON_MS)
        broker = BrokerController(options, store, now_ms=NOON_MS)
        broker.start([], NOON_MS)
        broker.timer_expired(NOON_MS + 10_000)
        host = BrokerHost(broker)
        reported: list[int | None] = []
        master = broker.ha.master
        monkeypatch.setattr(
            master, "connection_made", lambda number, *_: reported.append(number)
        )
        monkeypatch.setattr(master, "connect_failed", lambda _: reported.append(None))

        async def create(
            factory: Callable[[], asyncio.Protocol], *_: object, **__: object
        ) -> None:
            if is_late:
                peer = {"peername": ("127.0.0.1", 1)}
                factory().connection_made(asyncio.Transport(peer))
            raise TimeoutError("too late")

        monkeypatch.setattr(host._loop, "create_connection", create, raising=False)
        monkeypatch.setattr(host, "add", lambda _: 5)
        host.perform([ConnectToMaster("127.0.0.1:1")])
        await host._tasks.wait()
        return reported.count(5), reported.count(None)

    assert asyncio.run(run()) == ((1, 0) if is_late else (0, 1))
    assert ("cannot connect to the master" in capsys.readouterr().err) is not is_late
