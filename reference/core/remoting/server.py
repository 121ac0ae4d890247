"""
The base of the broker and the name server (Java: NettyRemotingServer).

It holds the connections, the processor table and its own requests to peers. The
shell calls `connection_made`, `data_received`, `connection_lost`, `connect_completed`,
`timer_expired` and `flush_completed`, all on one thread. Each returns the effects that
the shell has to perform.

After the reads of one iteration of its event loop the shell calls `reads_completed`
(Netty: channelReadComplete). Work that several requests share is done there, once, and
no response waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count

from reference.core.persistence import Persistence
from reference.core.remoting.connection import Connection
from reference.core.remoting.effects import (
    Close,
    Connect,
    Effect,
    Flush,
    LogError,
    PauseReading,
    Send,
    SetTimer,
)
from reference.core.remoting.outbox import Outbox
from reference.core.remoting.request import ONEWAY_BIT, RESPONSE_BIT, Refused, Request
from reference.core.remoting.response import (
    SYSTEM_ERROR,
    Response,
    create_request,
    encode_response,
)
from reference.core.unexpected import error_text
from spec.host import Host
from spec.wire.remoting.command import encode_command

IDLE_SCAN_MS = 1_000
IDLE_LIMIT_MS = 120_000
RESPONSES_SIZE_MAX = 1024 * 1024
"""Bytes of responses after which the other requests of a connection wait."""
_INVOKED_MAX = 1 << 20
"""Requests of this server that may be without a response.

