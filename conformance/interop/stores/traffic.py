"""Traffic for stores: messages of all kinds that every release stores."""

from __future__ import annotations

from conformance.harness.client.client import Client, require_success
from conformance.interop.handover.handover import PRODUCERS
from conformance.interop.handover.send import decide
from spec.wire.message.message_id import decode_message_id
from spec.wire.message.transactions import Decision
from spec.wire.remoting.command import Command

TOPIC, PAID, LATER = "AuditTraffic", "AuditPaid", "AuditLater"
GROUP = "audit_traffic"
QUEUES = 2
PATIENCE_S = 120.0
DECISIONS = (Decision.COMMIT, Decision.ROLLBACK, Decision.COMMIT, None)
"""Decisions on half messages, in turns; None leaves it to a check, that never comes."""


def create_places(broker: Client) -> None:
    """Create the topics and the group."""
    for topic in (TOPIC, PAID, LATER):
        require_success(broker.create_topic(topic=topic, queue_count=QUEUES))
    require_success(broker.update_group(group=GROUP))


def fill(broker: Client, name: str, *, count: int) -> None:
    """Send *count* messages of each kind; *name* makes their keys unique.

    Half messages are decided at the end, all of them, so that releases since 5.1 put
    several decisions into one op message. Return when all queues have all.
    """
    halves = []
    ends: dict[tuple[str, int], int] = {}
    for number in range(count):
        key = f"{name}-{number}"
        own = {"KEYS": f"{key} all", "UNIQ_KEY": f"U{key}", "TAGS": f"T{number % 3}"}
        queue_id = number % QUEUES
        body = f"{key} ".encode() * 60
        response = broker.send_message(
            topic=TOPIC, queue_id=queue_id, body=body, properties=own
        )
        sent = require_success(response)
        ends[TOPIC, queue_id] = int(sent.fields["queueOffset"]) + 1
        if number % 8 == 0:
            _send_back(broker, sent.fields["msgId"], f"U{key}")
        if number % 10 == 0:
            later = {"DELAY": "1", "UNIQ_KEY": f"UL{key}", "KEYS": key}
            require_success(broker.send_message(topic=LATER, properties=later))
        if number % 6 == 0:
            halves.append((_send_half(broker, f"UH{key}"), f"UH{key}"))
    for number, (half, key) in enumerate(halves):
        decision = DECISIONS[number % len(DECISIONS)]
        if decision is not None:
            require_success(decide(broker, half, decision, key))
    # The last message of the log: with its unit, all records before it are dispatched.
    sent = require_success(broker.send_message(topic=TOPIC, queue_id=0))
    ends[TOPIC, 0] = int(sent.fields["queueOffset"]) + 1
    for (topic, queue_id), end in ends.items():
        broker.wait_for_max_offset(
            topic=topic, queue_id=queue_id, offset=end, timeout_s=PATIENCE_S
        )


def _send_half(broker: Client, key: str) -> Command:
    """Send a half message; return the response."""
    own = {
        "TRAN_MSG": "true",
        "PGROUP": PRODUCERS,
        "UNIQ_KEY": key,
        "KEYS": f"half-{key}",
    }
    response = broker.send_message(topic=PAID, group=PRODUCERS, properties=own)
    return require_success(response)


def _send_back(broker: Client, message_id: str, unique_key: str) -> None:
    """Send a message back, to be retried after a second."""
    _, offset = decode_message_id(message_id)
    response = broker.send_back(
        group=GROUP,
        commit_log_offset=offset,
        delay_level=1,
        origin_message_id=unique_key,
        origin_topic=TOPIC,
        max_reconsume_times=16,
    )
    require_success(response)
