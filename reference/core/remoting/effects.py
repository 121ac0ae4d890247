"""
Effects: the input and output that the core requests from the shell.

The core never touches a socket or a clock. The shell reports events to it: a
connection was made, data was received, a timer expired. Each call returns effects,
which the shell performs in order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reference.core.store.mapped.files import MappedFile
from spec.host import Host


@dataclass(frozen=True, slots=True)
class Send:
    """Write *data*, whole frames, to a connection."""

    connection: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Close:
    """Close a connection once the data sent before is written."""

    connection: int
    reason: str
    """Text for the operator's log; no peer receives it."""


@dataclass(frozen=True, slots=True)
class PauseReading:
    """Read nothing from a peer until it has read; then report ``data_received``."""

    connection: int


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Call ``timer_expired`` at *at_ms* or as soon as possible after it."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class Connect:
    """Open a connection to *address*, and report it by `connect_completed`."""

    address: Host
    on_done: Callable[[int | None, int], None]
    """Receives the connection, None without one, and the time."""


@dataclass(frozen=True, slots=True)
class LogError:
    """Write a line to the operator's log."""

    text: str


@dataclass(frozen=True, slots=True)
class Flush:
    """Flush *files* on another thread, and report that by `flush_completed`."""

    files: tuple[MappedFile, ...]
    on_done: Callable[[str, int], None]
    """Receives the error of the disk, empty without one, and the time."""


@dataclass(frozen=True, slots=True)
class ConnectToMaster:
    """Open a connection to the HA port of a master and report the outcome."""

    address: str
    """As written in broker.conf or by a name server: ``127.0.0.1:10912``."""


@dataclass(frozen=True, slots=True)
class NotifyWritable:
    """Report when a slave's connection can take more of the commit log."""

    connection: int


Effect = (
    Send
    | Close
    | PauseReading
    | SetTimer
    | Connect
    | LogError
    | Flush
    | ConnectToMaster
    | NotifyWritable
)
