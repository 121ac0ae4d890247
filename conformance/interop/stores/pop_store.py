"""
Store of a real broker since 5.0 with popped messages and messages of the timer.

A pop puts a checkpoint into the revive topic, by the timer, and so does an ack. It
puts messages without an ack into the group's retry topic (5.3.3
broker.processor.PopReviveService#mergeAndRevive).
"""

from __future__ import annotations

import base64
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.harness.client.client import Client, batch_body, require_success
from conformance.harness.client.requests.invoker import FieldValue
from conformance.harness.client.requests.messages import now_ms
from conformance.harness.targets.target import parse_target
from conformance.interop.handover.handover import client_of, target_text
from conformance.interop.stores.settings import PROMPT, SMALL_FILES
from spec.clause import release_key
from spec.wire.bodies import fastjson
from spec.wire.pop.pop_receipt import (
    PopReceipt,
    TopicKind,
    decode_popped_queues,
    encode_receipt,
)
from spec.wire.pop.pop_topics import topic_of_kind
from spec.wire.remoting.request_code import RequestCode

TOPIC, TIMED, BATCHES, GROUP = "AuditPop", "AuditTimed", "AuditWhole", "audit_pop"
LIGHT = "%LMQ%audit%1"
CONF = {
    **SMALL_FILES,
    **PROMPT,
    "reviveQueueNum": "2",
    "reviveInterval": "500",
    "enableLmq": "true",
    "enableMultiDispatch": "true",
    # Its files keep their default size, 48 MiB: they have little but zeros.
    "enableConsumeQueueExt": "true",
    "recallMessageEnable": "true",
}
SENT, POPPED = 24, 4
INVISIBLE_MS = 6000
PATIENCE_S = 120.0
TIMER_DELAYS_MS = (2_000, 3_000, 4_000, 5_000, 86_400_000)
HAS_BATCH_ACK, HAS_RECALL = (5, 1), (5, 3, 2)


def leave_popped(release: str, directory: Path) -> dict[str, Path]:
    """Pop, acknowledge and time messages; return the stopped and killed store."""
    store, stopped = directory / "store", directory / "stopped"
    for count in (1, 2):
        target = parse_target(target_text(release), conf=CONF, store=store)
        with target, client_of(target) as broker:
            _write(broker, release, rounds=count)
            if count == 1:
                target.stop()
                shutil.copytree(store, stopped)
            else:
                target.kill()
    return {"popped, stopped": stopped, "popped, killed": store}


def _write(broker: Client, release: str, *, rounds: int) -> None:
    """Let the broker do all; return when it has done it."""
    if rounds == 1:
        _create_places(broker)
    for number in range(SENT):
        properties = {"UNIQ_KEY": _unique(rounds, number), "TAGS": f"T{number % 3}"}
        if number % 3 == 0:
            properties["INNER_MULTI_DISPATCH"] = LIGHT
        body = f"pop {rounds} {number} ".encode() * 40
        response = broker.send_message(topic=TOPIC, body=body, properties=properties)
        require_success(response)
    _send_batches(broker, rounds)
    _time(broker, release, rounds)
    broker.wait_for_max_offset(topic=TOPIC, offset=SENT * rounds, timeout_s=PATIENCE_S)
    first, second, third = (_pop(broker) for _ in range(3))
    _acknowledge(broker, first, release)
    _hide(broker, second)
    assert len(third) == POPPED
    due = len(TIMER_DELAYS_MS) - 1
    broker.wait_for_max_offset(topic=TIMED, offset=due * rounds, timeout_s=PATIENCE_S)
    # Unacknowledged: those of the third pop, two of the first and all but one of the
    # second.
    revived = topic_of_kind(TopicKind.RETRY, topic=TOPIC, group=GROUP)
    broker.wait_for_max_offset(
        topic=revived, offset=POPPED * rounds, timeout_s=PATIENCE_S
    )


def _create_places(broker: Client) -> None:
    for topic in (TOPIC, TIMED):
        require_success(broker.create_topic(topic=topic, queue_count=1))
    whole = broker.create_topic(
        topic=BATCHES, queue_count=1, attributes="+queue.type=BatchCQ"
    )
    require_success(whole)
    require_success(broker.update_group(group=GROUP))


def _unique(rounds: int, number: int) -> str:
    return f"7F0000010000DE1A{rounds:08X}{number:08X}"


