"""
Obstacles to a broker's start, and starts with less than the files have.

Truncation is in ``recovery``; here are the failures before and after it. A broker reads
its own files without suspicion, and foreign or damaged files show its assumptions.
``rmqc recover`` predicts each of these.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_STORE = "org.apache.rocketmq.store.DefaultMessageStore"
_QUEUE = "org.apache.rocketmq.store.ConsumeQueue"
_LOG = "org.apache.rocketmq.store.CommitLog"

HOLES_HOLD_THE_START = Clause(
    id="REC-DISPATCH-008",
    level=Level.QUIRK,
    text=(
        "From 4.5 to 4.9, a start whose dispatch reaches a commit-log offset without "
        "a file never ends, and the broker never serves."
    ),
    source=f"4.6.0 {_STORE}#start",
    since="4.5",
    until="4.9",
    issues=("apache/rocketmq#2141",),
)
HUGE_RECORD = Clause(
    id="REC-SCAN-013",
    level=Level.QUIRK,
    text=(
        "Up to 5.3.1, a broker does not start when recovery meets a record with "
        "valid magic whose size exceeds the available memory."
    ),
    source=f"4.6.0 {_LOG}#checkMessageAndReturnSize",
    until="5.3.1",
    hints=(("any size up to 2147483645", "it depends on how much memory there is"),),
)
EMPTY_LAST_QUEUE_FILE = Clause(
    id="REC-QUEUE-008",
    level=Level.QUIRK,
    text=(
        "From 5.0 to 5.4, a consume queue whose last file is empty and an earlier one "
        "is not prevents the start, unless some queue points at the log's last record."
    ),
    source=f"5.3.3 {_QUEUE}#correctMinOffset",
    since="5.0",
    until="5.4",
    issues=("apache/rocketmq#9728", "apache/rocketmq#10108"),
)
STRAY_ENDS_THE_ROW = Clause(
    id="REC-LOAD-006",
    level=Level.QUIRK,
    text=(
        "In 4.4, a broker ignores the files of the commit log or a consume queue "
        "from the first of a wrong size on. It overwrites them when it reaches their "
        "names."
    ),
    source="4.4.0 org.apache.rocketmq.store.MappedFileQueue#load",
    until="4.4",
)
FILLERS_HOLD_DISPATCH = Clause(
    id="REC-QUEUE-009",
    level=Level.QUIRK,
    text=(
        "From 4.5 to 4.9, a consume queue of fillers only counts as reaching offset "
        "2147483647: messages before that commit-log offset get no units after a "
        "start."
    ),
    source=f"4.6.0 {_STORE}#start",
    since="4.5",
    until="4.9",
)
FIRST_MISSING_UNIT = Clause(
    id="REC-DISPATCH-009",
    level=Level.QUIRK,
    text=(
        "From 5.3.2 on, after an orderly stop the record that begins where the "
        "queues' last one ends gets no unit; the records behind it do."
    ),
    source=f"5.3.3 {_LOG}#recoverNormally",
    since="5.3.2",
)
GARBAGE_KEEPS_ITS_UNITS = Clause(
    id="REC-QUEUE-010",
    level=Level.QUIRK,
    text=(
        "A unit that points outside of the recovered records stays, and a pull of "
        "its queue offset returns the bytes at that place."
    ),
    source=f"4.6.0 {_LOG}#recoverNormally",
)
DELAY_OFFSETS_ARE_CORRECTED = Clause(
    id="DELAY-START-003",
    level=Level.MUST,
    text=(
        "From 4.9.4 on, a start sets a delay offset outside of its level's queue to "
        "the nearer end of the queue."
    ),
    source="4.9.7 org.apache.rocketmq.store.schedule.ScheduleMessageService"
    "#correctDelayOffset",
    since="4.9.4",
)
INDEX_FILES_MUST_OPEN = Clause(
    id="REC-LOAD-007",
    level=Level.QUIRK,
    text=(
        "From 5.1 on, a broker does not start when a directory with a number for its "
        "name is among the index files."
    ),
    source=f"5.3.3 {_STORE}#load",
    since="5.1",
)
UNIT_SIZE_IS_BELIEVED = Clause(
    id="REC-QUEUE-011",
    level=Level.QUIRK,
    text=(
        "A unit's size is never compared with its record's: a consumer gets that "
        "many bytes, for a size of 0 an error, or from 5.1 on no response."
    ),
    source=f"4.6.0 {_STORE}#getMessage",
)
A_PULL_SKIPS_UNITS_BEHIND_A_WRONG_ONE = Clause(
    id="REC-QUEUE-013",
    level=Level.QUIRK,
    text=(
        "A pull that reaches a unit outside of the commit log skips later units of "
        "the same consume-queue file that point before the next commit-log file: 799 "
        "at most."
    ),
    source=f"4.6.0 {_STORE}#getMessage",
)
TIMER_FILES = Clause(
    id="REC-LOAD-008",
    level=Level.QUIRK,
    text=(
        "From 5.0 on, a broker does not start when the file timerwheel has bytes but "
        "a wrong size, or a file of the timer log has another size."
    ),
    source="5.3.3 org.apache.rocketmq.store.timer.TimerWheel#TimerWheel",
    since="5.0",
)
