"""
A name server that only listens: it records the requests of a broker and accepts all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from conformance.harness.client.address import Address
from conformance.harness.client.lying_server import LyingServer, honest
from conformance.harness.process.context import Closing
from conformance.harness.process.deadline import wait_until
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

PATIENCE_S = 20.0
"""Two periods of a broker that registers as often as possible."""


class FakeNameServer(Closing):
    """A name server with a good memory."""

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._server = LyingServer(self._on_request)
        self._received: list[Command] = []

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def close(self) -> None:
        """Stop listening."""
        self._server.close()

    @property
    def address(self) -> Address:
        """Address on which it listens."""
        return self._server.address

    def received(self, code: int = RequestCode.REGISTER_BROKER) -> list[Command]:
        """Return the requests received with this code, oldest first."""
        return [command for command in list(self._received) if command.code == code]

    def wait_for(
        self,
        wanted: Callable[[Command], bool] = lambda _: True,
        *,
        what: str,
        code: int = RequestCode.REGISTER_BROKER,
        after: int = 0,
    ) -> Command:
        """Return the first command of *code* after so many that meets a predicate."""
        found: list[Command] = []

        def look() -> bool:
            found[:] = [one for one in self.received(code)[after:] if wanted(one)]
            return bool(found)

        wait_until(look, what=what, timeout_s=self._patience_s)
        return found[0]

    def _on_request(self, command: Command) -> bytes | None:
        self._received.append(command)
        return None if command.is_oneway or command.is_response else honest(command)