def _send_batches(broker: Client, rounds: int) -> None:
    """Send batches, each with a message alone behind it, to their topic."""
    for count in (2, 1, 5):
        sent = [(f"{n} of {count}".encode(), {"TAGS": "B"}) for n in range(count)]
        response = broker.send_message(
            topic=BATCHES,
            body=batch_body(sent),
            properties={"UNIQ_KEY": _unique(rounds, 1000 + count)},
            code=RequestCode.SEND_BATCH_MESSAGE,
            batch=True,
        )
        require_success(response)
        alone = {"UNIQ_KEY": _unique(rounds, 1100 + count), "TAGS": "A"}
        require_success(broker.send_message(topic=BATCHES, properties=alone))


def _time(broker: Client, release: str, rounds: int) -> None:
    """Send messages of the timer; take one back where the release can."""
    now = now_ms()
    for number, delay_ms in enumerate(TIMER_DELAYS_MS):
        own = {
            "TIMER_DELIVER_MS": str(now + delay_ms),
            "UNIQ_KEY": _unique(rounds, 2000 + number),
            "KEYS": f"timed-{number}",
        }
        body = f"timed {number}".encode()
        require_success(broker.send_message(topic=TIMED, body=body, properties=own))
    if release_key(release) >= HAS_RECALL:
        unique = _unique(rounds, 2000 + len(TIMER_DELAYS_MS) - 1)
        handle = f"v1 {TIMED} broker-a {now + TIMER_DELAYS_MS[-1]} {unique}"
        fields: dict[str, FieldValue] = {
            "producerGroup": "audit",
            "topic": TIMED,
            "recallHandle": base64.urlsafe_b64encode(handle.encode()).decode(),
        }
        require_success(broker.invoke(RequestCode.RECALL_MESSAGE, fields))


def _pop(broker: Client) -> list[PopReceipt]:
    """Pop some messages; return the receipt of each."""
    fields: dict[str, FieldValue] = {
        "consumerGroup": GROUP,
        "topic": TOPIC,
        "queueId": 0,
        "maxMsgNums": POPPED,
        "invisibleTime": INVISIBLE_MS,
        "pollTime": 0,
        "bornTime": now_ms(),
        "initMode": 0,
        "order": False,
    }
    response = require_success(broker.invoke(RequestCode.POP_MESSAGE, fields))
    (begin,) = decode_popped_queues(response.fields["startOffsetInfo"])
    (messages,) = decode_popped_queues(response.fields["msgOffsetInfo"])
    receipt = PopReceipt(
        first_offset=begin.offsets[0],
        popped_at_ms=int(response.fields["popTime"]),
        invisible_ms=int(response.fields["invisibleTime"]),
        revive_queue_id=int(response.fields["reviveQid"]),
        topic_kind=begin.topic_kind,
        broker_name="broker-a",
        queue_id=int(begin.queue),
    )
    return [replace(receipt, queue_offset=offset) for offset in messages.offsets]


def _fields(receipt: PopReceipt) -> dict[str, FieldValue]:
    assert receipt.queue_offset is not None
    return {
        "consumerGroup": GROUP,
        "topic": TOPIC,
        "queueId": receipt.queue_id,
        "extraInfo": encode_receipt(receipt),
        "offset": receipt.queue_offset,
    }


def _acknowledge(broker: Client, receipts: list[PopReceipt], release: str) -> None:
    """Acknowledge the first message by itself, and all but one of the others."""
    one, *others = receipts[:-1]
    require_success(broker.invoke(RequestCode.ACK_MESSAGE, _fields(one)))
    if release_key(release) < HAS_BATCH_ACK:
        return
    bits = sum(1 << (other.queue_offset or 0) - other.first_offset for other in others)
    ack: dict[str, Any] = {
        "c": GROUP,
        "t": TOPIC,
        "r": one.topic_kind,
        "so": one.first_offset,
        "q": one.queue_id,
        "rq": one.revive_queue_id,
        "pt": one.popped_at_ms,
        "it": one.invisible_ms,
        "b": base64.b64encode(bytes([bits])).decode(),
    }
    body = fastjson.dumps({"brokerName": "broker-a", "acks": [ack]})
    require_success(broker.invoke(RequestCode.BATCH_ACK_MESSAGE, {}, body))


def _hide(broker: Client, receipts: list[PopReceipt]) -> None:
    """Hide one message for longer."""
    fields = {**_fields(receipts[0]), "invisibleTime": INVISIBLE_MS * 10}
    response = broker.invoke(RequestCode.CHANGE_MESSAGE_INVISIBLETIME, fields)
    require_success(response)
