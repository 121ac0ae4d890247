"""Work that requests defer is done after their responses, before the next reads."""

from __future__ import annotations

import asyncio

from reference.core.remoting.effects import Effect, Send
from reference.core.remoting.server import RemotingServer
from reference.shell.remoting_host import RemotingHost
from reference.tests.broker.broker_driver import BrokerDriver, pull_fields, send_fields
from spec.wire.remoting.command import Command, encode_command
from spec.wire.remoting.request_code import RequestCode


class EventRecorder(RemotingServer):
    """A server that records its events and defers work with each read."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[str] = []

    def data_received(self, connection: int, data: bytes, now_ms: int) -> list[Effect]:
        """Record the read."""
        assert data
        assert now_ms > 0
        self.events.append(f"{connection} read")
        return []

    def run_deferred_work(self, now_ms: int) -> None:
        """Record the call."""
        assert now_ms > 0
        self.events.append("work done")


def events_of(*reads: bytes, stops: bool = False) -> list[str]:
    """Return the events of reads in one iteration of the event loop."""

    async def run() -> list[str]:
        recorder = EventRecorder()
        host = RemotingHost(recorder)
        for number, data in enumerate(reads, start=1):
            host.data_received(number, data)
        if stops:
            await host.stop()
            recorder.events.append("stopped")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return recorder.events

    return asyncio.run(run())


def test_work_of_several_reads_is_done_once_after_the_last() -> None:
    assert events_of(b"x", b"y", b"z") == ["1 read", "2 read", "3 read", "work done"]


def test_a_host_that_stops_does_the_deferred_work_once() -> None:
    assert events_of(b"x", stops=True) == ["1 read", "work done", "stopped"]


def frame(code: RequestCode, fields: dict[str, object], opaque: int) -> bytes:
    """Return the frame of a request."""
    texts = {name: str(value) for name, value in fields.items()}
    return encode_command(Command(code=code, opaque=opaque, fields=texts))


def test_a_send_is_responded_to_before_its_message_is_dispatched() -> None:
    driver = BrokerDriver()
    driver.connect(1)
    broker = driver.broker
    sent = frame(RequestCode.SEND_MESSAGE, send_fields("T"), 1)
    effects = [type(one) for one in broker.data_received(1, sent, driver.now_ms)]
    assert Send in effects
    assert broker.state.has_appended
    assert broker.state.store.max_offset("T", 0) == 0
    broker.reads_completed(driver.now_ms)
    assert broker.state.store.max_offset("T", 0) == 1
    assert not broker.state.has_appended


def test_a_pull_between_a_send_and_its_dispatch_is_held_and_completed() -> None:
    driver = BrokerDriver()
    driver.connect(1)
    driver.connect(2)
    driver.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"))
    broker = driver.broker
    broker.data_received(
        1, frame(RequestCode.SEND_MESSAGE, send_fields("T"), 7), driver.now_ms
    )
    pull = frame(RequestCode.PULL_MESSAGE, pull_fields("T", offset=1), 8)
    assert not [
        e for e in broker.data_received(2, pull, driver.now_ms) if isinstance(e, Send)
    ]
    woken = [e for e in broker.reads_completed(driver.now_ms) if isinstance(e, Send)]
    assert [effect.connection for effect in woken] == [2]
