"""The messages of a handover, one function a sort."""

from __future__ import annotations

from conformance.harness.client.client import Client, now_ms, require_success
from conformance.harness.client.requests.invoker import FieldValue
from conformance.harness.process.deadline import wait_until
from conformance.interop.handover.handover import (
    BATCHES,
    GROUP,
    LAST_LEVEL,
    LATER,
    LEVELS_S,
    PAID,
    PRODUCERS,
    STEPS,
    TIMED,
    TIMES,
    TOPICS,
    WHOLE,
    Sent,
    Written,
)
from spec.store.message_record import decode_record
from spec.wire.message.message_id import decode_message_id
from spec.wire.message.topic_names import OP_TOPIC
from spec.wire.message.transactions import Decision
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.send.batch_body import BatchMessage, encode_batch

PATIENCE_S = 60.0
GAP_MS = 40
"""Between the store times of the messages that are searched by time."""
TIMES_COUNT = 6
BATCH_SIZES = (3, 2)
HALVES = {
    "committed": Decision.COMMIT,
    "rolled back": Decision.ROLLBACK,
    "to be committed": None,
    "to be rolled back": None,
}


def send(broker: Client, number: int) -> Sent:
    """Send message *number*, whose topic, queue, tag and keys follow from it."""
    topics = list(TOPICS)
    topic = topics[number % len(topics)]
    queue_id = (number // len(topics)) % TOPICS[topic]
    body = f"message {number} ".encode() * (number % 90)
    return send_one(
        broker,
        (topic, queue_id),
        body or b"-",
        key=f"also-{number}",
        unique_key=f"7F000001{number:024X}",
        properties={
            "KEYS": f"order-{number // 2} also-{number}",
            "TAGS": f"Tag{number % 5}",
        },
    )


def send_one(
    broker: Client,
    place: tuple[str, int],
    body: bytes,
    *,
    key: str,
    unique_key: str | None = None,
    properties: dict[str, str] | None = None,
) -> Sent:
    """Send one message; its unique key is made of its key if none is given."""
    unique_key = unique_key or f"U{key}"
    own = {"KEYS": key, "UNIQ_KEY": unique_key, "WAIT": "true"}
    topic, queue_id = place
    response = broker.send_message(
        topic=topic, queue_id=queue_id, body=body, properties=own | (properties or {})
    )
    fields = require_success(response).fields
    return Sent(
        topic=topic,
        queue_id=queue_id,
        body=body,
        key=key,
        unique_key=unique_key,
        message_id=fields["msgId"],
        queue_offset=int(fields["queueOffset"]),
    )


def send_batches(broker: Client, written: Written) -> None:
    """Send batches, whose messages become records of their own."""
    offset = 0
    for number, count in enumerate(BATCH_SIZES):
        keys = [f"batch-{number}-{place}" for place in range(count)]
        messages = [
            BatchMessage(
                body=key.encode(), properties=f"KEYS\1{key}\2UNIQ_KEY\1U{key}\2"
            )
            for key in keys
        ]
        response = broker.send_batch(topic=BATCHES, body=encode_batch(messages))
        ids = require_success(response).fields["msgId"].split(",")
        for key, message_id in zip(keys, ids, strict=True):
            written.sent.append(
                Sent(
                    topic=BATCHES,
                    queue_id=0,
                    body=key.encode(),
                    key=key,
                    unique_key=f"U{key}",
                    message_id=message_id,
                    queue_offset=offset,
                )
            )
            offset += 1


def send_steps(broker: Client, written: Written) -> None:
    """Send messages to a topic that is ordered and has more queues to read."""
    for number in range(4):
        key = f"step-{number}"
        place = (STEPS, number % 2)
        written.sent.append(send_one(broker, place, key.encode(), key=key))


def send_apart(broker: Client, written: Written) -> None:
    """Send messages whose store times lie apart."""
    for number in range(TIMES_COUNT):
        key = f"time-{number}"
        one = send_one(broker, (TIMES, 0), key.encode(), key=key)
        written.sent.append(one)
        stored = stored_at_ms(broker, one.message_id)
        written.times.append(stored)
        wait_until(lambda s=stored: now_ms() > s + GAP_MS, what="time has passed")  # type: ignore[misc]


def send_later(broker: Client, written: Written) -> None:
    """Send a message for every delay level."""
    for level in range(1, LAST_LEVEL + 1):
        response = broker.send_message(
            topic=LATER,
            body=f"level {level}".encode(),
            properties={"DELAY": str(level), "UNIQ_KEY": f"Ulevel-{level}"},
        )
        stored = stored_at_ms(broker, require_success(response).fields["msgId"])
        written.due[level] = stored + LEVELS_S[level - 1] * 1000


def send_halves(broker: Client, written: Written) -> None:
    """Send half messages and decide some of them."""
    for number, (fate, decision) in enumerate(HALVES.items()):
        key = f"half-{number}"
        own = {"TRAN_MSG": "true", "PGROUP": PRODUCERS, "UNIQ_KEY": f"U{key}"}
        response = broker.send_message(
            topic=PAID, body=fate.encode(), group=PRODUCERS, properties=own
        )
        written.halves[f"U{key}"] = fate
        if decision is not None:
            require_success(
                decide(broker, require_success(response), decision, f"U{key}")
            )
            # Since 5.1 an op message may contain several decisions: each gets its own
            # here.
            broker.wait_for_max_offset(
                topic=OP_TOPIC, offset=number + 1, timeout_s=PATIENCE_S
            )


def decide(broker: Client, sent: Command, decision: int, key: str) -> Command:
    """End the transaction of the half message whose send was answered with *sent*."""
    _, offset = decode_message_id(sent.fields["msgId"])
    return broker.end_transaction(
        group=PRODUCERS,
        commit_log_offset=offset,
        queue_offset=int(sent.fields["queueOffset"]),
        decision=decision,
        message_id=key,
        transaction_id=key,
    )


def send_back_messages(broker: Client, written: Written) -> None:
    """Hand a message back to be retried, and one that is a dead letter."""
    for level, one in zip((1, -1), written.sent, strict=False):
        _, offset = decode_message_id(one.message_id)
        require_success(
            broker.send_back(
                group=GROUP,
                commit_log_offset=offset,
                delay_level=level,
                origin_message_id=one.unique_key,
                origin_topic=one.topic,
                max_reconsume_times=16,
            )
        )


def stored_at_ms(broker: Client, message_id: str) -> int:
    """Return when a message was stored."""
    response = require_success(broker.view_message_by_id(message_id))
    return decode_record(response.body).stored_at_ms


def send_special(broker: Client, written: Written) -> None:
    """Send what only releases since 5.0 take: whole batches and timed messages."""
    fields: dict[str, FieldValue] = {
        "topic": WHOLE,
        "defaultTopic": "TBW102",
        "readQueueNums": 1,
        "writeQueueNums": 1,
        "perm": 6,
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": 0,
        "order": False,
        "attributes": "+queue.type=BatchCQ",
    }
    require_success(broker.invoke(RequestCode.UPDATE_AND_CREATE_TOPIC, fields))
    for number, count in enumerate(BATCH_SIZES):
        body = encode_batch(BatchMessage(body=f"{n}".encode()) for n in range(count))
        response = broker.send_message(
            topic=WHOLE,
            body=body,
            properties={"UNIQ_KEY": f"7F0000010000DE1A0000000000000{number}00"},
            code=RequestCode.SEND_BATCH_MESSAGE,
            batch=True,
        )
        require_success(response)
    require_success(broker.create_topic(topic=TIMED, queue_count=1))
    for number, seconds in enumerate(LEVELS_S[1:]):
        key, due = f"timed {number}", now_ms() + seconds * 1000
        own = {"TIMER_DELIVER_MS": str(due), "UNIQ_KEY": f"U{key}"}
        require_success(
            broker.send_message(topic=TIMED, body=key.encode(), properties=own)
        )
        written.timed[key] = due
