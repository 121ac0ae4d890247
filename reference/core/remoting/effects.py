"""
Effects: the input and output that the core requests from the shell.

The core never touches a socket or a clock. The shell reports events to it: a
connection was made, data was received, a timer expired. Each call returns effects,
which the shell performs in order.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from reference.core.store.mapped.files import MappedFile
from spec.host import Host


class Send(Struct, frozen=True):
    """Write *data*, whole frames, to a connection."""

    connection: int
    data: bytes


class Close(Struct, frozen=True):
    """Close a connection once the data sent before is written."""

    connection: int
    reason: str
    """Text for the operator's log; no peer receives it."""


class PauseReading(Struct, frozen=True):
    """Read nothing from a peer until it has read; then report ``data_received``."""

    connection: int


class SetTimer(Struct, frozen=True):
    """Call ``timer_expired`` at *at_ms* or as soon as possible after it."""

    at_ms: int


class Connect(Struct, frozen=True):
    """Open a connection to *address*, and report it by `connect_completed`."""

    address: Host
    on_done: Callable[[int | None, int], None]
    """Receives the connection, None without one, and the time."""


class LogError(Struct, frozen=True):
    """Write a line to the operator's log."""

    text: str


class Flush(Struct, frozen=True):
    """Flush *files* on another thread, and report that by `flush_completed`."""

    files: tuple[MappedFile, ...]
    on_done: Callable[[str, int], None]
    """Receives the error of the disk, empty without one, and the time."""


class ConnectToMaster(Struct, frozen=True):
    """Open a connection to the HA port of a master and report the outcome."""

    address: str
    """As written in broker.conf or by a name server: ``127.0.0.1:10912``."""


class NotifyWritable(Struct, frozen=True):
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
