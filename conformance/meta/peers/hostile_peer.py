"""
Name server and broker with one bad habit, as a program of a target file and in-process.

It ends at a send, never responds after it, lacks administrators' requests, or writes
headers that are hard to read.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path

from conformance.harness.client.lying_server import LyingServer, honest
from spec.wire.bodies.fastjson import dumps
from spec.wire.remoting.command import Command, decode_command, encode_command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

EXIT_STATUS = 7
LAST_WORDS = "panicked at 'no entry found for key'"
SENDS = (RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2)
ADMIN = (RequestCode.UPDATE_AND_CREATE_TOPIC, RequestCode.DELETE_TOPIC_IN_BROKER)
OF_A_TOPIC = (RequestCode.GET_ROUTEINFO_BY_TOPIC, RequestCode.PULL_MESSAGE)
"""Requests that it refuses for unknown topics."""
HIGHEST = 10_000
"""No release has a higher request code."""
NONSENSE = "rmqc_probe_that_is_not_there"


class Habit(StrEnum):
    """Bad habit of a hostile peer."""

    ENDS = "ends"
    """It ends at the first send, as a program that panics."""
    HANGS = "hangs"
    """It responds to nothing after the first send."""
    LACKS_ADMIN = "lacks-admin"
    """It answers administrators' requests with REQUEST_CODE_NOT_SUPPORTED."""
    REFUSES_ADMIN = "refuses-admin"
    """It answers administrators' requests with SYSTEM_ERROR."""
    LACKS_SETTINGS = "lacks-settings"
    """It answers GET_BROKER_CONFIG with REQUEST_CODE_NOT_SUPPORTED."""
    LACKS_SEND = "lacks-send"
    """It answers SEND_MESSAGE with REQUEST_CODE_NOT_SUPPORTED, unless it is oneway."""
    REFUSES_SENDS = "refuses-sends"
    """It answers sends with SYSTEM_ERROR; topics have a route."""
    WRONG_OPAQUES = "wrong-opaques"
    """It answers sends with SYSTEM_ERROR and an opaque of no request."""
    ZERO_OPAQUES = "zero-opaques"
    """Its error responses have opaque 0, also the right ones to unreadable bodies."""
    CLOSES = "closes"
    """It closes the connection on SEND_MESSAGE and on codes of no release."""
    STAYS_SILENT = "stays-silent"
    """It leaves SEND_MESSAGE and codes of no release unanswered."""
    STORES_NOTHING = "stores-nothing"
    """It answers GET_KV_CONFIG without a value."""
    NULL_FIELDS = "null-fields"
    """Its responses have ``"extFields":null``."""
    TEXT_FOR_NUMBER = "text-for-number"
    """The code of its responses is a word."""


UNANSWERED = {Habit.CLOSES: b"", Habit.STAYS_SILENT: None}
"""Reaction to an unknown request code, by habit."""
REFUSALS = {Habit.REFUSES_SENDS: "not today", Habit.WRONG_OPAQUES: "not forwarded"}
"""Remark of the error response to a send, by habit."""


