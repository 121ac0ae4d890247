"""
What the core asks the world to do.

A service of the core never touches a socket or a timer. It is told what happened
(a connection opened, bytes arrived, it is five past two) and answers with a list of
effects, which the shell performs in order.
"""

from __future__ import annotations

from dataclasses import dataclass

from reference.core.store.files import MappedFile
from spec.host import Host


@dataclass(frozen=True, slots=True)
class Send:
    """Write these bytes, whole frames, to this connection."""

    connection: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Close:
    """Close this connection after what was sent before; *reason* is for people."""

    connection: int
    reason: str


@dataclass(frozen=True, slots=True)
class WakeAt:
    """Call the service's ``woken`` at this time, or as soon after it as possible."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class Dial:
    """Open a connection to this address and tell the service how that went."""

    address: Host


@dataclass(frozen=True, slots=True)
class Complain:
    """Tell the operator something that no peer is told."""

    text: str


@dataclass(frozen=True, slots=True)
class Flush:
    """Bring these files to disk, aside, and report back under this number."""

    files: tuple[MappedFile, ...]
    number: int


@dataclass(frozen=True, slots=True)
class Follow:
    """Open a connection to a master's port for slaves, and tell how that went."""

    address: str
    """As broker.conf or a name server has it: ``127.0.0.1:10912``."""


@dataclass(frozen=True, slots=True)
class Drain:
    """Report when a slave has read most of what it was sent before this."""

    connection: int


Effect = Send | Close | WakeAt | Dial | Complain | Flush | Follow | Drain
