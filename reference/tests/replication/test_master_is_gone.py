"""A master that is gone as soon as its slave has connected."""

from __future__ import annotations

import asyncio

import pytest

from reference.core.broker.ha.connection_state import HAState
from reference.shell import ha_sockets
from reference.shell.ha_sockets import BrokerHost
from reference.tests.broker.broker_driver import BrokerDriver


def test_a_slave_connects_again_to_a_peer_that_resets_the_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The system has no peer's address after a reset before the first read.
    monkeypatch.setattr(ha_sockets, "remote_host", lambda _: None)

    async def connect() -> HAState:
        server = await asyncio.start_server(
            lambda _, writer: writer.close(), "127.0.0.1", 0
        )
        driver = BrokerDriver({"brokerRole": "SLAVE", "brokerId": "1"})
        host = BrokerHost(driver.broker)
        master = driver.broker.ha.master
        master.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        master.start(driver.now_ms)
        host.perform(driver.broker.timer_expired(driver.now_ms + 1))
        assert master.state is HAState.CONNECTING
        await host.stop()
        server.close()
        return master.state

    assert asyncio.run(connect()) is HAState.READY
