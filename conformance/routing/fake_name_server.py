"""
A name server that only listens: it writes down what a broker says and agrees to all.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from conformance.harness.address import Address
from conformance.harness.deadline import wait_until
from conformance.meta.lying_server import LyingServer, honest
from spec.wire.command import Command
from spec.wire.request_code import RequestCode

PATIENCE_S = 20.0


class FakeNameServer:
    """A name server with a good memory."""

    def __init__(self) -> None:
        self._server = LyingServer(self._hear)
        self._heard: list[Command] = []

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.__exit__(kind, error, traceback)

    @property
    def address(self) -> Address:
        """Where it listens."""
        return self._server.address

    def heard(self, code: int = RequestCode.REGISTER_BROKER) -> list[Command]:
        """Return what was said with this code, oldest first."""
        return [command for command in list(self._heard) if command.code == code]

    def wait_for(
        self,
        wanted: Callable[[Command], bool] = lambda _: True,
        *,
        what: str,
        code: int = RequestCode.REGISTER_BROKER,
        after: int = 0,
    ) -> Command:
        """Return the first command of *code* after so many that is as *wanted*."""
        found: list[Command] = []

        def look() -> bool:
            found[:] = [one for one in self.heard(code)[after:] if wanted(one)]
            return bool(found)

        wait_until(look, what=what, timeout_s=PATIENCE_S)
        return found[0]

    def _hear(self, command: Command) -> bytes | None:
        self._heard.append(command)
        return None if command.is_oneway or command.is_response else honest(command)
