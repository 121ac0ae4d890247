"""
A played broker: it answers as a good one would, until a test gives it another script.

It stores nothing but what a test puts on its shelf, and remembers who said what.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import defaultdict
from dataclasses import replace

from conformance.client.player import Asked, Player, answering, texts
from spec.host import Host
from spec.layout import LayoutError
from spec.store.message_record import Record, encode_record
from spec.wire.command import Command, CommandFlag
from spec.wire.fastjson import dumps, loads
from spec.wire.heartbeat import Heartbeat
from spec.wire.json_body import decode_body
from spec.wire.message_id import encode_message_id
from spec.wire.properties import encode_properties
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode
from spec.wire.send import LETTERS

SENDS = (
    RequestCode.SEND_MESSAGE,
    RequestCode.SEND_MESSAGE_V2,
    RequestCode.SEND_BATCH_MESSAGE,
    RequestCode.SEND_REPLY_MESSAGE_V2,
)
SOURCE_OF_LETTER = {letter: name for name, letter in LETTERS.items()}
LOG_STEP = 1000
"""Bytes of the commit log that a made-up record seems to take."""


class Broker(Player):
    """A master of some name."""

    def __init__(self, name: str, *, port: int = 0, also: int | None = None) -> None:
        self.offsets: dict[tuple[str, str, int], int] = {}
        """What was committed, by group, topic and queue."""
        self.begins_at: dict[tuple[str, int], int] = {}
        """By topic and queue, the offset of the first message that is left."""
        self.members: list[str] | None = None
        """Whom it names as a group's members; None for who sent heartbeats."""
        self.others: list[str] = []
        """Whom it names beside those who sent heartbeats."""
        self.locks = True
        """Whether it grants locks."""
        self.suggests = 0
        """The broker id that it suggests for the next pull."""
        self._numbers = itertools.count()
        self._shelf: dict[tuple[str, int], list[Record]] = defaultdict(list)
        self._held: dict[tuple[str, int], list[Asked]] = defaultdict(list)
        super().__init__(name, port=port, also=also)
        self.otherwise = answering(
            ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark="not played"
        )
        for code in SENDS:
            self.on(code, self.store)
        self.on(RequestCode.GET_CONSUMER_LIST_BY_GROUP, self._name_members)
        self.on(RequestCode.QUERY_CONSUMER_OFFSET, self._tell_offset)
        self.on(RequestCode.UPDATE_CONSUMER_OFFSET, self._commit)
        self.on(RequestCode.GET_MAX_OFFSET, self._tell_end)
        self.on(RequestCode.GET_MIN_OFFSET, self._tell_begin)
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
            self.on(code, answering())

    @property
    def sends(self) -> list[Asked]:
        """The requests so far that carry messages."""
        return self.requests(*SENDS)

    def wait_for_sends(self, count: int = 1) -> list[Asked]:
        """Return the first *count* requests that carry messages."""
        return self.wait_for(*SENDS, count=count)

    def store(self, asked: Asked) -> None:
        """Say that a message is stored, with the code SUCCESS."""
        self.stored(asked, ResponseCode.SUCCESS)

    def stored(self, asked: Asked, code: int) -> None:
        """Say with *code* that a message is stored, if anybody waits for it."""
        if not asked.command.is_oneway:
            asked.answer(code, fields=self.place(asked))

    def place(self, asked: Asked) -> dict[str, str]:
        """Return the fields that say where a message is stored."""
        number = next(self._numbers)
        host = Host.of(*self.address)
        fields = {
            "msgId": encode_message_id(host, number * LOG_STEP),
            "queueId": header_of(asked)["queueId"],
            "queueOffset": number,
        }
        return texts(fields)

    def put(self, topic: str, body: bytes, *, queue_id: int = 0, **more: str) -> Record:
        """Put a message on the shelf, and answer a pull that waits for one."""
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
        """Put *record* on the shelf as the next of its queue."""
        place = (record.topic, record.queue_id)
        kept = replace(record, queue_offset=self._end(place))
        self._shelf[place].append(kept)
        for waiting in self._held.pop(place, []):
            with contextlib.suppress(OSError):  # the client has gone meanwhile
                self.pull(waiting)
        return kept

    def pull(self, asked: Asked) -> None:
        """Answer a pull, or keep it until there is something."""
        fields = asked.command.fields
        place = (fields["topic"], int(fields["queueId"]))
        offset = int(fields["queueOffset"])
        begin, end = self.begins_at.get(place, 0), self._end(place)
        if begin <= offset < end:
            found = self._shelf[place][offset - begin :][: int(fields["maxMsgNums"])]
            body = b"".join(map(encode_record, found))
            self.pulled(asked, 0, next_offset=offset + len(found), body=body)
        elif offset == end:
            self._held[place].append(asked)
        else:
            moved = ResponseCode.PULL_OFFSET_MOVED
            self.pulled(asked, moved, next_offset=max(begin, min(offset, end)))

    def pulled(
        self, asked: Asked, code: int, *, next_offset: int, body: bytes = b""
    ) -> None:
        """Answer a pull with *code*."""
        fields = asked.command.fields
        place = (fields["topic"], int(fields["queueId"]))
        told = {
            "suggestWhichBrokerId": self.suggests,
            "nextBeginOffset": next_offset,
            "minOffset": self.begins_at.get(place, 0),
            "maxOffset": self._end(place),
        }
        asked.answer(code, fields=texts(told), body=body)

    def tell_of_change(self, asked: Asked, group: str) -> None:
        """Tell the client that asked something that its group's members changed."""
        change = Command(
            code=RequestCode.NOTIFY_CONSUMER_IDS_CHANGED,
            opaque=9,
            flag=CommandFlag.ONE_WAY,
            language="JAVA",
            fields={"consumerGroup": group},
        )
        self.ask(asked.conversation, change)

    def heard(self) -> list[Heartbeat]:
        """Return the heartbeats so far."""
        found = self.requests(RequestCode.HEART_BEAT)
        return [decode_body(Heartbeat, one.command.body) for one in found]

    def _end(self, place: tuple[str, int]) -> int:
        return self.begins_at.get(place, 0) + len(self._shelf[place])

    def _name_members(self, asked: Asked) -> None:
        group = asked.command.fields["consumerGroup"]
        try:
            told = {
                beat.client_id
                for beat in self.heard()
                if any(one.group == group for one in beat.consumers)
            }
        except LayoutError:
            told = set()
        named = sorted(told.union(self.others))
        named = named if self.members is None else self.members
        asked.answer(0, body=dumps({"consumerIdList": named}))

    def _tell_offset(self, asked: Asked) -> None:
        offset = self.offsets.get(_queue_of(asked))
        if offset is None:
            asked.answer(ResponseCode.QUERY_NOT_FOUND, remark="never committed")
        else:
            asked.answer(0, fields=texts({"offset": offset}))

    def _commit(self, asked: Asked) -> None:
        self.offsets[_queue_of(asked)] = int(asked.command.fields["commitOffset"])
        if not asked.command.is_oneway:
            asked.answer(0)

    def _tell_end(self, asked: Asked) -> None:
        fields = asked.command.fields
        end = self._end((fields["topic"], int(fields["queueId"])))
        asked.answer(0, fields=texts({"offset": end}))

    def _tell_begin(self, asked: Asked) -> None:
        fields = asked.command.fields
        place = (fields["topic"], int(fields["queueId"]))
        asked.answer(0, fields=texts({"offset": self.begins_at.get(place, 0)}))

    def _lock(self, asked: Asked) -> None:
        locked = locked_names(asked) if self.locks else []
        asked.answer(0, body=dumps({"lockOKMQSet": locked}))


def locked_names(asked: Asked) -> list[object]:
    """Return the queues that a request locks or unlocks, as its body has them."""
    body = loads(asked.command.body)
    assert isinstance(body, dict)
    found = body["mqSet"]
    assert isinstance(found, list)
    return found


def header_of(asked: Asked) -> dict[str, str]:
    """Return the header fields of a send by their whole names."""
    fields = asked.command.fields
    if asked.command.code == RequestCode.SEND_MESSAGE:
        return dict(fields)
    return {SOURCE_OF_LETTER.get(name, name): fields[name] for name in fields}


def _queue_of(asked: Asked) -> tuple[str, str, int]:
    fields = asked.command.fields
    return fields["consumerGroup"], fields["topic"], int(fields["queueId"])
