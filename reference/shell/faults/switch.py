"""
The active faults of a server, and the request that changes them.

UPDATE_BROKER_CONFIG with the property ``faults`` replaces all active faults, as in
``mqadmin updateBrokerConfig -b 127.0.0.1:10911 -k faults -v busy:50%,slow:1s``. The
value ``none`` ends them. This request itself never has a fault. GET_BROKER_CONFIG shows
the active ones.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable

from msgspec.structs import replace

from reference.core.remoting.request import Request
from reference.core.remoting.response import Response
from reference.core.remoting.server import Handler
from reference.core.settings import read_properties, write_properties
from reference.shell.faults.catalogue import NONE, Fault, FaultError, parse_faults
from spec.wire.remoting.response_code import ResponseCode

SETTING = "faults"
NO_FAULTS = "faults: the server was started without --fault; --fault none allows them"


class FaultSwitch:
    """The active faults; a seed decides which requests have them."""

    def __init__(self, faults: Iterable[Fault] = (), *, seed: int = 0) -> None:
        self.active = tuple(faults)
        self._random = random.Random(seed)  # noqa: S311 # no secret
        self._exempt: set[tuple[int, int]] = set()

    def __str__(self) -> str:
        """Return the active faults as the value of the property."""
        return ",".join(map(str, self.active)) or NONE

    def draw(self, names: Collection[str]) -> Fault | None:
        """Return the first active fault of *names* that this request has, or None."""
        for fault in self.active:
            if fault.name in names and self._random.random() < fault.share:
                return fault
        return None

    def is_exempt(self, connection: int, opaque: int) -> bool:
        """Return whether a response is that of a change of faults, and forget it."""
        is_exempt = (connection, opaque) in self._exempt
        self._exempt.discard((connection, opaque))
        return is_exempt

    def around_update(self, handler: Handler) -> Handler:
        """Return the handler of UPDATE_BROKER_CONFIG that also changes the faults."""

        def handle(request: Request) -> Response | None:
            self._exempt.add((request.connection, request.opaque))
            settings = read_properties(request.body.decode("utf-8", "replace"))
            text = settings.pop(SETTING, None)
            if text is None:
                return handler(request)
            try:
                self.active = parse_faults([text])
            except FaultError as error:
                return Response(ResponseCode.SYSTEM_ERROR, str(error))
            if not settings:
                return Response()
            request.body = write_properties(settings).encode()
            return handler(request)

        return handle

    def around_get(self, handler: Handler) -> Handler:
        """Return the handler of GET_BROKER_CONFIG that also shows the faults."""

        def handle(request: Request) -> Response | None:
            response = handler(request)
            if response is None or response.code != ResponseCode.SUCCESS:
                return response
            line = write_properties({SETTING: self}).encode()
            return replace(response, body=response.body + line)

        return handle


def refuse_faults(handler: Handler) -> Handler:
    """Return the handler of UPDATE_BROKER_CONFIG of a server without ``--fault``."""

    def handle(request: Request) -> Response | None:
        if SETTING in read_properties(request.body.decode("utf-8", "replace")):
            return Response(ResponseCode.SYSTEM_ERROR, NO_FAULTS)
        return handler(request)

    return handle
