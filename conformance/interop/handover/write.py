"""Content for a writer: an example of everything that a store can hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from conformance.harness.client.client import Client, require_success
from conformance.harness.process.deadline import wait_until
from conformance.interop.handover.handover import (
    BATCHES,
    DEAD,
    GROUP,
    LATER,
    MESSAGE_COUNT,
    PAID,
    RETRY,
    SETTLED_GROUP,
    STEPS,
    TIMES,
    TOPICS,
    WHOLE,
    Written,
    queues,
)
from conformance.interop.handover.send import (
    BATCH_SIZES,
    PATIENCE_S,
    send,
    send_apart,
    send_back_messages,
    send_batches,
    send_halves,
    send_later,
    send_special,
    send_steps,
)
from spec.wire.bodies import fastjson
from spec.wire.message.topic_names import TIMER_TOPIC

PAST_THE_END = 1_000
"""Offset behind the end of every queue."""
Offsets = Mapping[tuple[str, int], int]
"""Consumed offset of each queue, by topic and id."""


def write(
    broker: Client,
    *,
    release: str,
    store: Path,
    offsets: Callable[[Written], Offsets] | None = None,
) -> Written:
    """Send all content to *broker*; return when *store* holds it, including settings.

    The group's committed offsets are *offsets*; by default some offset of every queue,
    also behind its end.
    """
    written = Written(release=release)
    create_places(broker)
    for number in range(MESSAGE_COUNT):
        written.sent.append(send(broker, number))
    for step in (send_batches, send_steps, send_apart, send_later, send_halves):
        step(broker, written)
    send_back_messages(broker, written)
    if written.is_5:
        send_special(broker, written)
    wait_until_queued(broker, written)
    consumed = some_offsets() if offsets is None else offsets(written)
    commit_offsets(broker, consumed)
    wait_until_kept(store, consumed)
    return written


def create_places(broker: Client) -> None:
    """Create topics and groups of all sorts."""
    once = dict.fromkeys((BATCHES, TIMES, PAID, LATER), 1)
    for topic, queue_count in {**TOPICS, **once}.items():
        require_success(broker.create_topic(topic=topic, queue_count=queue_count))
    require_success(
        broker.create_topic(
            topic=STEPS, queue_count=2, read_queue_count=3, order=True, system_flags=1
        )
    )
    shut = broker.create_topic(topic="HandoverShut", permissions=2, queue_count=7)
    require_success(shut)
    require_success(broker.update_group(group=GROUP))
    settings: dict[str, object] = {
        "consumeEnable": False,
        "consumeFromMinEnable": False,
        "consumeBroadcastEnable": False,
        "retryQueueNums": 3,
        "retryMaxTimes": 7,
        "whichBrokerWhenConsumeSlowly": 2,
    }
    require_success(broker.update_group(group=SETTLED_GROUP, settings=settings))


def wait_until_queued(broker: Client, written: Written) -> None:
    """Wait until every message that is to be in a queue by now is there."""
    ends = dict.fromkeys(queues(), 0)
    for one in written.sent:
        ends[one.topic, one.queue_id] += 1
    late = {(LATER, 0): 1, (PAID, 0): 1, (RETRY, 0): 1, (DEAD, 0): 1}
    if written.is_5:
        late[WHOLE, 0] = sum(BATCH_SIZES)
        late[TIMER_TOPIC, 0] = len(written.timed)
    for (topic, queue_id), end in (ends | late).items():
        broker.wait_for_max_offset(
            topic=topic, queue_id=queue_id, offset=end, timeout_s=PATIENCE_S
        )


def some_offsets() -> Offsets:
    """Return some offset of every queue, one of them past its end."""
    return {
        (topic, queue_id): PAST_THE_END if topic == TIMES else queue_id + 3
        for topic, queue_id in queues()
    }


def reached_offsets(written: Written) -> Offsets:
    """Return an offset of every queue that it has, or its end."""
    ends = Counter((one.topic, one.queue_id) for one in written.sent)
    return {
        (topic, queue_id): min(queue_id + 3, ends[topic, queue_id])
        for topic, queue_id in queues()
    }


def commit_offsets(broker: Client, offsets: Offsets) -> None:
    """Let the group have consumed up to *offsets*."""
    for (topic, queue_id), offset in offsets.items():
        response = broker.update_offset(
            group=GROUP, topic=topic, queue_id=queue_id, offset=offset
        )
        require_success(response)


def wait_until_kept(store: Path, offsets: Offsets) -> None:
    """Wait until the files of settings have all *offsets*, so that a kill may come."""
    wanted: dict[object, dict[object, object]] = {}
    for (topic, queue_id), offset in offsets.items():
        wanted.setdefault(f"{topic}@{GROUP}", {})[queue_id] = offset
    _wait_for(
        store / "config" / "consumerOffset.json",
        lambda table: all(table.get(name) == held for name, held in wanted.items()),
    )
    # Two were due: one for later, one to be retried.
    _wait_for(
        store / "config" / "delayOffset.json",
        lambda table: table.get(1, table.get("1")) == 2,
    )


def _wait_for(file: Path, condition: Callable[[dict[object, object]], bool]) -> None:
    def holds() -> bool:
        try:
            content = fastjson.loads(file.read_bytes())
        except (OSError, ValueError):
            return False
        table = content.get("offsetTable") if isinstance(content, dict) else None
        return isinstance(table, dict) and condition(table)

    wait_until(holds, what=f"{file.name} has it", timeout_s=PATIENCE_S)
