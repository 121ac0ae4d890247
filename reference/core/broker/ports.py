"""
The long-lived parts of a broker, as its handlers see them.

A handler that only reads and changes tables takes `BrokerState`. One that sends frames,
responds later or starts something takes `Ports` besides. The controller builds the
parts; handlers use only the methods declared here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from reference.core.broker.pull.pull_request import Pull
from reference.core.broker.topic.topic_config import Topic
from reference.core.remoting.effects import Effect
from reference.core.remoting.request import Request
from reference.core.remoting.response import Response
from spec.host import Host

OnResponse = Callable[[Request | None], None]
"""Called once: with the response of a peer, or with None after the timeout."""


class Effects(Protocol):
    """Frames and other effects, performed in the order in which they were added."""

    def send(self, connection: int, data: bytes) -> None:
        """Send frames unless the connection is closed."""

    def close(self, connection: int, reason: str) -> None:
        """Close a connection."""

    def connect(self, address: Host) -> None:
        """Open a connection."""

    def log_error(self, text: str) -> None:
        """Write a line to the operator's log."""

    def emit(self, effect: Effect) -> None:
        """Add an effect for the shell."""


class Outbox(Effects, Protocol):
    """Effects, responses and requests."""

    def respond(self, request: Request, response: Response) -> None:
        """Send the response to a request whose handler returned None."""

    def error_response(self, request: Request, error: Exception) -> Response:
        """Return the response to a request that *error* ended."""

    def invoke(
        self,
        connection: int,
        code: int,
        fields: Mapping[str, str],
        body: bytes = b"",
        *,
        on_response: OnResponse,
        timeout_at_ms: int | None = None,
    ) -> None:
        """Send a request to a peer; *on_response* receives the result."""


class Timers(Protocol):
    """Callbacks at a time, in ms since 1970 (Java: ScheduledExecutorService)."""

    def call_at(self, at_ms: int, callback: Callable[[int], None]) -> None:
        """Call *callback* once."""

    def call_every(
        self, period_ms: int, callback: Callable[[int], None], *, first_ms: int
    ) -> None:
        """Call *callback* at *first_ms*, and *period_ms* after each call."""


class FlushWait(Protocol):
    """Waits until the commit log is on disk up to an offset."""

    is_sync: bool
    """Whether responses to puts wait (SYNC_FLUSH)."""

    def wait(self, end: int, *, now_ms: int, on_done: Callable[[bool], None]) -> None:
        """Call *on_done* with True at *end*, with False after syncFlushTimeout."""


class ReplicationWait(Protocol):
    """Waits until a slave has the commit log up to an offset."""

    def is_slave_ok(self, end: int) -> bool:
        """Return whether a slave is connected and near enough to *end*."""

    def wait(self, end: int, *, now_ms: int, on_done: Callable[[bool], None]) -> None:
        """Call *on_done* with True at *end*, with False after syncFlushTimeout."""


class PullHolder(Protocol):
    """Long polling."""

    def hold(self, pull: Pull) -> None:
        """Hold a pull until a message arrives or its time is up."""


class Registrar(Protocol):
    """Registration with the name servers."""

    def register(self, topics: Iterable[Topic] | None = None) -> None:
        """Register *topics*, or all topics."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The parts that handlers use."""

    outbox: Outbox
    flusher: FlushWait
    slaves: ReplicationWait
    long_polling: PullHolder
    registrar: Registrar