class HostilePeer:
    """Server of all requests, on one port."""

    def __init__(self, habit: Habit, *, port: int = 0) -> None:
        self._habit = habit
        self._has_hung = threading.Event()
        self.topics: set[str] = set()
        """Topics that were created."""
        self._value = ""
        """Last value of PUT_KV_CONFIG."""
        self.server = LyingServer(self._handle, port=port)
        self.broker = self.server.address
        self.end: Callable[[], None] = self.server.stop

    def _handle(self, request: Command) -> bytes | None:
        if request.code == RequestCode.UPDATE_AND_CREATE_TOPIC:
            self.topics.add(request.fields.get("topic", ""))
        is_unknown = request.code > HIGHEST or request.code == RequestCode.SEND_MESSAGE
        if is_unknown and self._habit in UNANSWERED:
            return UNANSWERED[self._habit]
        response = self._response(request)
        if response and self._habit is Habit.ZERO_OPAQUES:
            response = _without_opaque(response)
        return None if response and request.is_oneway else response

    def _response(self, request: Command) -> bytes | None:
        """Return the response to *request*, as if it was not oneway."""
        if self._has_hung.is_set():
            return None
        if request.code in SENDS and self._habit is Habit.ENDS:
            self.end()
            return b""
        if request.code in SENDS and self._habit is Habit.HANGS:
            self._has_hung.set()
            return None
        if request.code == RequestCode.GET_BROKER_CLUSTER_INFO:
            return honest(request, body=self._cluster_info())
        if NONSENSE in request.fields.values() or request.code > HIGHEST:
            return honest(request, code=ResponseCode.SYSTEM_ERROR)
        if self._lacks(request):
            return honest(request, code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED)
        if request.code in ADMIN and self._habit is Habit.REFUSES_ADMIN:
            return honest(request, code=ResponseCode.SYSTEM_ERROR, remark="not today")
        if request.code in SENDS and self._habit in REFUSALS:
            wrong = 1_000_000 if self._habit is Habit.WRONG_OPAQUES else 0
            return honest(
                request,
                code=ResponseCode.SYSTEM_ERROR,
                opaque=request.opaque + wrong,
                remark=REFUSALS[self._habit],
            )
        if (
            request.code in OF_A_TOPIC
            and request.fields.get("topic") not in self.topics
        ):
            return honest(request, code=ResponseCode.TOPIC_NOT_EXIST)
        if request.code == RequestCode.GET_ROUTEINFO_BY_TOPIC:
            return honest(request, body=self._route())
        return self._odd_header(request)

    def _lacks(self, request: Command) -> bool:
        """Return whether it does not have the *request*."""
        if self._habit is Habit.LACKS_SEND:
            return request.code == RequestCode.SEND_MESSAGE
        if self._habit is Habit.LACKS_SETTINGS:
            return request.code == RequestCode.GET_BROKER_CONFIG
        return self._habit is Habit.LACKS_ADMIN and request.code in ADMIN

    def _odd_header(self, request: Command) -> bytes:
        if self._habit is Habit.ZERO_OPAQUES and request.body == b"{":
            return honest(request, code=ResponseCode.SYSTEM_ERROR)
        header = {"code": 0, "flag": 1, "language": "OTHER", "opaque": request.opaque}
        if self._habit is Habit.NULL_FIELDS:
            return _frame({**header, "version": 0, "extFields": None})
        if self._habit is Habit.TEXT_FOR_NUMBER:
            return _frame({**header, "version": 0, "code": "fine"})
        return honest(request, fields=self._fields(request))

    def _fields(self, request: Command) -> dict[str, str]:
        """Return the fields of the response to *request*."""
        if request.code == RequestCode.PUT_KV_CONFIG:
            self._value = request.fields.get("value", "")
        is_get = request.code == RequestCode.GET_KV_CONFIG
        has_value = is_get and self._habit is not Habit.STORES_NOTHING
        return {"value": self._value} if has_value else {}

    def _route(self) -> bytes:
        addresses = {"0": str(self.broker)}
        broker = {"brokerName": "b", "cluster": "c", "brokerAddrs": addresses}
        queues = {"brokerName": "b", "readQueueNums": 4, "writeQueueNums": 3}
        queues |= {"perm": 6, "topicSynFlag": 0}
        return dumps({"brokerDatas": [broker], "queueDatas": [queues]})

    def _cluster_info(self) -> bytes:
        broker = {"brokerName": "b", "brokerAddrs": {0: str(self.broker)}}
        broker["cluster"] = "c"
        table = {"brokerAddrTable": {"b": broker}, "clusterAddrTable": {"c": ["b"]}}
        return dumps(table)


def _without_opaque(data: bytes) -> bytes:
    """Return the response *data* with opaque 0 if it is an error."""
    response = decode_command(data)
    is_error = response.code != ResponseCode.SUCCESS
    return encode_command(replace(response, opaque=0)) if is_error else data


def _frame(header: dict[str, object]) -> bytes:
    data = json.dumps(header).encode()
    return (len(data) + 4).to_bytes(4) + len(data).to_bytes(4) + data


@contextmanager
def running(habit: Habit) -> Iterator[str]:
    """Yield the address of a peer with a bad *habit*."""
    with HostilePeer(habit).server as server:
        yield str(server.address)


def main() -> None:
    """Serve on two ports until the habit ends the program: HABIT NAMESRV BROKER MARK.

    A program that ends leaves the file MARK. One that finds it has another habit.
    """
    habit, *ports, mark = sys.argv[1:]
    has_ended = bool(mark) and Path(mark).exists()
    shown = Habit.LACKS_ADMIN if has_ended else Habit(habit)
    broker, namesrv = (HostilePeer(shown, port=int(one)) for one in ports[::-1])
    namesrv.broker, namesrv.topics = broker.server.address, broker.topics
    broker.end = namesrv.end = partial(_end_program, mark)
    with broker.server, namesrv.server:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        threading.Event().wait()


def _end_program(mark: str) -> None:
    if mark:
        Path(mark).touch()
    sys.stdout.write(LAST_WORDS)
    sys.stdout.flush()
    os._exit(EXIT_STATUS)


if __name__ == "__main__":
    main()
