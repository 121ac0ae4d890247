"""
Asking producers about half messages that nobody decided on.

Now and then the broker walks the half topic. What is noted as done is passed over.
What is too young waits. For the rest the half message is written once more, so that
the walk can move on, and a member of its producer group is asked. After a number of
times, or days, it is put aside.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from reference.core.answer import SYSTEM_ERROR, Answer, encode_notice, refusal
from reference.core.broker.transactions import (
    DONE_TAG,
    HALF_TOPIC,
    OPERATIONS_TOPIC,
)
from reference.core.request import Request
from reference.core.store.api import NewMessage, PutResult, PutStatus
from spec.layout import LayoutError
from spec.store.message_record import Record, decode_record, encode_record
from spec.wire.message_id import decode_message_id, encode_message_id
from spec.wire.properties import Property, decode_properties, encode_properties
from spec.wire.request_code import RequestCode

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

GROUP = "CID_RMQ_SYS_TRANS"
"""Under this group's name the walk remembers how far it is."""
GIVEN_UP_TOPIC = "TRANS_CHECK_MAX_TIME_TOPIC"
_BATCH = 32
_HOUR_MS = 3_600_000


@dataclass(slots=True)
class Walk:
    """One walk over one queue of half messages."""

    queue_id: int
    half_offset: int
    operations_offset: int
    """Where unread notes begin."""
    next_operation: int
    done: dict[int, int] = field(default_factory=dict)
    """Queue offset of a half message to that of the note about it."""
    finished: set[int] = field(default_factory=set)
    """Notes that are not needed any more."""


def check_transactions(broker: Broker, now_ms: int) -> None:
    """Walk the half topic and ask about what is due."""
    topic = broker.topics.create_once(
        HALF_TOPIC, queue_count=1, permission=6, now_ms=now_ms
    )
    for queue_id in range(topic.read_queue_count):
        _walk(broker, queue_id, now_ms)


def _walk(broker: Broker, queue_id: int, now_ms: int) -> None:
    half = _consumed(broker, HALF_TOPIC, queue_id)
    noted = _consumed(broker, OPERATIONS_TOPIC, queue_id)
    walk = Walk(queue_id, half, noted, noted)
    _read_notes(broker, walk)
    end = broker.store.max_offset(HALF_TOPIC, queue_id)
    offset = half
    while offset < end:
        if offset in walk.done:
            walk.finished.add(walk.done.pop(offset))  # [TXN-CHECK-008]
        elif not _treat(broker, walk, offset, now_ms):
            break
        offset += 1
    if offset != half:
        broker.offsets.commit(GROUP, HALF_TOPIC, queue_id, offset)  # [TXN-CHECK-016]
    while noted in walk.finished:
        noted += 1
    if noted != walk.operations_offset:
        broker.offsets.commit(GROUP, OPERATIONS_TOPIC, queue_id, noted)


def _treat(broker: Broker, walk: Walk, offset: int, now_ms: int) -> bool:
    """Deal with one undecided half message; return whether the walk may move on."""
    half = _record(broker, HALF_TOPIC, walk.queue_id, offset)
    if half is None:
        return True
    properties = decode_properties(half.properties)
    age_ms = now_ms - half.born_at_ms
    if _is_given_up(broker, properties, age_ms):
        _put_aside(broker, half, now_ms)
        return True
    if half.stored_at_ms >= now_ms:
        return False
    immunity_ms, is_own = _immunity_ms(broker, properties)  # [TXN-CHECK-012]
    times = int(properties.get(Property.TRANSACTION_CHECK_TIMES, "0")) + 1
    properties[Property.TRANSACTION_CHECK_TIMES] = str(times)  # [TXN-CHECK-020]
    renewed = replace(half, properties=encode_properties(properties))
    if age_ms < immunity_ms and is_own:
        return _wait_behind(broker, walk, renewed, now_ms)
    if 0 <= age_ms < immunity_ms:  # [TXN-CHECK-004] [TXN-CHECK-005]
        return False  # [TXN-CHECK-015]
    result = _put_again(broker, renewed, now_ms)  # [TXN-CHECK-006]
    if not result.is_stored:
        return False
    _ask(broker, replace(renewed, physical_offset=result.physical_offset), result)
    return True


def _is_given_up(broker: Broker, properties: dict[str, str], age_ms: int) -> bool:
    times = int(properties.get(Property.TRANSACTION_CHECK_TIMES, "0"))
    if times >= broker.options.number("transactionCheckMax"):  # [TXN-CHECK-009]
        return True
    # [TXN-CHECK-011]
    return age_ms > broker.options.number("fileReservedTime") * _HOUR_MS


def _immunity_ms(broker: Broker, properties: dict[str, str]) -> tuple[int, bool]:
    """Return for how long a half message is left alone, and whether it says so."""
    own = properties.get(Property.CHECK_IMMUNITY_TIME_IN_SECONDS)
    usual_ms = broker.options.number("transactionTimeOut")
    if own is None:
        return usual_ms, False
    seconds = int(own) if own.lstrip("-").isdecimal() else -1
    return (usual_ms if seconds == -1 else seconds * 1000), True


