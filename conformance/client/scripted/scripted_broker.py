"""
A scripted broker: it responds correctly until a test sets another script.

Its queues have only the messages that a test puts into them.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import defaultdict
from dataclasses import replace

from conformance.client.scripted.scripted_server import (
    ReceivedRequest,
    ScriptedServer,
    responding,
    texts,
)
from spec.host import Host
from spec.layout import LayoutError
from spec.store.message_record import Record, encode_record
from spec.wire.bodies.fastjson import dumps, loads
from spec.wire.bodies.heartbeat import HeartbeatData
from spec.wire.bodies.json_body import decode_body
from spec.wire.bodies.json_object import as_object, list_in
from spec.wire.message.message_id import encode_message_id
from spec.wire.message.properties import encode_properties
from spec.wire.remoting.command import Command, CommandFlag
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode
from spec.wire.send.send import LETTERS

SENDS = (
    RequestCode.SEND_MESSAGE,
    RequestCode.SEND_MESSAGE_V2,
    RequestCode.SEND_BATCH_MESSAGE,
    RequestCode.SEND_REPLY_MESSAGE_V2,
)
SOURCE_OF_LETTER = {letter: name for name, letter in LETTERS.items()}
LOG_STEP = 1000
"""Distance of two records in its commit log."""


class ScriptedBroker(ScriptedServer):
    """A master."""

    def __init__(
        self, name: str, *, port: int = 0, vip_port: int | None = None
    ) -> None:
        self.offsets: dict[tuple[str, str, int], int] = {}
        """Committed offsets by group, topic and queue id."""
        self.begins_at: dict[tuple[str, int], int] = {}
        """Min offsets by topic and queue id."""
        self.members: list[str] | None = None
        """Consumer ids of every group; None for those of heartbeats."""
        self.others: list[str] = []
        """Consumer ids before those of heartbeats, so that the list is not sorted."""
        self.locks = True
        """Whether it grants locks."""
        self.suggests = 0
        """Suggested broker id of the next pull."""
        self._numbers = itertools.count()
        self._stored: dict[tuple[str, int], list[Record]] = defaultdict(list)
        self._held: dict[tuple[str, int], list[ReceivedRequest]] = defaultdict(list)
        super().__init__(name, port=port, vip_port=vip_port)
        self.default_script = responding(
            ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark="not played"
        )
        for code in SENDS:
            self.on(code, self.store)
        self.on(RequestCode.GET_CONSUMER_LIST_BY_GROUP, self._consumer_list)
        self.on(RequestCode.QUERY_CONSUMER_OFFSET, self._query_offset)
        self.on(RequestCode.UPDATE_CONSUMER_OFFSET, self._commit)
        self.on(RequestCode.GET_MAX_OFFSET, self._max_offset)
        self.on(RequestCode.GET_MIN_OFFSET, self._min_offset)
        self.on(RequestCode.PULL_MESSAGE, self.pull)
        self.on(RequestCode.LOCK_BATCH_MQ, self._lock)
        for code in (
            RequestCode.HEART_BEAT,
            RequestCode.CHECK_CLIENT_CONFIG,
            RequestCode.UNREGISTER_CLIENT,
            RequestCode.UNLOCK_BATCH_MQ,
            RequestCode.CONSUMER_SEND_MSG_BACK,
            RequestCode.END_TRANSACTION,
        ):
            self.on(code, responding())

    @property
    def sends(self) -> list[ReceivedRequest]:
        """The send requests received."""
        return self.requests(*SENDS)

    def wait_for_sends(self, count: int = 1) -> list[ReceivedRequest]:
        """Wait for *count* send requests, and return them."""
        return self.wait_for(*SENDS, count=count)

    def store(self, request: ReceivedRequest) -> None:
        """Respond to a send with SUCCESS."""
        self.respond_to_send(request, ResponseCode.SUCCESS)

    def respond_to_send(self, request: ReceivedRequest, code: int) -> None:
        """Respond to a send with *code*, unless it is oneway."""
        if not request.command.is_oneway:
            request.respond(code, fields=self.put_result_fields(request))

    def put_result_fields(self, request: ReceivedRequest) -> dict[str, str]:
        """Build the header fields of a send's response (Java: PutMessageResult)."""
        number = next(self._numbers)
        host = Host.of(*self.address)
        fields = {
            "msgId": encode_message_id(host, number * LOG_STEP),
            "queueId": header_of(request)["queueId"],
            "queueOffset": number,
        }
        return texts(fields)

    def put(self, topic: str, body: bytes, *, queue_id: int = 0, **more: str) -> Record:
        """Append a message, and respond to held pulls."""
        place = (topic, queue_id)
        number = next(self._numbers)
        record = Record(
            topic=topic,
            queue_id=queue_id,
            queue_offset=self._end(place),
            physical_offset=number * LOG_STEP,
            body=body,
            properties=encode_properties(more),
            born_at_ms=1_600_000_000_000,
            born_host=Host.of("127.0.0.1", 1),
            stored_at_ms=1_600_000_000_001,
            store_host=Host.of(*self.address),
        )
        return self.put_record(record)

    def put_record(self, record: Record) -> Record:
        """Append *record* to its queue."""
        place = (record.topic, record.queue_id)
        kept = replace(record, queue_offset=self._end(place))
        self._stored[place].append(kept)
        for waiting in self._held.pop(place, []):
            with contextlib.suppress(OSError):  # the client has gone meanwhile
                self.pull(waiting)
        return kept

    def pull(self, request: ReceivedRequest) -> None:
        """Respond to a pull, or hold it."""
        fields = request.command.fields
        place = (fields["topic"], int(fields["queueId"]))
        offset = int(fields["queueOffset"])
        begin, end = self.begins_at.get(place, 0), self._end(place)
        if begin <= offset < end:
            found = self._stored[place][offset - begin :][: int(fields["maxMsgNums"])]
            body = b"".join(map(encode_record, found))
            self.respond_to_pull(request, 0, next_offset=offset + len(found), body=body)
        elif offset == end:
            self._held[place].append(request)
        else:
            moved = ResponseCode.PULL_OFFSET_MOVED
            self.respond_to_pull(
                request, moved, next_offset=max(begin, min(offset, end))
            )

    def respond_to_pull(
        self,
        request: ReceivedRequest,
        code: int,
        *,
        next_offset: int,
        body: bytes = b"",
    ) -> None:
        """Respond to a pull with *code*."""
        fields = request.command.fields
        place = (fields["topic"], int(fields["queueId"]))
        header = {
            "suggestWhichBrokerId": self.suggests,
            "nextBeginOffset": next_offset,
            "minOffset": self.begins_at.get(place, 0),
            "maxOffset": self._end(place),
        }
        request.respond(code, fields=texts(header), body=body)

    def notify_consumer_ids_changed(self, request: ReceivedRequest, group: str) -> None:
        """Send NOTIFY_CONSUMER_IDS_CHANGED over the request's connection."""
        change = Command(
            code=RequestCode.NOTIFY_CONSUMER_IDS_CHANGED,
            opaque=9,
            flag=CommandFlag.ONEWAY,
            language="JAVA",
            fields={"consumerGroup": group},
        )
        self.send_request(request.connection, change)

    def heartbeats(self) -> list[HeartbeatData]:
        """Return the heartbeats received."""
        found = self.requests(RequestCode.HEART_BEAT)
        return [decode_body(HeartbeatData, one.command.body) for one in found]

    def wait_for_end(self) -> None:
        """Wait until a client unregisters, or has closed its connections."""
        self.wait_until(
            lambda: (
                self.has_no_connection
                or bool(self.requests(RequestCode.UNREGISTER_CLIENT))
            ),
            what="the client unregisters, or closes its connections",
        )

    def _end(self, place: tuple[str, int]) -> int:
        return self.begins_at.get(place, 0) + len(self._stored[place])

    def _consumer_list(self, request: ReceivedRequest) -> None:
        group = request.command.fields["consumerGroup"]
        beats = self.requests(RequestCode.HEART_BEAT)
        found = (members_of_heartbeat(one.command.body) for one in beats)
        ids = {client_id for client_id, groups in found if group in groups}
        named = [*self.others, *sorted(ids)] if self.members is None else self.members
        request.respond(0, body=dumps({"consumerIdList": named}))

    def _query_offset(self, request: ReceivedRequest) -> None:
        offset = self.offsets.get(_queue_of(request))
        if offset is None:
            request.respond(ResponseCode.QUERY_NOT_FOUND, remark="never committed")
        else:
            request.respond(0, fields=texts({"offset": offset}))

    def _commit(self, request: ReceivedRequest) -> None:
        self.offsets[_queue_of(request)] = int(request.command.fields["commitOffset"])
        if not request.command.is_oneway:
            request.respond(0)

    def _max_offset(self, request: ReceivedRequest) -> None:
        fields = request.command.fields
        end = self._end((fields["topic"], int(fields["queueId"])))
        request.respond(0, fields=texts({"offset": end}))

    def _min_offset(self, request: ReceivedRequest) -> None:
        fields = request.command.fields
        place = (fields["topic"], int(fields["queueId"]))
        request.respond(0, fields=texts({"offset": self.begins_at.get(place, 0)}))

    def _lock(self, request: ReceivedRequest) -> None:
        locked = locked_names(request) if self.locks else []
        request.respond(0, body=dumps({"lockOKMQSet": locked}))


