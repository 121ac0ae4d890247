"""
The check of half messages whose producer has neither committed nor rolled back.

A check pass walks over the half topic (Java: TransactionalMessageServiceImpl#check). A
half message with an op message is passed over, one that is too young is left for a
later pass. The others are appended to the half topic once more, so that the pass can go
on. A check request then goes to a member of the producer group. After a number of
checks, or days, a half message is discarded.
"""

from __future__ import annotations

from dataclasses import replace

from reference.core.broker.broker_config import BrokerOptions
from reference.core.broker.query_message import look_message_by_offset
from reference.core.broker.send.put_result import put_message
from reference.core.broker.state import BrokerState
from reference.core.broker.transaction.half_message import (
    HALF_MESSAGE_TRANSITIONS,
    HalfEvent,
    HalfState,
)
from reference.core.remoting.request import Refused, Request
from reference.core.remoting.response import SYSTEM_ERROR, Response
from reference.core.remoting.server import RemotingServer
from reference.core.store.types import PutResult, PutStatus, message_of_record
from reference.core.unexpected import error_text
from spec.integers import parse_java_int, parse_java_long
from spec.layout import LayoutError
from spec.store.message_record import Record, decode_record, encode_record
from spec.wire.message.message_id import decode_message_id, encode_message_id
from spec.wire.message.properties import Property, decode_properties, encode_properties
from spec.wire.message.topic_names import (
    HALF_TOPIC,
    OP_TOPIC,
    TRANS_CHECK_MAX_TIME_TOPIC,
    TRANSACTION_CHECK_GROUP,
)
from spec.wire.message.transaction_checks import DONE_TAG
from spec.wire.remoting.request_code import RequestCode

_HOUR_MS = 3_600_000


def check_transactions(
    state: BrokerState, remoting: RemotingServer, now_ms: int
) -> None:
    """Check the half messages of all queues."""
    topic = state.topics.create_once(HALF_TOPIC, now_ms=now_ms)
    queues = [q for name, q in state.store.queues.table if name == HALF_TOPIC]
    # A tool may give the topic 2,147,483,647 queues, most of which have no messages.
    for queue_id in sorted(q for q in queues if q < topic.read_queue_count):
        CheckPass(state, remoting, queue_id, now_ms).run()


def correct_check_offsets(state: BrokerState) -> None:
    """Set committed offsets of checks behind the end of their queue to the end.

    A crash may lose messages whose check is recorded, and a deleted queue begins again
    at 0. A pass would never read the messages that get these queue offsets next.
    """
    for topic in (HALF_TOPIC, OP_TOPIC):
        committed = state.offsets.of(TRANSACTION_CHECK_GROUP, topic)
        for queue_id, offset in list(committed.items()):
            end = state.store.max_offset(topic, queue_id)
            if offset > end:
                state.offsets.commit(TRANSACTION_CHECK_GROUP, topic, queue_id, end)