def _wait_behind(broker: Broker, walk: Walk, half: Record, now_ms: int) -> bool:
    """Let a half message that asked for time wait at the end of the queue."""
    properties = decode_properties(half.properties)
    first = properties.get(Property.TRAN_PREPARED_QUEUE_OFFSET)
    if first is not None and int(first) in walk.done:
        walk.finished.add(walk.done.pop(int(first)))
        return True
    # [TXN-CHECK-013]
    properties[Property.TRAN_PREPARED_QUEUE_OFFSET] = first or str(half.queue_offset)
    renewed = replace(half, properties=encode_properties(properties))
    return _put_again(broker, renewed, now_ms).is_stored


def _put_again(broker: Broker, half: Record, now_ms: int) -> PutResult:
    again = _as_new(half, half.topic, half.queue_id)
    again = again._replace(flag=0, reconsume_times=0)  # [TXN-CHECK-021]
    result = broker.store.put(again, now_ms)
    broker.stored(result)
    return result


def resume_check(broker: Broker, request: Request) -> Answer:
    """Put a message among the half messages again, as one never asked about."""
    try:
        _, offset = decode_message_id(request.optional_text("msgId") or "")
    except LayoutError as error:
        return refusal(SYSTEM_ERROR, str(error))
    found = broker.record_at(offset)
    if found is None:
        return refusal(SYSTEM_ERROR, f"there is no message at {offset}")
    properties = decode_properties(found.properties)
    properties[Property.TRANSACTION_CHECK_TIMES] = "0"  # [TXN-RESUME-001]
    anew = replace(found, properties=encode_properties(properties))
    result = broker.store.put(_as_new(anew, HALF_TOPIC, 0), request.now_ms)
    broker.stored(result)
    if result.status is PutStatus.PUT_OK:
        return Answer()
    return refusal(SYSTEM_ERROR, result.status.name)


def _put_aside(broker: Broker, half: Record, now_ms: int) -> None:
    topic = broker.topics.create_once(
        GIVEN_UP_TOPIC, queue_count=1, permission=6, now_ms=now_ms
    )
    broker.stored(broker.store.put(_as_new(half, topic.name, 0), now_ms))


def _as_new(half: Record, topic: str, queue_id: int) -> NewMessage:
    return NewMessage(
        topic=topic,
        queue_id=queue_id,
        body=half.body,
        properties=half.properties,
        flag=half.flag,
        system_flags=half.system_flags,
        born_at_ms=half.born_at_ms,
        born_host=half.born_host,
        store_host=half.store_host,
        reconsume_times=half.reconsume_times,
        wait_until_stored=False,
    )


def _ask(broker: Broker, half: Record, result: PutResult) -> None:
    """Ask a member of the producer group what became of the transaction."""
    properties = decode_properties(half.properties)
    client = broker.clients.any_producer(properties.get(Property.PGROUP, ""))
    if client is None:  # [TXN-CHECK-014]
        return
    shown = replace(  # [TXN-CHECK-003]
        half,
        topic=properties.get(Property.REAL_TOPIC, half.topic),
        queue_id=int(properties.get(Property.REAL_QID, "0")),
        queue_offset=result.queue_offset,
    )
    key = properties.get(Property.UNIQ_KEY, "")
    fields = {  # [TXN-CHECK-002]
        "commitLogOffset": str(result.physical_offset),
        "tranStateTableOffset": str(result.queue_offset),
        "msgId": key,
        "transactionId": key,
        "offsetMsgId": encode_message_id(half.store_host, result.physical_offset),
    }
    notice = encode_notice(  # [TXN-CHECK-001]
        RequestCode.CHECK_TRANSACTION_STATE, fields, encode_record(shown)
    )
    broker.send(client.connection, notice)


def _read_notes(broker: Broker, walk: Walk) -> None:
    """Read all notes about half messages that the walk can meet."""
    end = broker.store.max_offset(OPERATIONS_TOPIC, walk.queue_id)
    while walk.next_operation < end:
        offset = walk.next_operation
        note = _record(broker, OPERATIONS_TOPIC, walk.queue_id, offset)
        walk.next_operation += 1
        if note is None or not note.body.isdigit():
            continue
        tags = decode_properties(note.properties).get(Property.TAGS)
        if tags != DONE_TAG:
            continue
        if int(note.body) < walk.half_offset:
            walk.finished.add(offset)
        else:
            walk.done[int(note.body)] = offset


def _consumed(broker: Broker, topic: str, queue_id: int) -> int:
    offset = broker.offsets.query(GROUP, topic, queue_id)
    return max(broker.store.min_offset(topic, queue_id), 0) if offset < 0 else offset


def _record(broker: Broker, topic: str, queue_id: int, offset: int) -> Record | None:
    found = broker.store.get(topic, queue_id, offset, 1, None)
    return decode_record(found.records[0]) if found.records else None