def locked_names(request: ReceivedRequest) -> list[object]:
    """Return the queues in the body of a lock or unlock request.

    The C++ client omits mqSet where it has none.
    """
    body = loads(request.command.body)
    assert isinstance(body, dict)
    found = body.get("mqSet", [])
    assert isinstance(found, list)
    return found


def header_of(request: ReceivedRequest) -> dict[str, str]:
    """Return the header of a send, with full field names."""
    fields = request.command.fields
    if request.command.code == RequestCode.SEND_MESSAGE:
        return dict(fields)
    return {SOURCE_OF_LETTER.get(name, name): fields[name] for name in fields}


def _queue_of(request: ReceivedRequest) -> tuple[str, str, int]:
    fields = request.command.fields
    return fields["consumerGroup"], fields["topic"], int(fields["queueId"])


def members_of_heartbeat(body: bytes) -> tuple[str, list[str]]:
    """Return the client id and the consumer groups in the *body* of a heartbeat.

    No other member is read. The C++ client writes enumerations as numbers, which a
    broker accepts and `HeartbeatData` does not.
    """
    try:
        data = as_object(loads(body))
        consumers = list_in(data, "consumerDataSet")
        groups = [str(as_object(one).get("groupName")) for one in consumers]
    except LayoutError:
        return "", []
    return str(data.get("clientID")), groups
