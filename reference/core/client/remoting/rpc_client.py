"""
The remoting client: requests to many peers, matched with their responses by opaque.

It has no socket. It returns effects: frames to write to an address, and times to be
called at. The shell reports received commands and failed connections, and passes the
clock in. A task waits for the result of its request (Java: NettyRemotingClient,
MQClientAPIImpl).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial, wraps
from typing import TypeGuard

from reference.core.client.effects import Effect, Write
from reference.core.client.remoting.errors import Failure, Reason
from reference.core.client.remoting.tasks import Value, Wait
from reference.core.remoting.outbox import Outbox
from reference.core.remoting.request import ONEWAY_BIT, RESPONSE_BIT, Request
from reference.core.remoting.response import Response, encode_response
from reference.core.unexpected import error_text
from spec.layout import LayoutError
from spec.security.signature import Credentials, signed_fields
from spec.wire.bodies.json_body import AnyBody, decode_body
from spec.wire.remoting.command import Command, encode_command
from spec.wire.remoting.response_code import ResponseCode

Result = Request | Failure
"""A response of any code, or the failure of its request."""
Handler = Callable[[str, Request], Response | None]
"""Processor of a request from the broker at an address. None: no response yet."""
Clock = Callable[[], int]
"""Returns the time in ms since 1970."""

_OPAQUE_END = 2**31


class _PendingRequest(Wait[Result]):
    """A request without a response (Java: ResponseFuture)."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address


class RpcClient(Outbox[Effect]):
    """Pending requests of one client, which signs them if it has credentials."""

    def __init__(self, clock: Clock, credentials: Credentials | None = None) -> None:
        super().__init__()
        self.now_ms = clock
        self._credentials = credentials
        self.handlers: dict[int, Handler] = {}
        """Processor table: requests that brokers may send, by code."""
        self._pending: dict[int, _PendingRequest] = {}
        self._next_opaque = 0

    @property
    def is_idle(self) -> bool:
        """Whether no request is pending."""
        return not self._pending

    def is_pending(self, opaque: int) -> bool:
        """Return whether the request with *opaque* has no result yet."""
        return opaque in self._pending

    async def invoke(
        self, address: str | None, request: Command, timeout_ms: int
    ) -> Result:
        """Send *request* with a new opaque; return its result.

        Without an address it fails, and without a response after *timeout_ms*.
        """
        if address is None:
            return Failure(reason=Reason.NO_BROKER)
        opaque = self._new_opaque()
        pending = self._pending[opaque] = _PendingRequest(address)
        on_timeout = partial(self.request_failed, opaque, Reason.TIMEOUT)
        self.call_later(timeout_ms, on_timeout)
        self.emit(Write(address, self._encode(request, opaque), opaque))
        return await pending

    async def sleep(self, duration_ms: int) -> None:
        """Wait for *duration_ms*."""
        wait = Wait[None]()
        self.call_later(duration_ms, lambda: wait.end(None))
        await wait

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> None:
        """Call *callback* once, after *delay_ms*."""
        self.timers.call_at(self.now_ms() + delay_ms, lambda _now_ms: callback())

    def call_every(
        self,
        period_ms: int,
        callback: Callable[[], None],
        *,
        delay_ms: int | None = None,
    ) -> None:
        """Call *callback* after *delay_ms*, by default a period, and periodically."""

        @wraps(callback)  # errors are logged with its name
        def run(_now_ms: int) -> None:
            callback()

        first_ms = self.now_ms() + (period_ms if delay_ms is None else delay_ms)
        self.timers.call_every(period_ms, run, first_ms=first_ms)

    def invoke_oneway(self, address: str | None, request: Command) -> None:
        """Send *request*, to which there is no response; drop it without an address."""
        if address is not None:
            frame = self._encode(request, self._new_opaque())
            self.emit(Write(address, frame, None))

    def command_received(self, address: str, request: Request) -> None:
        """Process a response or a request from the peer at *address*."""
        if not request.flag & RESPONSE_BIT:
            self._process_request(address, request)
            return
        self._end(self._pending.pop(request.opaque, None), request)

    def request_failed(self, opaque: int, reason: Reason) -> None:
        """End a pending request with a failure."""
        pending = self._pending.pop(opaque, None)
        address = "" if pending is None else pending.address
        self._end(pending, Failure(reason=reason, remark=address))

    def connection_lost(self, address: str) -> None:
        """Fail every request that is pending at *address*."""
        # [CLIENT-RETRY-013]
        gone = [n for n, one in self._pending.items() if one.address == address]
        for opaque in gone:
            self.request_failed(opaque, Reason.LOST)

    def respond(self, address: str, opaque: int, response: Response) -> None:
        """Send the response to a broker's request."""
        self.emit(Write(address, encode_response(opaque, response), None))

    def abandon(self) -> None:
        """Drop every pending request."""
        self._pending.clear()

    def _new_opaque(self) -> int:
        opaque = self._next_opaque  # [CLIENT-RETRY-006]
        self._next_opaque = (opaque + 1) % _OPAQUE_END
        return opaque

    def _encode(self, request: Command, opaque: int) -> bytes:
        """Return the frame of *request*, signed (Java: AclClientRPCHook)."""
        fields = request.fields
        if self._credentials is not None:
            fields = signed_fields(fields, request.body, self._credentials)
        return encode_command(replace(request, opaque=opaque, fields=fields))

    def _end(self, pending: _PendingRequest | None, result: Result) -> None:
        """End a request; an exception of its task must not end the connection."""
        if pending is None:
            return
        try:
            pending.end(result)
        except Exception as error:
            self.log_error(f"a response of {pending.address}: {error_text(error)}")

    def _process_request(self, address: str, request: Request) -> None:
        handler = self.handlers.get(request.code)
        if handler is None:  # [CLIENT-ADMIN-001]
            code = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
            remark = f" request type {request.code} not supported"
            response: Response | None = Response(code, remark)
        else:
            response = self._handle(handler, address, request)
        if response is not None:
            self.respond(address, request.opaque, response)

    def _handle(
        self, handler: Handler, address: str, request: Request
    ) -> Response | None:
        """Return the response of *handler*, SYSTEM_ERROR after an exception.

        A oneway request has none (4.6.0 NettyRemotingAbstract#processRequestCommand).
        """
        try:
            response = handler(address, request)
        except Exception as error:
            text = error_text(error)
            self.log_error(f"request {request.code} of {address} failed: {text}")
            response = Response(ResponseCode.SYSTEM_ERROR, text)
        return None if request.flag & ONEWAY_BIT else response


def is_success(result: Result) -> TypeGuard[Request]:
    """Return whether *result* is a response with the code SUCCESS."""
    return isinstance(result, Request) and result.code == ResponseCode.SUCCESS


def failure_of(result: Result, remark: str | None = None) -> Failure:
    """Return the failure that an error response, or one that cannot be read, is."""
    if isinstance(result, Failure):
        return result
    remark = result.remark or "" if remark is None else remark
    return Failure(reason=Reason.REFUSED, code=result.code, remark=remark)


def decoded(result: Result, decode: Callable[[bytes], Value]) -> Value | None:
    """Decode the body of a successful response; None without one."""
    with suppress(LayoutError):
        if is_success(result):
            return decode(result.body)
    return None


def body_of(result: Result, kind: type[AnyBody]) -> AnyBody | None:
    """Decode the JSON body of a successful response; None without one."""
    return decoded(result, partial(decode_body, kind))
