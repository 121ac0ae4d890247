"""
Transactions: a message that nobody sees until its producer says so.

The half message waits in a topic of its own. Commit puts it where it belongs;
commit and rollback both leave a note in the operations topic, with the half
message's queue offset as its body, so that nobody asks about it any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.core.answer import SYSTEM_ERROR, Answer, refusal
from reference.core.request import Request
from reference.core.store.api import NewMessage
from spec.store.message_record import Record
from spec.wire.properties import Property, decode_properties, encode_properties
from spec.wire.response_code import ResponseCode

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

HALF_TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC"
OPERATIONS_TOPIC = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
DONE_TAG = "d"
TRANSACTION_BITS = 0xC
UNKNOWN = 0x0
COMMIT = 0x8
ROLLBACK = 0xC


def is_prepared(properties: str) -> bool:
    """Return whether a message with *properties* is half of a transaction."""
    if "TRAN_MSG" not in properties:
        return False
    return (
        decode_properties(properties).get(Property.TRAN_MSG, "").lower() == "true"
    )  # [TXN-HALF-005]


def prepare(message: NewMessage) -> NewMessage:
    """Return the half message that stands for *message* until its producer decides."""
    properties = decode_properties(message.properties)
    properties[Property.REAL_TOPIC] = message.topic
    properties[Property.REAL_QID] = str(message.queue_id)
    return message._replace(
        topic=HALF_TOPIC,
        queue_id=0,
        properties=encode_properties(properties),
        system_flags=message.system_flags & ~TRANSACTION_BITS,  # [TXN-HALF-002]
    )


def end_transaction(broker: Broker, request: Request) -> Answer | None:
    """Commit or roll back; a producer that does not know is left unanswered."""
    if broker.options.is_slave:  # [TXN-END-016]
        return Answer(ResponseCode.SLAVE_NOT_AVAILABLE)
    decision = request.int32("commitOrRollback")
    if decision == UNKNOWN:  # [TXN-END-004]
        return None
    if decision not in {COMMIT, ROLLBACK}:  # [TXN-END-017]
        return refusal(SYSTEM_ERROR, "commitOrRollback field wrong")
    record = broker.record_at(request.int64("commitLogOffset"))
    if record is None:  # [TXN-END-005]
        return refusal(SYSTEM_ERROR, "Find prepared transaction message failed")
    wrong = _what_is_wrong(record, request)  # [TXN-END-012] [TXN-END-013] [TXN-END-014]
    if wrong is not None:
        return refusal(SYSTEM_ERROR, wrong)
    if decision == COMMIT:  # [TXN-END-001] [TXN-END-008] [TXN-END-009]
        message = _final_message(record, request)
        result = broker.store.put(message, request.now_ms)
        if not result.is_stored:
            return refusal(_refusal_code(result.status.name), result.status.name)
        broker.stored(result)
    note_done(broker, record, request.now_ms)  # [TXN-END-003]
    return Answer()


def note_done(broker: Broker, half: Record, now_ms: int) -> None:
    """Note that the transaction of a half message has come to its end."""
    # The topic is not configured: 4.6.0 puts what it likes. [TXN-NOTE-004]
    note = NewMessage(
        topic=OPERATIONS_TOPIC,
        queue_id=half.queue_id,
        body=str(half.queue_offset).encode(),  # [TXN-NOTE-002]
        properties=encode_properties(
            {
                Property.TAGS: DONE_TAG,  # [TXN-NOTE-001]
                Property.UNIQ_KEY: broker.unique_key(now_ms),
            }
        ),
        born_at_ms=now_ms,
        born_host=broker.store_host,
        store_host=broker.store_host,
        wait_until_stored=False,
    )
    broker.stored(broker.store.put(note, now_ms))


def _what_is_wrong(record: Record, request: Request) -> str | None:
    """Return why *request* cannot be about the half message *record*, if so."""
    properties = decode_properties(record.properties)
    group = request.text("producerGroup")
    if properties.get(Property.PGROUP) != group:  # [TXN-END-006]
        return "The producer group wrong"
    if record.queue_offset != request.int64("tranStateTableOffset"):  # [TXN-END-007]
        return "The transaction state table offset wrong"
    if record.physical_offset != request.int64("commitLogOffset"):
        return "The commit log offset wrong"
    if Property.REAL_TOPIC not in properties or Property.REAL_QID not in properties:
        return "Find prepared transaction message failed"
    return None


def _final_message(record: Record, request: Request) -> NewMessage:
    properties = decode_properties(record.properties)
    topic = properties.pop(Property.REAL_TOPIC)
    queue_id = int(properties.pop(Property.REAL_QID))
    # 4.6.0 writes the properties before it removes these two, so they stay.
    # [TXN-END-010]
    return NewMessage(
        topic=topic,
        queue_id=queue_id,
        body=record.body,
        properties=record.properties,
        flag=record.flag,
        system_flags=(record.system_flags & ~TRANSACTION_BITS)
        | COMMIT,  # [TXN-END-002]
        born_at_ms=record.born_at_ms,
        born_host=record.born_host,
        store_host=record.store_host,
        reconsume_times=record.reconsume_times,
        prepared_transaction_offset=request.int64("commitLogOffset"),
        wait_until_stored=False,
    )


def _refusal_code(status: str) -> int:
    illegal = status in {"MESSAGE_ILLEGAL", "PROPERTIES_SIZE_EXCEEDED"}
    if illegal:
        return ResponseCode.MESSAGE_ILLEGAL
    if status == "SERVICE_NOT_AVAILABLE":
        return ResponseCode.SERVICE_NOT_AVAILABLE
    return SYSTEM_ERROR
