"""A host performs effects in order."""

from __future__ import annotations

import asyncio
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from reference.core.remoting.effects import Close, Effect, Send
from reference.core.remoting.server import RemotingServer
from reference.shell.remoting_host import RemotingHost


class RecordingTransport:
    """A transport that appends its writes to a list which all transports share."""

    def __init__(self, name: str, writes: list[tuple[str, bytes]]) -> None:
        self._name, self._writes = name, writes

    def set_write_buffer_limits(self, high: int) -> None:
        """Accept a limit."""
        assert high > 0

    def write(self, data: bytes) -> None:
        """Record it."""
        self._writes.append((self._name, data))

    def close(self) -> None:
        """Record it."""
        self._writes.append((self._name, b"closed"))


def performed(effects: list[Effect]) -> list[tuple[str, bytes]]:
    """Return the writes of a host to its connections 1 and 2."""
    writes: list[tuple[str, bytes]] = []

    async def run() -> None:
        host = RemotingHost(RemotingServer())
        for number in (1, 2):
            transport = RecordingTransport(str(number), writes)
            host._transports[number] = cast(asyncio.Transport, transport)
        host.perform(effects)

    asyncio.run(run())
    return writes


def test_effects_are_performed_in_order() -> None:
    effects: list[Effect] = [
        Send(1, b"a"),
        Send(1, b"b"),
        Send(3, b"for an unknown connection"),
        Send(2, b"c"),
        Send(1, b"d"),
        Close(1, "because"),
        Send(2, b"e"),
        Send(2, b"f"),
    ]
    assert performed(effects) == [
        ("1", b"a"),
        ("1", b"b"),
        ("2", b"c"),
        ("1", b"d"),
        ("1", b"closed"),
        ("2", b"e"),
        ("2", b"f"),
    ]


@given(
    effects=st.lists(
        st.one_of(
            st.builds(Send, st.integers(1, 3), st.binary(min_size=1, max_size=3)),
            st.builds(Close, st.integers(1, 3), st.just("because")),
        ),
        max_size=12,
    )
)
def test_each_connection_gets_its_frames_in_order(
    effects: list[Effect],
) -> None:
    writes = performed(effects)
    for number in (1, 2):
        expected = [
            one.data if isinstance(one, Send) else b"closed"
            for one in effects
            if isinstance(one, Send | Close) and one.connection == number
        ]
        assert b"".join(
            data for name, data in writes if name == str(number)
        ) == b"".join(expected)
