"""
Store with several rolled files, the base of all damages.

A broker with very small files gets the same messages in rounds that are seconds apart.
Recovery compares the checkpoint's times with those of the log's files, so it has
several files to choose from. One queue is idle at the end, some delayed messages were
delivered and others wait for years, and a group has consumed some messages.
"""

from __future__ import annotations

from collections.abc import Mapping

from conformance.harness.client.client import Client, now_ms, require_success
from conformance.harness.process.deadline import wait_until

ORDERS, BILLS = "DamageOrders", "DamageBills"
QUEUES: Mapping[str, int] = {ORDERS: 2, BILLS: 1}
"""Each topic and the count of its queues."""
GROUP = "damage_group"
COMMITTED: Mapping[tuple[str, int], int] = {
    (ORDERS, 0): 5,
    (ORDERS, 1): 0,
    (BILLS, 0): 12,
}
"""Committed offset of the group in each queue."""

LOG_FILE_SIZE = 4096
QUEUE_FILE_SIZE = 20 * 5
SETTINGS: Mapping[str, str] = {
    "mapedFileSizeCommitLog": str(LOG_FILE_SIZE),
    "mapedFileSizeConsumeQueue": str(QUEUE_FILE_SIZE),
    "maxHashSlotNum": "10",
    "maxIndexNum": "40",
    "maxMessageSize": "2048",
    "autoCreateTopicEnable": "false",
    # The last level is due in ten years: it waits, however old the store is.
    "messageDelayLevel": "1s 2s 3650d",
    # 5.x otherwise keeps a timer's log of 100 MB.
    "timerWheelEnable": "false",
}
"""Small files; a broker that opens the store needs the same sizes."""

ROUNDS = 7
ROUND_SIZE = 9
ROUND_MS = 1500
"""Two rounds and a little more are what recovery goes back for safety."""
DELAYED_IN = 2
"""The round that has delayed messages, two that are delivered and two that wait."""
BILLS_UNTIL = 4
"""The round before which the topic of bills gets messages."""


def write(broker: Client) -> None:
    """Create the topics, send all messages, commit offsets."""
    for topic, queue_count in QUEUES.items():
        require_success(broker.create_topic(topic=topic, queue_count=queue_count))
    require_success(broker.update_group(group=GROUP))
    ends = dict.fromkeys(COMMITTED, 0)
    begin = now_ms()
    for number in range(ROUNDS):
        _wait_for_time(begin + number * ROUND_MS)
        for place in range(ROUND_SIZE):
            queue = _queue_of(number, place)
            _send(broker, number * ROUND_SIZE + place, queue)
            ends[queue] += 1
        if number == DELAYED_IN:
            _send_delayed(broker)
            ends[ORDERS, 0] += 2
        _wait_for(broker, ends)
    for (topic, queue_id), offset in COMMITTED.items():
        require_success(
            broker.update_offset(
                group=GROUP, topic=topic, queue_id=queue_id, offset=offset
            )
        )


def _queue_of(number: int, place: int) -> tuple[str, int]:
    """Return the queue that the message at *place* of round *number* goes to."""
    if place % 3 == 2 and number < BILLS_UNTIL:
        return BILLS, 0
    return ORDERS, place % 2


def _send(broker: Client, number: int, queue: tuple[str, int]) -> None:
    topic, queue_id = queue
    require_success(
        broker.send_message(
            topic=topic,
            queue_id=queue_id,
            body=f"message {number} ".encode() * (10 + number % 7),
            properties={
                "KEYS": f"order-{number}",
                "UNIQ_KEY": f"7F000001{number:024X}",
                "TAGS": f"Tag{number % 5}",
            },
        )
    )


def _send_delayed(broker: Client) -> None:
    for number, level in enumerate((1, 3, 1, 3)):
        properties = {"DELAY": str(level), "UNIQ_KEY": f"7F000002{number:024X}"}
        require_success(
            broker.send_message(topic=ORDERS, body=b"delayed", properties=properties)
        )


def _wait_for_time(due_ms: int) -> None:
    wait_until(lambda: now_ms() >= due_ms, what="the next round is due")


def _wait_for(broker: Client, ends: Mapping[tuple[str, int], int]) -> None:
    """Wait until the queues have *ends*, the delivered messages among them."""
    for (topic, queue_id), offset in ends.items():
        broker.wait_for_max_offset(
            topic=topic, queue_id=queue_id, offset=offset, timeout_s=20
        )
