"""
Store of a real 4.9 broker with queues that are shared by several topics.

With enableMultiDispatch, 4.9.3 to 4.9.8 add a message to each queue that it names, with
any name (4.9.7 store.ConsumeQueue#multiDispatchLmqQueue).
"""

from __future__ import annotations

import shutil
from pathlib import Path

from conformance.harness.client.client import Client, require_success
from conformance.harness.targets.target import parse_target
from conformance.interop.handover.handover import client_of, target_text

RELEASE = "4.9.7"
OWN, SHARED, LIGHT = "AuditOwn", "AuditShared", "%LMQ%audit"
QUEUES = 2
ROUNDS = 30
SETTINGS = {
    "enableMultiDispatch": "true",
    "mappedFileSizeCommitLog": "65536",
    "mappedFileSizeConsumeQueue": "400",
    "maxHashSlotNum": "50",
    "maxIndexNum": "200",
    "messageDelayLevel": "1s 2s 3s",
}


def leave_shared_queues(directory: Path, *, has_light: bool) -> tuple[Path, Path]:
    """Write a store below *directory*; return its stopped and its killed state.

    Queue names are those of ordinary topics unless it *has_light* queues (LMQ).
    """
    store, stopped = directory / "store", directory / "stopped"
    conf = {**SETTINGS, "enableLmq": str(has_light).lower()}
    text = target_text(RELEASE)
    with parse_target(text, conf=conf, store=store) as target:
        with client_of(target) as broker:
            for topic in (OWN, SHARED):
                require_success(broker.create_topic(topic=topic, queue_count=QUEUES))
            _fill(broker, begin=0)
        target.stop()
    shutil.copytree(store, stopped)
    with parse_target(text, conf=conf, store=store) as target:
        with client_of(target) as broker:
            _fill(broker, begin=ROUNDS)
        target.kill()
    return stopped, store


def _fill(broker: Client, *, begin: int) -> None:
    """Send rounds of messages, and wait until what they name has all of them."""
    ends: dict[tuple[str, int], int] = {}
    for number in range(begin, begin + ROUNDS):
        queue_id = number % QUEUES
        _send(broker, (OWN, queue_id), SHARED)
        ends[SHARED, queue_id] = _send(broker, (SHARED, queue_id)) + 1
        if number % 4 > 0:  # so that one of its queues, if there are two, is longer
            _send(broker, (OWN, queue_id), f"{SHARED},{LIGHT}")
        if number % 5 == 0:  # it is in a queue of Shared, and comes to another
            _send(broker, (OWN, 0), SHARED, DELAY="2")
        if number % 7 == 0:
            _send(broker, (OWN, 1), f"{OWN},{SHARED}")
    # The last message of the log: with its unit, all records before it are dispatched.
    ends[OWN, 0] = _send(broker, (OWN, 0)) + 1
    for (topic, queue_id), end in ends.items():
        broker.wait_for_max_offset(
            topic=topic, queue_id=queue_id, offset=end, timeout_s=30
        )


def _send(broker: Client, place: tuple[str, int], names: str = "", **more: str) -> int:
    """Send a message that *names* queues; return its offset in its own."""
    topic, queue_id = place
    named = {"INNER_MULTI_DISPATCH": names} if names else {}
    properties = {"KEYS": f"{topic}-{names}", "TAGS": topic[-3:], **named, **more}
    response = broker.send_message(
        topic=topic, queue_id=queue_id, properties=properties
    )
    return int(require_success(response).fields["queueOffset"])
