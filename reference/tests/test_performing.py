"""A host writes what is for one connection at once, and keeps the order of effects."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from reference.core.effects import Close, Effect, Send
from reference.core.service import Service
from reference.shell.host import ServiceHost


class Wire:
    """A transport that notes what is done to it, in a row that all wires share."""

    def __init__(self, name: str, row: list[tuple[str, bytes]]) -> None:
        self._name, self._row = name, row

    def set_write_buffer_limits(self, high: int) -> None:
        """Take whatever limit."""
        assert high > 0

    def write(self, data: bytes) -> None:
        """Note it."""
        self._row.append((self._name, data))

    def writelines(self, pieces: Iterable[bytes]) -> None:
        """Note it as one."""
        self._row.append((self._name, b"".join(pieces)))

    def close(self) -> None:
        """Note it."""
        self._row.append((self._name, b"closed"))


def performed(effects: list[Effect]) -> list[tuple[str, bytes]]:
    """Return what a host with two connections does; 1 and 2 are their numbers."""
    row: list[tuple[str, bytes]] = []

    async def run() -> None:
        host = ServiceHost(Service())
        for number in (1, 2):
            wire = cast(asyncio.Transport, Wire(str(number), row))
            host._transports[number] = wire
        host.perform(effects)

    asyncio.run(run())
    return row


def test_frames_for_one_connection_are_written_together() -> None:
    effects: list[Effect] = [
        Send(1, b"a"),
        Send(1, b"b"),
        Send(3, b"for nobody"),
        Send(2, b"c"),
        Send(1, b"d"),
        Close(1, "because"),
        Send(2, b"e"),
        Send(2, b"f"),
    ]
    assert performed(effects) == [
        ("1", b"ab"),
        ("2", b"c"),
        ("1", b"d"),
        ("1", b"closed"),
        ("2", b"ef"),
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
def test_each_connection_is_written_what_is_sent_to_it_in_order(
    effects: list[Effect],
) -> None:
    row = performed(effects)
    for number in (1, 2):
        wanted = [
            one.data if isinstance(one, Send) else b"closed"
            for one in effects
            if isinstance(one, Send | Close) and one.connection == number
        ]
        assert b"".join(data for name, data in row if name == str(number)) == b"".join(
            wanted
        )
