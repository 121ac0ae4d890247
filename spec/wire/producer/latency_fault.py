"""
A producer may avoid slow brokers for a while (Java: sendLatencyFaultEnable).

A table gives the not available duration of a broker for the latency of a send. It is
off by default: then only the retries of one message avoid the broker that failed.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_STRATEGY = "4.6.0 org.apache.rocketmq.client.latency.MQFaultStrategy"
_FAULTS = "4.6.0 org.apache.rocketmq.client.latency.LatencyFaultToleranceImpl"
_LATER = "4.9.7 org.apache.rocketmq.client.latency.MQFaultStrategy"
_LATEST = "5.3.3 org.apache.rocketmq.client.latency.MQFaultStrategy"

LATENCIES_MS = (50, 100, 550, 1000, 2000, 3000, 15_000)
"""A send that took at least so long ..."""
ABSENCES_MS = (0, 0, 30_000, 60_000, 120_000, 180_000, 600_000)
"""... keeps its producer from the broker for so long."""

OFF = Clause(
    id="CLIENT-FAULT-001",
    level=Level.MUST,
    text="sendLatencyFaultEnable is false by default: a new message may go to a broker"
    " that just failed.",
    source=f"{_STRATEGY}#sendLatencyFaultEnable",
)
TABLE = Clause(
    id="CLIENT-FAULT-002",
    level=Level.MUST,
    text=(
        "Up to 5.1.3, a send that took at least 550, 1000, 2000, 3000 or 15,000 ms "
        "makes its broker not available for 30, 60, 120, 180 or 600 seconds."
    ),
    source=f"{_STRATEGY}#latencyMax",
    until="5.1.3",
    hints=(
        (
            "exactly 550 ms not counted",
            "are only larger latencies counted? The release counts equal ones",
        ),
    ),
)
LATER_TABLE = Clause(
    id="CLIENT-FAULT-003",
    level=Level.MUST,
    text=(
        "From 5.1.4 on, a send that took at least 550, 1800, 3000, 5000 or 15,000 ms "
        "makes its broker not available for 2, 5, 6, 10 or 30 seconds."
    ),
    source=f"{_LATEST}#latencyMax",
    since="5.1.4",
)
QUICK = Clause(
    id="CLIENT-FAULT-004",
    level=Level.MUST,
    text="A send that took less than 550 ms leaves its broker available.",
    source=f"{_STRATEGY}#computeNotAvailableDuration",
)
FAILED = Clause(
    id="CLIENT-FAULT-005",
    level=Level.MUST,
    text=(
        "Up to 5.1.3, a failed send counts as one of 30,000 ms: its broker is not "
        "available for 600 seconds."
    ),
    source=f"{_STRATEGY}#updateFaultItem",
    until="5.1.3",
    hints=(
        (
            "30 seconds",
            "30,000 ms is what the table is entered with, not what it answers",
        ),
    ),
)
FAILED_LATER = Clause(
    id="CLIENT-FAULT-006",
    level=Level.MUST,
    text=(
        "From 5.1.4 on, a failed send counts as one of 10,000 ms: its broker is not "
        "available for 10 seconds."
    ),
    source=f"{_LATEST}#updateFaultItem",
    since="5.1.4",
)
AVAILABLE = Clause(
    id="CLIENT-FAULT-007",
    level=Level.MUST,
    text=(
        "A broker without an entry in the latency table is available; one with an "
        "entry is available from the millisecond at which its not available duration "
        "ends."
    ),
    source=f"{_FAULTS}$FaultItem#isAvailable",
)
LAST_SEND_COUNTS = Clause(
    id="CLIENT-FAULT-008",
    level=Level.MUST,
    text="Every send sets its broker's not available duration anew.",
    source=f"{_FAULTS}#updateFaultItem",
)
SAME_BROKER = Clause(
    id="CLIENT-FAULT-009",
    level=Level.QUIRK,
    text=(
        "Up to 4.7, with the latency table on, a retry takes the next queue of the "
        "failed broker if that is available, never one of another available broker."
    ),
    source=f"{_STRATEGY}#selectOneMessageQueue",
    until="4.7",
    hints=(
        (
            "an available broker's entry is removed",
            "the release removes only the entry of a broker without queues",
        ),
    ),
)
ANY_AVAILABLE = Clause(
    id="CLIENT-FAULT-010",
    level=Level.MUST,
    text=(
        "From 4.8 to 5.1.3, with the latency table on, a message goes to the next "
        "queue whose broker is available."
    ),
    source=f"{_LATER}#selectOneMessageQueue",
    since="4.8",
    until="5.1.3",
)
NONE_AVAILABLE = Clause(
    id="CLIENT-FAULT-011",
    level=Level.MUST,
    text=(
        "Up to 5.1.3, pickOneAtLeast chooses among the better half of the brokers in "
        "the latency table, available ones first, then by the latency of their last "
        "send."
    ),
    source=f"{_FAULTS}#pickOneAtLeast",
    until="5.1.3",
)