class CheckPass:
    """One pass over one queue of half messages."""

    def __init__(
        self, state: BrokerState, remoting: RemotingServer, queue_id: int, now_ms: int
    ) -> None:
        self._state = state
        self._remoting = remoting
        self._queue_id = queue_id
        self._now_ms = now_ms
        self._decided: dict[int, int] = {}
        """Queue offset of a decided half message to that of its op message."""
        self._finished: set[int] = set()
        """Op messages that are not needed any more."""

    def run(self) -> None:
        """Check the half messages, and commit the offsets of the next pass."""
        half = self._first_offset(HALF_TOPIC)
        first_op = op = self._first_offset(OP_TOPIC)
        self._read_op_messages(op, half)
        end = self._state.store.max_offset(HALF_TOPIC, self._queue_id)
        offset = half
        while offset < end:
            if offset in self._decided:
                self._finished.add(self._decided.pop(offset))  # [TXN-CHECK-008]
            elif not self._is_passed(offset):
                break
            offset += 1
        if offset != half:
            self._commit(HALF_TOPIC, offset)  # [TXN-CHECK-016]
        while op in self._finished:
            op += 1
        if op != first_op:
            self._commit(OP_TOPIC, op)

    def _is_passed(self, offset: int) -> bool:
        """Check one half message; a malformed one is passed over."""
        try:
            return self._check_half_message(offset)
        except Exception as error:  # [TXN-CHECK-022]
            text = error_text(error)
            self._remoting.log_error(f"half message {offset} is passed over: {text}")
            return True

    def _check_half_message(self, offset: int) -> bool:
        """Check one undecided half message; return whether the pass may go on."""
        state, now_ms = self._state, self._now_ms
        half = self._record(HALF_TOPIC, offset)
        if half is None:
            return True
        properties = decode_properties(half.properties)
        event = _event(state.options, half, properties, now_ms)
        if event is None:
            return False
        after = HALF_MESSAGE_TRANSITIONS[HalfState.PREPARED, event]
        if after is HalfState.DISCARDED:
            topic = state.topics.create_once(TRANS_CHECK_MAX_TIME_TOPIC, now_ms=now_ms)
            put_message(state, message_of_record(half, topic.name, 0), now_ms)
            return True
        times = _check_times(properties) + 1
        properties[Property.TRANSACTION_CHECK_TIMES] = str(times)  # [TXN-CHECK-020]
        if event is HalfEvent.POSTPONE:
            first = parse_java_long(properties.get(Property.TRAN_PREPARED_QUEUE_OFFSET))
            if first in self._decided:
                self._finished.add(self._decided.pop(first))
                return True
            # [TXN-CHECK-013]
            first = half.queue_offset if first is None else first
            properties[Property.TRAN_PREPARED_QUEUE_OFFSET] = str(first)
        renewed = replace(half, properties=encode_properties(properties))
        again = message_of_record(renewed, half.topic, half.queue_id)
        again.flag = again.reconsume_times = 0  # [TXN-CHECK-021]
        result = put_message(state, again, now_ms)  # [TXN-CHECK-006]
        if result.is_stored and event is HalfEvent.CHECK:
            self._send_check_request(renewed, result)
        return result.is_stored

    def _send_check_request(self, half: Record, result: PutResult) -> None:
        properties = decode_properties(half.properties)
        group = properties.get(Property.PGROUP, "")
        client = self._state.clients.any_producer(group)
        if client is None:  # [TXN-CHECK-014]
            return
        topic = properties.get(Property.REAL_TOPIC)
        queue_id = parse_java_int(properties.get(Property.REAL_QID))
        if topic is None or queue_id is None:
            reason = "names no topic and queue"
            self._remoting.log_error(f"half message {half.queue_offset} {reason}")
            return
        shown = replace(  # [TXN-CHECK-003]
            half,  # [TXN-CHECK-024]
            topic=topic,
            queue_id=queue_id,
            queue_offset=result.queue_offset,
            physical_offset=result.physical_offset,
        )
        key = properties.get(Property.UNIQ_KEY, "")
        fields = {  # [TXN-CHECK-002]
            "commitLogOffset": result.physical_offset,
            "tranStateTableOffset": result.queue_offset,
            "msgId": key,
            "transactionId": key,
            "offsetMsgId": encode_message_id(half.store_host, result.physical_offset),
        }
        code = RequestCode.CHECK_TRANSACTION_STATE  # [TXN-CHECK-001]
        body = encode_record(shown)
        self._remoting.invoke_oneway(client.connection, code, fields, body)

    def _read_op_messages(self, first: int, first_half: int) -> None:
        """Read the op messages from *first* on, of half messages from *first_half*."""
        end = self._state.store.max_offset(OP_TOPIC, self._queue_id)
        for offset in range(first, end):
            op_message = self._record(OP_TOPIC, offset)
            if op_message is None:
                continue
            tags = decode_properties(op_message.properties).get(Property.TAGS)
            if tags != DONE_TAG:
                continue
            decided = parse_java_long(op_message.body.decode("utf-8", "replace"))
            if decided is None or decided < first_half:
                self._finished.add(offset)
            else:
                self._decided[decided] = offset

    def _first_offset(self, topic: str) -> int:
        """Return the committed offset, or the min offset of a queue cleaned since."""
        state, queue_id = self._state, self._queue_id
        committed = state.offsets.query(TRANSACTION_CHECK_GROUP, topic, queue_id)
        return max(committed, state.store.min_offset(topic, queue_id), 0)

    def _commit(self, topic: str, offset: int) -> None:
        group = TRANSACTION_CHECK_GROUP
        self._state.offsets.commit(group, topic, self._queue_id, offset)

    def _record(self, topic: str, offset: int) -> Record | None:
        found = self._state.store.get(topic, self._queue_id, offset, 1)
        return decode_record(found.records[0]) if found.records else None


def _event(
    options: BrokerOptions, half: Record, properties: dict[str, str], now_ms: int
) -> HalfEvent | None:
    """Return the event of a half message in this pass; None while it is too young."""
    age_ms = now_ms - half.born_at_ms
    times = _check_times(properties)
    # [TXN-CHECK-009] [TXN-CHECK-011]
    if times >= options.transaction_check_max:
        return HalfEvent.DISCARD
    if age_ms > options.file_reserved_time * _HOUR_MS:
        return HalfEvent.DISCARD
    if half.stored_at_ms >= now_ms:
        return None
    immunity_ms = options.transaction_time_out
    own = properties.get(Property.CHECK_IMMUNITY_TIME_IN_SECONDS)  # [TXN-CHECK-012]
    if own is not None:
        seconds = parse_java_long(own)
        immunity_ms = immunity_ms if seconds in {None, -1} else seconds * 1000
        if age_ms < immunity_ms:
            return HalfEvent.POSTPONE
    if 0 <= age_ms < immunity_ms:  # [TXN-CHECK-004] [TXN-CHECK-005]
        return None  # [TXN-CHECK-015]
    return HalfEvent.CHECK


def _check_times(properties: dict[str, str]) -> int:
    """Return the number of checks of a half message; -1 if it is not an integer."""
    text = properties.get(Property.TRANSACTION_CHECK_TIMES)
    if text is None:
        return 0
    times = parse_java_int(text)
    return -1 if times is None else times


def resume_check(state: BrokerState, request: Request) -> Response:
    """Append a discarded message to the half topic again, with no check counted."""
    try:
        _, offset = decode_message_id(request.optional_text("msgId") or "")
    except LayoutError as error:
        raise Refused(SYSTEM_ERROR, str(error)) from None
    found = look_message_by_offset(state.store, offset)
    if found is None:
        raise Refused(SYSTEM_ERROR, f"there is no message at {offset}")
    properties = decode_properties(found.properties)
    properties[Property.TRANSACTION_CHECK_TIMES] = "0"  # [TXN-RESUME-001]
    anew = replace(found, properties=encode_properties(properties))
    result = put_message(state, message_of_record(anew, HALF_TOPIC, 0), request.now_ms)
    if result.status is not PutStatus.PUT_OK:
        raise Refused(SYSTEM_ERROR, result.status.name)
    return Response()