All are dropped at this count, so that peers that never respond cannot fill the memory.
"""

Handler = Callable[[Request], Response | None]
"""Check, act, respond (Java: NettyRequestProcessor). None: no response, or later."""
SequenceHandler = Callable[[Sequence[Request]], Sequence[Response | None]]
"""The same for all requests of one code of one read that follow each other."""
OnResponse = Callable[[Request | None], None]
"""Called at most once: with the response of a peer, or with None after the timeout.
Without a timeout it is dropped with the connection."""


class RemotingServer(Outbox[Effect]):
    """A peer that handles requests. One thread calls its methods."""

    def __init__(self) -> None:
        super().__init__()
        self.connections: dict[int, Connection] = {}
        self.handlers: Mapping[int, Handler] = {}
        self.sequence_handlers: Mapping[int, SequenceHandler] = {}
        self.check_access: Callable[[Request, Host], None] | None = None
        """Check of each request before its handler; it raises Refused."""
        self.persistences: Sequence[Persistence] = ()
        """Files of the tables that requests change."""
        self.idle_limit_ms = IDLE_LIMIT_MS
        self.unfinished_size = 0
        """Received bytes of all connections that are no requests yet."""
        self._opaques = count(1)
        self._invoked: dict[int, tuple[int | None, OnResponse]] = {}
        """Requests of this server without a response, by opaque; those without a
        timeout with their connection."""

    def connection_made(self, connection: int, remote: Host) -> list[Effect]:
        """Record a connection that a peer has opened."""
        self.connections[connection] = Connection(connection, remote)
        return self.take_effects()

    def reads_completed(self, now_ms: int) -> list[Effect]:
        """Do the work that the last requests and timers have deferred."""
        try:
            self.run_deferred_work(now_ms)
        except Exception as error:  # the next timer tries again
            self.log_error(f"deferred work failed: {error_text(error)}")
        return self.take_effects()

    def data_received(self, connection: int, data: bytes, now_ms: int) -> list[Effect]:
        """Handle the requests that *data* completes; `reads_completed` must follow.

        Requests wait while many bytes of responses are unread. After a `PauseReading`,
        call this without data when the peer has read them.
        """
        peer = self.connections.get(connection)
        if peer is None:
            return []
        unfinished_before = peer.unfinished_size
        peer.receive(data, now_ms)
        frames, waiting = self._handle_requests(peer)
        if frames:
            responses = frames[0] if len(frames) == 1 else b"".join(frames)
            self.emit(Send(peer.number, responses))
        if waiting is not None:
            peer.put_back(waiting)
            self.emit(PauseReading(peer.number))
        elif peer.decode_error is not None:
            self.close(peer.number, peer.decode_error)  # [WIRE-FRAME-011]
        self.unfinished_size += peer.unfinished_size - unfinished_before
        return self.take_effects()

    def connection_lost(self, connection: int, now_ms: int) -> list[Effect]:
        """Remove a connection that is closed."""
        peer = self.connections.pop(connection, None)
        if peer is not None:
            self.unfinished_size -= peer.unfinished_size
            endless = [o for o, (of, _) in self._invoked.items() if of == connection]
            for opaque in endless:
                del self._invoked[opaque]
            self.on_connection_lost(connection, now_ms)
        return self.take_effects()

    def connect_completed(
        self, connect: Connect, connection: int | None, now_ms: int
    ) -> list[Effect]:
        """Record an outgoing connection; None where it could not be opened."""
        if connection is not None:
            self.connections[connection] = Connection(connection, connect.address)
        connect.on_done(connection, now_ms)
        return self.take_effects()

    def timer_expired(self, now_ms: int) -> list[Effect]:
        """Run the timers that are due and the deferred work."""
        self.run_timers(now_ms)
        return self.reads_completed(now_ms)

    def flush_completed(self, flush: Flush, error: str, now_ms: int) -> list[Effect]:
        """Report a flush as done, or with the error of the disk."""
        flush.on_done(error, now_ms)
        return self.take_effects()

    def take_effects(self) -> list[Effect | LogError | SetTimer]:
        """Persist the changed tables, and return the effects since the last call.

        So no response leaves before its change is on the disk.
        """
        for persistence in self.persistences:
            persistence.persist_changes()
        return super().take_effects()

    def run_deferred_work(self, now_ms: int) -> None:
        """Do the work that requests have deferred since the last call."""

    def on_connection_lost(self, connection: int, now_ms: int) -> None:
        """Release everything that belongs to a closed connection."""

    def send(self, connection: int, data: bytes) -> None:
        """Send *data* unless the connection is closed."""
        peer = self.connections.get(connection)
        if peer is not None:
            peer.active_at_ms = None
            self.emit(Send(connection, data))

    def respond(self, request: Request, response: Response) -> None:
        """Send the response to a request whose handler returned None."""
        if not request.flag & ONEWAY_BIT:
            self.send(request.connection, encode_response(request.opaque, response))

    def invoke(
        self,
        connection: int,
        code: int,
        fields: Mapping[str, object],
        body: bytes = b"",
        *,
        on_response: OnResponse,
        timeout_at_ms: int | None = None,
    ) -> None:
        """Send a request to a peer; *on_response* receives the result."""
        if len(self._invoked) >= _INVOKED_MAX:
            self._invoked.clear()
        opaque = next(self._opaques)
        is_endless = timeout_at_ms is None
        self._invoked[opaque] = connection if is_endless else None, on_response
        request = create_request(code, fields, body, opaque=opaque)
        self.send(connection, encode_command(request))
        if timeout_at_ms is not None:
            self.timers.call_at(timeout_at_ms, lambda _: self._complete(opaque, None))

    def invoke_oneway(
        self,
        connection: int,
        code: int,
        fields: Mapping[str, object],
        body: bytes = b"",
    ) -> None:
        """Send a request to a peer that sends no response."""
        request = create_request(code, fields, body, oneway=True)
        self.send(connection, encode_command(request))

    def close_idle(self, now_ms: int) -> None:
        """Close connections without traffic for `idle_limit_ms`."""
        for number, peer in self.connections.items():
            if peer.active_at_ms is None:
                peer.active_at_ms = now_ms
            elif peer.active_at_ms + self.idle_limit_ms <= now_ms:  # [WIRE-CONN-024]
                self.close(number, "nothing was sent or received for too long")

    def close(self, connection: int, reason: str) -> None:
        """Close a connection; *reason* is for the operator."""
        self.emit(Close(connection, reason))

    def connect(
        self, address: Host, on_done: Callable[[int | None, int], None]
    ) -> None:
        """Open a connection to *address*; *on_done* receives it, or None."""
        self.emit(Connect(address, on_done))

    def error_response(self, request: Request, error: Exception) -> Response:
        """Return the response to a request that *error* ended."""
        if isinstance(error, Refused):
            return Response(error.code, error.remark)
        # A failed handler must not stop the server.
        text = error_text(error)  # [WIRE-COMMAND-009]
        self.log_error(f"request {request.code} failed: {text}")
        return Response(SYSTEM_ERROR, text)

    def _complete(self, opaque: int, response: Request | None) -> None:
        """End a request of this server; a response to an unknown one is dropped."""
        if (invoked := self._invoked.pop(opaque, None)) is None:
            return
        try:
            invoked[1](response)
        except Exception as error:  # one bad response must not end other requests
            self.log_error(f"response to {opaque}: {error_text(error)}")

    def _handle_requests(self, peer: Connection) -> tuple[list[bytes], Request | None]:
        """Handle the requests that *peer* has completed.

        Returns the frames of the responses, and a request that has to wait until they
        are read.
        """
        frames: list[bytes] = []
        size = 0
        request = peer.next_request()
        while request is not None and size <= RESPONSES_SIZE_MAX:  # [WIRE-CONN-001]
            first = request
            if first.flag & RESPONSE_BIT:
                self._complete(first.opaque, first)  # [WIRE-COMMAND-006]
                request = peer.next_request()
                continue
            sequence, request = [first], peer.next_request()
            # With a check of access they are handled one by one: a refused request must
            # not stop the others.
            if first.code in self.sequence_handlers and self.check_access is None:
                while (
                    request is not None
                    and request.code == first.code
                    and not request.flag & RESPONSE_BIT
                ):
                    sequence.append(request)
                    request = peer.next_request()
            for one, response in zip(sequence, self._handle(sequence), strict=True):
                # [WIRE-COMMAND-002] [WIRE-CONN-019]
                if response is not None and not one.flag & ONEWAY_BIT:
                    frame = encode_response(one.opaque, response)
                    frames.append(frame)
                    size += len(frame)
        return frames, request

    def _handle(self, requests: Sequence[Request]) -> Sequence[Response | None]:
        """Return the responses to requests of one code; mostly it is one request."""
        first, code = requests[0], requests[0].code
        try:
            if self.check_access is not None:
                for request in requests:
                    peer = self.connections[request.connection]
                    self.check_access(request, peer.remote)
            if code in self.sequence_handlers:
                return self.sequence_handlers[code](requests)
            handler = self.handlers.get(code)
            if handler is None:  # [WIRE-CONN-002] [WIRE-CONN-004]
                return (None,)
            return (handler(first),)
        except Exception as error:
            return [self.error_response(request, error) for request in requests]
