"""
A delayed message is stored under another topic first, and delivered when it is due.

Its property DELAY is a level, a place in the broker's list of delays. A queue of the
topic SCHEDULE_TOPIC_XXXX holds the messages of one level, which are due in their order.
"""

from __future__ import annotations

from spec.clause import Clause, Level

DELAYED_ARRIVES = Clause(
    id="DELAY-SEND-001",
    level=Level.MUST,
    text="A message with DELAY level 1 reaches its topic and queue with its body and"
    " properties, a second or more after it was stored.",
    source="4.6.0 org.apache.rocketmq.store.schedule.ScheduleMessageService"
    "#messageTimeup",
)
DELAYED_KEEPS_PROPERTY = Clause(
    id="DELAY-SEND-002",
    level=Level.QUIRK,
    text="A delayed message still has its DELAY property when it is delivered.",
    source="4.6.0 org.apache.rocketmq.store.schedule.ScheduleMessageService"
    "#messageTimeup",
)
DELAYED_NAMES_REAL_TOPIC = Clause(
    id="DELAY-SEND-003",
    level=Level.QUIRK,
    text="A delivered delayed message has the properties REAL_TOPIC and REAL_QID.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog#putMessage",
)
DELAYED_STORE_TIME = Clause(
    id="DELAY-SEND-004",
    level=Level.MUST,
    text="A delivered delayed message has its producer's born time and born host.",
    source="4.6.0 org.apache.rocketmq.store.schedule.ScheduleMessageService"
    "#messageTimeup",
)
DELAYED_IN_ORDER = Clause(
    id="DELAY-SEND-006",
    level=Level.MUST,
    text="The messages of one delay level are delivered once each, in the order in"
    " which they were stored.",
    source="4.6.0 org.apache.rocketmq.store.schedule.ScheduleMessageService"
    "$DeliverDelayedMessageTimerTask#executeOnTimeup",
)
LEVELS = Clause(
    id="DELAY-LEVEL-001",
    level=Level.MUST,
    text="The delay levels 1 to 18 are 1, 5, 10 and 30 seconds, 1 to 10 minutes one by"
    " one, 20 and 30 minutes, 1 and 2 hours, by default.",
    source="4.6.0 org.apache.rocketmq.store.config.MessageStoreConfig"
    "#messageDelayLevel",
)
HIGHEST_LEVEL = Clause(
    id="DELAY-LEVEL-002",
    level=Level.MUST,
    text="A DELAY above the highest level is stored as the highest level.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog#putMessage",
)
NO_LEVEL = Clause(
    id="DELAY-LEVEL-003",
    level=Level.MUST,
    text="A message whose DELAY is 0 or negative is not delayed.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog#putMessage",
)
NO_DELAY_FOR_HALVES = Clause(
    id="DELAY-SEND-005",
    level=Level.MUST,
    text=(
        "A message whose system flags have TRANSACTION_PREPARED_TYPE (4) or "
        "TRANSACTION_ROLLBACK_TYPE (12) is not delayed, regardless of its DELAY."
    ),
    source="4.6.0 org.apache.rocketmq.store.CommitLog#putMessage",
)
DELAYED_IS_TRIED_AGAIN = Clause(
    id="DELAY-SEND-007",
    level=Level.MUST,
    text=(
        "A delayed message that cannot be put when it is due is put as soon as that "
        "succeeds, before later messages of its level."
    ),
    source="4.6.0 org.apache.rocketmq.store.schedule.ScheduleMessageService"
    "$DeliverDelayedMessageTimerTask#executeOnTimeup",
    issues=("apache/rocketmq#9249", "apache/rocketmq#9248"),
)
MALFORMED_IS_DROPPED = Clause(
    id="DELAY-SEND-008",
    level=Level.MUST,
    text=(
        "Up to 4.7.0, a due message in SCHEDULE_TOPIC_XXXX without REAL_TOPIC, or "
        "with a REAL_QID that is not a Java int, is dropped. The messages around it "
        "are delivered once each."
    ),
    source="4.6.0 org.apache.rocketmq.store.schedule.ScheduleMessageService"
    "$DeliverDelayedMessageTimerTask#executeOnTimeup",
    until="4.7.0",
)
DELAY_OFFSET_AHEAD = Clause(
    id="DELAY-START-001",
    level=Level.QUIRK,
    text=(
        "Up to 4.9.1, a level whose offset in delayOffset.json is past its queue's "
        "end delivers nothing until the queue has grown to it."
    ),
    source="4.6.0 org.apache.rocketmq.store.schedule.ScheduleMessageService"
    "$DeliverDelayedMessageTimerTask#executeOnTimeup",
    until="4.9.1",
    issues=("apache/rocketmq#1869", "apache/rocketmq#6269", "apache/rocketmq#3473"),
)
DELAY_OFFSET_IS_PUT_RIGHT = Clause(
    id="DELAY-START-002",
    level=Level.MUST,
    text=(
        "From 4.9.2 on, a level whose offset in delayOffset.json is past its queue's "
        "end continues at the end."
    ),
    source="4.9.7 org.apache.rocketmq.store.schedule.ScheduleMessageService"
    "$DeliverDelayedMessageTimerTask#executeOnTimeup",
    since="4.9.2",
    issues=("apache/rocketmq#3473",),
)
