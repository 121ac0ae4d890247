"""What requests begin is finished behind their answers, and before more is heard."""

from __future__ import annotations

import asyncio

from reference.core.effects import Effect, Send
from reference.core.service import Service
from reference.shell.host import ServiceHost
from reference.tests.broker.making import Stage, pull_fields, send_fields
from spec.wire.command import Command, encode_command
from spec.wire.request_code import RequestCode


class Notebook(Service):
    """A service that notes what it is told, and begins something with each arrival."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: list[str] = []

    def heard(self, connection: int, data: bytes, now_ms: int) -> list[Effect]:
        """Note it, and begin something unless there was nothing to hear."""
        assert now_ms > 0
        self.notes.append(f"{connection} heard")
        self.is_unsettled = self.is_unsettled or bool(data)
        return []

    def settle(self, now_ms: int) -> None:
        """Note it."""
        assert now_ms > 0
        self.is_unsettled = False
        self.notes.append("settled")


def notes_of(*arrivals: bytes, stops: bool = False) -> list[str]:
    """Return what a service notes of arrivals of one round of the loop."""

    async def run() -> list[str]:
        notebook = Notebook()
        host = ServiceHost(notebook)
        for number, data in enumerate(arrivals, start=1):
            host.received(number, data)
        if stops:
            await host.stop()
            notebook.notes.append("stopped")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return notebook.notes

    return asyncio.run(run())


def test_arrivals_of_one_round_are_settled_once_behind_the_last() -> None:
    assert notes_of(b"x", b"y", b"") == ["1 heard", "2 heard", "3 heard", "settled"]


def test_nothing_is_settled_where_nothing_was_begun() -> None:
    assert notes_of(b"", b"") == ["1 heard", "2 heard"]


def test_a_host_that_stops_settles_first_and_only_once() -> None:
    assert notes_of(b"x", stops=True) == ["1 heard", "settled", "stopped"]


def frame(code: RequestCode, fields: dict[str, object], opaque: int) -> bytes:
    """Return a request as a client sends it."""
    texts = {name: str(value) for name, value in fields.items()}
    return encode_command(Command(code=code, opaque=opaque, fields=texts))


def test_a_message_is_answered_before_it_is_dispatched() -> None:
    stage = Stage()
    stage.connect(1)
    broker = stage.broker
    sent = frame(RequestCode.SEND_MESSAGE, send_fields("T"), 1)
    answers = [type(one) for one in broker.heard(1, sent, stage.now_ms)]
    assert Send in answers
    assert broker.is_unsettled
    assert broker.store.max_offset("T", 0) == 0
    broker.settled(stage.now_ms)
    assert broker.store.max_offset("T", 0) == 1
    assert not broker.is_unsettled


def test_a_pull_between_a_message_and_its_dispatch_is_held_and_woken() -> None:
    stage = Stage()
    stage.connect(1)
    stage.connect(2)
    stage.ask(1, RequestCode.SEND_MESSAGE, send_fields("T"))
    broker = stage.broker
    broker.heard(1, frame(RequestCode.SEND_MESSAGE, send_fields("T"), 7), stage.now_ms)
    pull = frame(RequestCode.PULL_MESSAGE, pull_fields("T", offset=1), 8)
    assert not [e for e in broker.heard(2, pull, stage.now_ms) if isinstance(e, Send)]
    woken = [e for e in broker.settled(stage.now_ms) if isinstance(e, Send)]
    assert [effect.connection for effect in woken] == [2]
