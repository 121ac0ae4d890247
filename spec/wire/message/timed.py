"""
A timed message is delivered at any time, from 5.0 on; from 5.3.2 on it can be recalled.

One of three properties has the time: TIMER_DELIVER_MS, TIMER_DELAY_MS, TIMER_DELAY_SEC.
The message waits in the topic rmq_sys_wheel_timer and in the timer wheel of
`spec.store.timer`. The response to its send has a recall handle.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from spec.clause import Clause, Level
from spec.layout import LayoutError

TIMER_PRECISION_MS = 1_000
"""Length of a slot of the timer wheel (Java: timerPrecisionMs)."""
TIMER_DELAY_MAX_S = 3 * 24 * 3_600
"""Longest delay of a timed message (Java: timerMaxDelaySec)."""
HANDLE_VERSION = "v1"
HANDLE_WORDS = 5

_HOOK = "5.3.3 org.apache.rocketmq.broker.util.HookUtils"
_TIMER = "5.3.3 org.apache.rocketmq.store.timer.TimerMessageStore"
_SEND = "5.3.3 org.apache.rocketmq.broker.processor.SendMessageProcessor"
_RECALL = (
    "5.3.3 org.apache.rocketmq.broker.processor.RecallMessageProcessor#processRequest"
)
_HANDLE = "5.3.3 org.apache.rocketmq.common.producer.RecallMessageHandle"
_ADMIN_3 = "5.3.3 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
_ADMIN_4 = "5.4.0 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"

DELIVERED_IN_TIME = Clause(
    id="DELAY-TIMER-001",
    level=Level.MUST,
    text=(
        "From 5.0 on, a message with TIMER_DELIVER_MS, TIMER_DELAY_MS or "
        "TIMER_DELAY_SEC reaches its topic and queue when that time has come, and not "
        "before."
    ),
    source=f"{_HOOK}#transformTimerMessage",
    since="5.0",
)
PAST_IS_DELIVERED = Clause(
    id="DELAY-TIMER-002",
    level=Level.MUST,
    text=(
        "From 5.0 on, a message whose TIMER_DELIVER_MS is in the past is stored in its "
        "topic immediately."
    ),
    source=f"{_HOOK}#transformTimerMessage",
    since="5.0",
)
TOO_FAR = Clause(
    id="DELAY-TIMER-003",
    level=Level.MUST,
    text=(
        "From 5.0 on, a message with a time more than timerMaxDelaySec (3 days by "
        "default) ahead is refused with MESSAGE_ILLEGAL (13)."
    ),
    source=f"{_HOOK}#transformTimerMessage",
    since="5.0",
)
TIME_IS_NO_NUMBER = Clause(
    id="DELAY-TIMER-004",
    level=Level.MUST,
    text=(
        "From 5.0 on, a message whose TIMER_DELIVER_MS is not a number is refused with "
        "MESSAGE_ILLEGAL (13)."
    ),
    source=f"{_HOOK}#transformTimerMessage",
    since="5.0",
)
LEVEL_BEFORE_TIME = Clause(
    id="DELAY-TIMER-005",
    level=Level.MUST,
    text=(
        "From 5.0 on, a message with a DELAY level and TIMER_DELIVER_MS is delivered "
        "after the delay of its level, without TIMER_DELIVER_MS."
    ),
    source=f"{_HOOK}#checkIfTimerMessage",
    since="5.0",
)
CHECKPOINT_AS_BODY = Clause(
    id="DELAY-TIMER-006",
    level=Level.MUST,
    text=(
        "From 5.0 on, GET_TIMER_CHECK_POINT (60) returns as its body the timer's "
        "checkpoint, whose queue offset grows with each timed message."
    ),
    source=f"{_ADMIN_3}#getTimerCheckPoint",
    since="5.0",
)
WAITING_BY_TOPIC = Clause(
    id="DELAY-METRICS-001",
    level=Level.MUST,
    text=(
        "From 5.0 on, GET_TIMER_METRICS (61) returns in timingCount, by topic, the "
        "number of timed messages that wait; a delivered one is subtracted."
    ),
    source=f"{_ADMIN_3}#getTimerMetrics; {_TIMER}#addMetric",
    since="5.0",
)
HANDLE_OF_TIMED = Clause(
    id="DELAY-RECALL-001",
    level=Level.MUST,
    text=(
        "From 5.3.2 on, the response to the send of a timed message has recallHandle. "
        "It is 'v1', topic, broker name, a time and the message's UNIQ_KEY, with a "
        "space between, as URL-safe Base64."
    ),
    source=f"{_SEND}#attachRecallHandle; {_HANDLE}$HandleV1#buildHandle",
    since="5.3.2",
)
NO_HANDLE = Clause(
    id="DELAY-RECALL-002",
    level=Level.MUST,
    text=(
        "From 5.3.2 on, the response to the send of a message without a time has no "
        "recallHandle."
    ),
    source=f"{_SEND}#attachRecallHandle",
    since="5.3.2",
)
RECALL_IS_OFF = Clause(
    id="DELAY-RECALL-003",
    level=Level.MUST,
    text=(
        "From 5.3.2 on, RECALL_MESSAGE (370) is refused with NO_PERMISSION (16) while "
        "recallMessageEnable is false, its default."
    ),
    source=_RECALL,
    since="5.3.2",
)
RECALLED = Clause(
    id="DELAY-RECALL-004",
    level=Level.MUST,
    text=(
        "From 5.3.2 on, RECALL_MESSAGE (370) with the handle of a waiting message "
        "returns its UNIQ_KEY as msgId, and the message is never delivered."
    ),
    source=f"{_RECALL}; {_TIMER}$TimerDequeueGetMessageService#run",
    since="5.3.2",
)
BAD_HANDLE = Clause(
    id="DELAY-RECALL-005",
    level=Level.MUST,
    text=(
        "From 5.3.2 on, RECALL_MESSAGE (370) with a recallHandle that is absent, not "
        "Base64, of another version or of fewer than five words is refused with "
        "ILLEGAL_OPERATION (604)."
    ),
    source=f"{_HANDLE}#decodeHandle",
    since="5.3.2",
)
HANDLE_OF_ANOTHER = Clause(
    id="DELAY-RECALL-006",
    level=Level.MUST,
    text=(
        "From 5.3.2 on, RECALL_MESSAGE (370) with the handle of another topic or "
        "broker is refused with ILLEGAL_OPERATION (604)."
    ),
    source=_RECALL,
    since="5.3.2",
)
RECALLED_TOO_LATE = Clause(
    id="DELAY-RECALL-007",
    level=Level.MUST,
    text=(
        "From 5.3.2 on, RECALL_MESSAGE (370) is refused with ILLEGAL_OPERATION (604) "
        "after the time in its handle, so also for a delivered message, and from "
        "timerMaxDelaySec before it."
    ),
    source=_RECALL,
    since="5.3.2",
)
RECALL_OF_NOTHING = Clause(
    id="DELAY-RECALL-008",
    level=Level.QUIRK,
    text=(
        "From 5.3.2 on, RECALL_MESSAGE (370) with a UNIQ_KEY that no message has, or "
        "of a message that is recalled already, is answered with SUCCESS (0)."
    ),
    source=_RECALL,
    since="5.3.2",
)
RECALL_OF_UNKNOWN_TOPIC = Clause(
    id="DELAY-RECALL-009",
    level=Level.MUST,
    text=(
        "From 5.3.2 on, RECALL_MESSAGE (370) for an unknown topic is refused with "
        "TOPIC_NOT_EXIST (17)."
    ),
    source=_RECALL,
    since="5.3.2",
)
ENGINE_OF_FILES = Clause(
    id="DELAY-ENGINE-001",
    level=Level.MUST,
    text=(
        "From 5.4 on, SWITCH_TIMER_ENGINE (5001) with E_T=F, for files, is answered "
        "with SUCCESS (0), and timed messages are delivered afterwards."
    ),
    source=f"{_ADMIN_4}#switchTimerEngine",
    since="5.4",
)
ENGINE_IS_UNKNOWN = Clause(
    id="DELAY-ENGINE-002",
    level=Level.MUST,
    text=(
        "From 5.4 on, SWITCH_TIMER_ENGINE (5001) with an E_T other than R and F, or "
        "without one, is refused with INVALID_PARAMETER (29)."
    ),
    source=f"{_ADMIN_4}#switchTimerEngine",
    since="5.4",
)
ENGINE_IS_ABSENT = Clause(
    id="DELAY-ENGINE-003",
    level=Level.MUST,
    text=(
        "From 5.4 on, SWITCH_TIMER_ENGINE (5001) with E_T=R, for RocksDB, is refused "
        "with INVALID_PARAMETER (29) by a broker that started with timerUseRocksDB "
        "false, its default."
    ),
    source=f"{_ADMIN_4}#switchTimerEngine",
    since="5.4",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallHandle:
    """Identity of a timed message (Java: RecallMessageHandle.HandleV1)."""

    topic: str
    broker_name: str
    time: str
    """Delivery time, in milliseconds: after TIMER_OUT_MS, rounded down."""
    unique_key: str
    version: str = HANDLE_VERSION


def encode_recall_handle(handle: RecallHandle) -> str:
    """Return *handle* as the text in a header."""
    words = (handle.version, handle.topic, handle.broker_name, handle.time)
    text = " ".join((*words, handle.unique_key))
    return urlsafe_b64encode(text.encode()).decode("ascii")


def decode_recall_handle(text: str) -> RecallHandle:
    """Return the handle that *text* has.

    Raises LayoutError for a text that is not a handle.
    """
    try:
        words = urlsafe_b64decode(text).decode().split(" ")
    except ValueError as error:  # not ASCII, not base64, or not UTF-8
        raise LayoutError(f"{text!r} is not a recall handle: {error}") from None
    if words[0] != HANDLE_VERSION or len(words) < HANDLE_WORDS:
        raise LayoutError(f"{text!r} is not a recall handle of five words")
    return RecallHandle(
        topic=words[1], broker_name=words[2], time=words[3], unique_key=words[4]
    )
