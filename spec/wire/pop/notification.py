"""
NOTIFICATION: a proxy waits for messages without popping them; and assigned queues.

QUERY_ASSIGNMENT moves the rebalance of clients to the broker. The mode of a topic and
group, PULL or POP, is a setting of the broker (SET_MESSAGE_REQUEST_MODE).
"""

from __future__ import annotations

from spec.clause import Clause, Level

_NOTIFICATION = "5.3.3 org.apache.rocketmq.broker.processor.NotificationProcessor"
_HOLD = "5.3.3 org.apache.rocketmq.broker.longpolling.PopLongPollingService"
_ASSIGNMENT = "5.3.3 org.apache.rocketmq.broker.processor.QueryAssignmentProcessor"

HAS_MESSAGE = Clause(
    id="POP-NOTIFY-001",
    level=Level.MUST,
    text=(
        "NOTIFICATION (200054) is answered with hasMsg true while there is a message "
        "that the group can pop, and does not hide it."
    ),
    source=f"{_NOTIFICATION}#processRequest",
    since="5.0",
)
NOTIFIED = Clause(
    id="POP-NOTIFY-002",
    level=Level.MUST,
    text=(
        "NOTIFICATION (200054) without a message is held, and answered with hasMsg "
        "true when one arrives."
    ),
    source=f"{_NOTIFICATION}#processRequest",
    since="5.0",
)
NOT_NOTIFIED = Clause(
    id="POP-NOTIFY-003",
    level=Level.MUST,
    text=(
        "From 5.1.1 on, NOTIFICATION (200054) without an arrival is answered with "
        "SUCCESS (0) and hasMsg false when its pollTime ends, and at most 50 ms "
        "before. 5.0 does so 3 seconds before, 5.1.0 half a second."
    ),
    source=f"{_HOLD}#polling",
    since="5.1.1",
)
NOT_FULL = Clause(
    id="POP-NOTIFY-004",
    level=Level.MUST,
    text=(
        "The response to NOTIFICATION (200054) has the text false as pollingFull, "
        "unless the broker refused to hold the request."
    ),
    source=f"{_NOTIFICATION}#processRequest",
    since="5.3.2",
)
DIVIDED_QUEUES = Clause(
    id="POP-ASSIGN-001",
    level=Level.MUST,
    text=(
        "In mode PULL, the responses to QUERY_ASSIGNMENT (400) divide the queues of a "
        "topic among the members of a group: each queue has one member."
    ),
    source=f"{_ASSIGNMENT}#doLoadBalance",
    since="5.0",
)
POP_MODE = Clause(
    id="POP-ASSIGN-002",
    level=Level.MUST,
    text=(
        "After SET_MESSAGE_REQUEST_MODE (401) to POP with popShareQueueNum 0, every "
        "member of the group is assigned queue -1 of the broker, in mode POP."
    ),
    source=f"{_ASSIGNMENT}#allocate4Pop",
    since="5.0",
)
UNKNOWN_STRATEGY = Clause(
    id="POP-ASSIGN-003",
    level=Level.MUST,
    text=(
        "QUERY_ASSIGNMENT (400) with an unknown strategy is answered with SUCCESS (0) "
        "and no list of assignments, so that the client keeps its queues."
    ),
    source=f"{_ASSIGNMENT}#doLoadBalance",
    since="5.0",
)
MODE_OF_RETRY_TOPIC = Clause(
    id="POP-ASSIGN-004",
    level=Level.MUST,
    text=(
        "SET_MESSAGE_REQUEST_MODE (401) for a retry topic is refused with "
        "NO_PERMISSION (16)."
    ),
    source=f"{_ASSIGNMENT}#setMessageRequestMode",
    since="5.0",
)
MODE_OF_UNKNOWN_TOPIC = Clause(
    id="POP-ASSIGN-005",
    level=Level.MUST,
    text=(
        "From 5.3.3 on, SET_MESSAGE_REQUEST_MODE (401) for an unknown topic is refused "
        "with TOPIC_NOT_EXIST (17)."
    ),
    source=f"{_ASSIGNMENT}#setMessageRequestMode",
    since="5.3.3",
)
ALL_MODES = Clause(
    id="POP-ASSIGN-006",
    level=Level.MUST,
    text=(
        "GET_ALL_MESSAGE_REQUEST_MODE (402) returns in messageRequestModeMap, by topic "
        "and group, each mode that SET_MESSAGE_REQUEST_MODE (401) set."
    ),
    source="5.3.3 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
    "#getAllMessageRequestMode",
    since="5.0",
)
SHARED_QUEUES = Clause(
    id="POP-ASSIGN-007",
    level=Level.MUST,
    text=(
        "In mode POP with popShareQueueNum n, a member is assigned its own queues and "
        "those of the next n members by client id. It holds for n above 0 and below "
        "the number of members minus 1, and with a queue for each member."
    ),
    source=f"{_ASSIGNMENT}#allocate4Pop",
    since="5.0",
)
