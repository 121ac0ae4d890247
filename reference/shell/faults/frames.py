"""Faults of frames: responses that are late, cut, repeated or unreadable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from reference.core.broker.broker_controller import BrokerController
from reference.core.remoting.effects import Close, Effect, Send
from reference.shell.clock import system_s
from reference.shell.faults.catalogue import FRAME_FAULTS, Fault
from reference.shell.faults.switch import FaultSwitch
from reference.shell.ha_sockets import BrokerHost
from reference.shell.tls import Tls
from spec.wire.remoting.command import Command, decode_command, encode_command

_LENGTH_SIZE = 4
_HEADER_START = 8
NO_REQUEST = 1 << 30
"""Distance from an opaque to one that no request has."""


class FaultyBrokerHost(BrokerHost):
    """The host of a broker whose responses to clients may have a fault."""

    def __init__(
        self, broker: BrokerController, memory_max: int, tls: Tls, switch: FaultSwitch
    ) -> None:
        super().__init__(broker, memory_max, tls)
        self._switch = switch

    def perform(self, effects: Iterable[Effect]) -> None:
        """Perform *effects*; responses may have a fault."""
        super().perform(self._with_faults(effects))

    def _with_faults(self, effects: Iterable[Effect]) -> Iterator[Effect]:
        for effect in effects:
            # `connections` are those with frames; slaves have others.
            peers = self.server.connections
            if isinstance(effect, Send) and effect.connection in peers:
                for frame in frames_of(effect.data):
                    yield from self._send(effect.connection, frame)
            else:
                yield effect

    def _send(self, connection: int, frame: bytes) -> Iterator[Effect]:
        command = decode_command(frame)
        is_request = not command.is_response
        if is_request or self._switch.is_exempt(connection, command.opaque):
            yield Send(connection, frame)
            return
        fault = self._switch.draw(FRAME_FAULTS)
        if fault is None:
            yield Send(connection, frame)
        elif fault.name == "slow":
            late = [Send(connection, frame)]
            delay_s = system_s(fault.delay_ms)
            self._loop.call_later(delay_s, super().perform, late)
        else:
            yield from faulty_effects(fault, connection, frame, command)


def faulty_effects(
    fault: Fault, connection: int, frame: bytes, command: Command
) -> Iterator[Effect]:
    """Yield the effects in place of a response that has a fault."""
    match fault.name:
        case "close":
            yield Close(connection, str(fault))
        case "cut-frames":
            yield Send(connection, frame[: len(frame) // 2])
            yield Close(connection, str(fault))
        case "garbage":
            header = b"\xff" * (len(frame) - _HEADER_START)
            yield Send(connection, frame[:_HEADER_START] + header)
        case "repeat":
            yield Send(connection, frame)
            yield Send(connection, frame)
        case "wrong-opaque":
            changed = replace(command, opaque=command.opaque ^ NO_REQUEST)
            yield Send(connection, encode_command(changed))


def frames_of(data: bytes) -> Iterator[bytes]:
    """Yield each frame in *data*, which holds whole frames."""
    start = 0
    while start < len(data):
        size = int.from_bytes(data[start : start + _LENGTH_SIZE], "big")
        end = start + _LENGTH_SIZE + size
        yield bytes(data[start:end])
        start = end
