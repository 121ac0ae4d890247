"""Content for releases since 5.0 only: whole batches, and timer messages."""

from __future__ import annotations

from conformance.harness.client.client import Client, now_ms, require_success
from conformance.harness.client.requests.invoker import FieldValue
from conformance.interop.handover.handover import LEVELS_S, TIMED, WHOLE, Written
from conformance.interop.handover.send import BATCH_SIZES
from spec.wire.remoting.request_code import RequestCode
from spec.wire.send.batch_body import BatchMessage, encode_batch


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
        answer = broker.send_message(
            topic=WHOLE,
            body=body,
            properties={"UNIQ_KEY": f"7F0000010000DE1A0000000000000{number}00"},
            code=RequestCode.SEND_BATCH_MESSAGE,
            batch=True,
        )
        require_success(answer)
    require_success(broker.create_topic(topic=TIMED, queue_count=1))
    for number, seconds in enumerate(LEVELS_S[1:]):
        key, due = f"timed {number}", now_ms() + seconds * 1000
        own = {"TIMER_DELIVER_MS": str(due), "UNIQ_KEY": f"U{key}"}
        require_success(
            broker.send_message(topic=TIMED, body=key.encode(), properties=own)
        )
        written.timed[key] = due
