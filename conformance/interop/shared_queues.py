"""
A store of a real 4.9 broker with queues in which messages of other topics stand too.

With enableMultiDispatch, 4.9.3 to 4.9.8 give a message a place in each queue that it
names, whatever the name (4.9.7 store.ConsumeQueue#multiDispatchLmqQueue).
"""

from __future__ import annotations

import shutil
from pathlib import Path

from conformance.harness.speaker import Speaker, succeeded
from conformance.harness.target import parse_target
from conformance.interop.handover import speak, target_text

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
    """Let a broker write a store below *directory*; return it stopped and killed.

    Names of light queues are those of any others unless it *has_light* queues.
    """
    store, stopped = directory / "store", directory / "stopped"
    conf = {**SETTINGS, "enableLmq": str(has_light).lower()}
    text = target_text(RELEASE)
    with parse_target(text, conf=conf, store=store) as target:
        with speak(target) as broker:
            for topic in (OWN, SHARED):
                succeeded(broker.create_topic(topic=topic, queue_count=QUEUES))
            _fill(broker, begin=0)
        target.stop()
    shutil.copytree(store, stopped)
    with parse_target(text, conf=conf, store=store) as target:
        with speak(target) as broker:
            _fill(broker, begin=ROUNDS)
        target.kill()
    return stopped, store


def _fill(broker: Speaker, *, begin: int) -> None:
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
    for (topic, queue_id), end in ends.items():
        broker.wait_for_max_offset(
            topic=topic, queue_id=queue_id, offset=end, timeout_s=30
        )


def _send(broker: Speaker, place: tuple[str, int], names: str = "", **more: str) -> int:
    """Send a message that *names* queues; return its offset in its own."""
    topic, queue_id = place
    named = {"INNER_MULTI_DISPATCH": names} if names else {}
    properties = {"KEYS": f"{topic}-{names}", "TAGS": topic[-3:], **named, **more}
    answer = broker.send_message(topic=topic, queue_id=queue_id, properties=properties)
    return int(succeeded(answer).fields["queueOffset"])
