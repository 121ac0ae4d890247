"""
A delayed message is stored at once, under another topic, and delivered when it is due.

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
    until="4.9",
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
