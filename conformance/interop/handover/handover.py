"""
Handover: one broker writes a store and ends, another opens it and serves the same.

This module has the plan of the written content. ``write`` sends it to a broker.
``observe`` queries everything that a client can see of it. ``pending`` covers
unfinished operations: delayed messages and transactions. ``cell`` runs two brokers one
after the other and compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from conformance.harness.client.client import Client
from conformance.harness.targets.target import Target
from spec.clause import release_key

REFERENCE = "reference"
"""In place of a release: the reference, which does as REFERENCE_RELEASE."""
REFERENCE_RELEASE = "4.6.0"

TOPICS = {"HandoverOrders": 4, "HandoverBills": 1, "HandoverSingle-Message_1": 2}
"""Each topic of ordinary messages and the count of its queues."""
BATCHES, TIMES, STEPS = "HandoverBatches", "HandoverTimes", "HandoverSteps"
PAID, LATER = "HandoverPaid", "HandoverLater"
WHOLE, TIMED = "HandoverWhole", "HandoverTimed"
"""Topics for releases since 5.0 only: whole batches, and timer messages."""

GROUP = "handover_group"
SETTLED_GROUP = "handover_settled_group"
PRODUCERS = "handover_producers"
RETRY, DEAD = f"%RETRY%{GROUP}", f"%DLQ%{GROUP}"

MESSAGE_COUNT = 150
"""Bodies of about 700 bytes: the commit log and the index roll over."""
LEVELS_S = (1, *range(20, 420, 25), 7200)
"""The delay of each level: for the writer, one that each reader can await, for ever."""
LAST_LEVEL = len(LEVELS_S)

SETTINGS: Mapping[str, str] = {
    "mapedFileSizeCommitLog": str(64 * 1024),
    "mapedFileSizeConsumeQueue": str(20 * 20),
    "maxHashSlotNum": "100",
    "maxIndexNum": "400",
    # Nothing else may write between the two brokers.
    "autoCreateTopicEnable": "false",
    "maxMessageSize": str(32 * 1024),
    "messageDelayLevel": " ".join(f"{seconds}s" for seconds in LEVELS_S),
    # The files must not depend on the time of the kill.
    "flushConsumerOffsetInterval": "500",
    "flushDelayOffsetInterval": "500",
    "transactionOpMsgMaxSize": "1",
}
"""Small files, the same for both: a broker ignores files of another size."""
WRITER_SETTINGS = {
    **SETTINGS,
    "transactionCheckInterval": "3600000",
    "transactionTimeOut": "3600000",
}
"""The writer sends no transaction checks."""
READER_SETTINGS = {
    **SETTINGS,
    "transactionCheckInterval": "3000",
    "transactionTimeOut": "1000",
    "transactionCheckMax": "10000",
}
"""The reader sends checks immediately, and repeats them until a producer is connected.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One message that a broker has acknowledged."""

    topic: str
    queue_id: int
    body: bytes
    key: str
    unique_key: str
    message_id: str
    queue_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Content that a writer has received."""

    release: str
    sent: list[Sent] = field(default_factory=list)
    """All messages that stand in a queue for good."""
    times: list[int] = field(default_factory=list)
    """Store times of the messages of TIMES."""
    due: dict[int, int] = field(default_factory=dict)
    """Delivery time of the message of each delay level, in milliseconds."""
    timed: dict[str, int] = field(default_factory=dict)
    """Delivery time of each message of the timer, by its body."""
    halves: dict[str, str] = field(default_factory=dict)
    """State or outcome of each half message, by unique key."""

    @property
    def is_5(self) -> bool:
        """Whether the writer's release has batch queues and a timer."""
        return release_key(self.release) >= (5,)


def target_text(make: str) -> str:
    """Return the text of the target that is a release, the reference, or a mutant."""
    if ":" in make:
        return make
    return "embedded:" if make == REFERENCE else f"jvm:{make}"


def release_of(make: str) -> str:
    """Return the release whose clauses hold for a release, or for the reference."""
    return REFERENCE_RELEASE if make == REFERENCE or ":" in make else make


def client_of(target: Target) -> Client:
    """Return a client with a fresh connection to the target's broker."""
    assert target.broker is not None
    return Client.connect(target.broker)


def queues() -> list[tuple[str, int]]:
    """Return topic and id of every queue whose messages stay as they are."""
    more = {BATCHES: 1, TIMES: 1, STEPS: 2, RETRY: 1, DEAD: 1}
    both = {**TOPICS, **more}
    return [(topic, number) for topic, n in both.items() for number in range(n)]
