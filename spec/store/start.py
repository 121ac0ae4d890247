"""
What keeps a broker from starting, or lets it start with less than its files have.

What recovery cuts off is in ``recovery``; here is what goes wrong before and after it.
Most of it is nobody's intention: a broker reads what it wrote itself, and other files
show what it takes for granted. ``rmqc recover`` foretells each of these.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_STORE = "org.apache.rocketmq.store.DefaultMessageStore"
_QUEUE = "org.apache.rocketmq.store.ConsumeQueue"
_LOG = "org.apache.rocketmq.store.CommitLog"

HOLES_HOLD_THE_START = Clause(
    id="REC-START-001",
    level=Level.QUIRK,
    text="A start whose dispatch comes to a place in the commit log that no file has"
    " never ends, and the broker never serves.",
    source=f"4.6.0 {_STORE}#start",
    since="4.5",
    until="4.9",
    issues=("apache/rocketmq#2141",),
)
HUGE_RECORD = Clause(
    id="REC-START-002",
    level=Level.QUIRK,
    text="A broker does not start when recovery meets a record with the right magic"
    " whose size is more than its memory can hold.",
    source=f"4.6.0 {_LOG}#checkMessageAndReturnSize",
    until="5.3.1",
    hints=(("any size up to 2147483645", "it depends on how much memory there is"),),
)
EMPTY_LAST_QUEUE_FILE = Clause(
    id="REC-START-003",
    level=Level.QUIRK,
    text="A broker does not start when the last file of a consume queue has no unit, an"
    " earlier one has, and no queue points at the commit log's last record.",
    source=f"5.3.3 {_QUEUE}#correctMinOffset",
    since="5.0",
    issues=("apache/rocketmq#9728", "apache/rocketmq#10108"),
)
STRAY_ENDS_THE_ROW = Clause(
    id="REC-START-004",
    level=Level.QUIRK,
    text="A broker starts without the files from the first of a wrong size on, of the"
    " commit log or of a queue, and writes over them when it comes to their names.",
    source="4.4.0 org.apache.rocketmq.store.MappedFileQueue#load",
    until="4.4",
)
FILLERS_HOLD_DISPATCH = Clause(
    id="REC-START-005",
    level=Level.QUIRK,
    text="A queue that has only fillers says that it reaches to 2147483647: messages"
    " before that place of the commit log then get no units after a start.",
    source=f"4.6.0 {_STORE}#start",
    since="4.5",
    until="4.9",
)
FIRST_MISSING_UNIT = Clause(
    id="REC-START-006",
    level=Level.QUIRK,
    text="After an orderly stop the record that begins just where the queues' last one"
    " ends gets no unit, the ones behind it do.",
    source=f"5.3.3 {_LOG}#recoverNormally",
    since="5.3.2",
)
GARBAGE_KEEPS_ITS_UNITS = Clause(
    id="REC-START-007",
    level=Level.QUIRK,
    text="A unit that points at what recovery did not read stays, and its place in the"
    " queue hands out whatever lies there.",
    source=f"4.6.0 {_LOG}#recoverNormally",
)
DELAY_OFFSETS_ARE_CORRECTED = Clause(
    id="REC-START-008",
    level=Level.MUST,
    text="A start sets a delay offset that lies outside of its level's queue to the"
    " nearer end of it.",
    source="4.9.7 org.apache.rocketmq.store.schedule.ScheduleMessageService"
    "#correctDelayOffset",
    since="4.9.2",
)
INDEX_FILES_MUST_OPEN = Clause(
    id="REC-START-009",
    level=Level.QUIRK,
    text="A broker does not start when a directory with a number for its name lies"
    " among the index files.",
    source=f"5.3.3 {_STORE}#load",
    since="5.1",
)
UNIT_SIZE_IS_BELIEVED = Clause(
    id="REC-START-010",
    level=Level.QUIRK,
    text="A unit's size is never compared with its record's: a reader gets so many"
    " bytes, and with a size of 0 an error, or since 5.0 no answer.",
    source=f"4.6.0 {_STORE}#getMessage",
)
TIMER_FILES = Clause(
    id="REC-START-011",
    level=Level.QUIRK,
    text="A broker does not start when the file timerwheel has bytes, but not as many"
    " as it should, or a file of the timer log has another size.",
    source="5.3.3 org.apache.rocketmq.store.timer.TimerWheel#TimerWheel",
    since="5.0",
)
