"""
Checks of undecided half messages by a broker.

A broker writes op messages for decided half messages, passes over the others at
intervals, and sends check requests to their producers. After a number of checks, or at
a certain age, it gives a half message up. The messages themselves, and a producer's
decision, are in `spec.wire.message.transactions`.
"""

from __future__ import annotations

from spec.clause import Clause, Level

DONE_TAG = "d"
"""Tag of an op message (Java: REMOVETAG)."""

_END = "4.6.0 org.apache.rocketmq.broker.processor.EndTransactionProcessor"
_QUEUE = "org.apache.rocketmq.broker.transaction.queue"
_BRIDGE = f"4.6.0 {_QUEUE}.TransactionalMessageBridge"
_SERVICE = f"4.6.0 {_QUEUE}.TransactionalMessageServiceImpl"
_SERVICE_5 = f"5.1.0 {_QUEUE}.TransactionalMessageServiceImpl"
_LISTENER = f"4.6.0 {_QUEUE}.DefaultTransactionalMessageCheckListener"
_SEND_CHECK = (
    "4.6.0 org.apache.rocketmq.broker.transaction"
    ".AbstractTransactionalMessageCheckListener#sendCheckMessage"
)
_SETTINGS = "org.apache.rocketmq.common.BrokerConfig"

OP_MESSAGE = Clause(
    id="TXN-OP-001",
    level=Level.MUST,
    text=(
        "The queue offset of each half message that was committed or rolled back is "
        "in an op message in RMQ_SYS_TRANS_OP_HALF_TOPIC. The op message has the tag d "
        "and the half message's queue id."
    ),
    source=f"{_BRIDGE}#addRemoveTagInTransactionOp",
)
OP_TOPIC_IS_MISSING = Clause(
    id="TXN-OP-004",
    level=Level.QUIRK,
    text=(
        "Up to 4.9, RMQ_SYS_TRANS_OP_HALF_TOPIC is not among the broker's topics, so "
        "it cannot be pulled before an administrator creates it."
    ),
    source=f"{_BRIDGE}#writeOp",
    until="4.9",
)
OP_TOPIC_EXISTS = Clause(
    id="TXN-OP-005",
    level=Level.SHOULD,
    text=(
        "From 5.0 on, the half topic and the op topic are among the broker's topics, "
        "with one queue each."
    ),
    source="5.0.0 org.apache.rocketmq.broker.topic.TopicConfigManager#init",
    since="5.0",
)
OP_BODY = Clause(
    id="TXN-OP-002",
    level=Level.MUST,
    text=(
        "Up to 5.0, the body of an op message is the half message's queue offset in "
        "decimal digits."
    ),
    source=f"{_BRIDGE}#addRemoveTagInTransactionOp",
    until="5.0",
)
OP_BODY_OF_SEVERAL = Clause(
    id="TXN-OP-003",
    level=Level.MUST,
    text=(
        "From 5.1 on, the body of an op message is the queue offsets of half "
        "messages in decimal digits, a comma after each."
    ),
    source=f"{_SERVICE_5}#getOpMessage",
    since="5.1",
)
OP_BODY_OF_SEVERAL_IS_UNREAD = Clause(
    id="TXN-OP-006",
    level=Level.QUIRK,
    text=(
        "A broker up to 5.0 that opens the store of a later release does not decode "
        "op messages with commas, and checks the half messages that they decide "
        "again."
    ),
    source="4.6.0 org.apache.rocketmq.broker.transaction.queue"
    ".TransactionalMessageServiceImpl#fillOpRemoveMap",
    until="5.0",
)
QUESTION = Clause(
    id="TXN-CHECK-001",
    level=Level.MUST,
    text=(
        "A client of the producer group of an undecided half message receives "
        "CHECK_TRANSACTION_STATE (39), oneway."
    ),
    source=_SEND_CHECK,
    issues=(
        "apache/rocketmq#9500",
        "apache/rocketmq#1517",
        "apache/rocketmq#544",
        "apache/rocketmq#8311",
    ),
)
QUESTION_HEADER = Clause(
    id="TXN-CHECK-002",
    level=Level.MUST,
    text=(
        "A check request names the half message by commitLogOffset, "
        "tranStateTableOffset and offsetMsgId, and its unique key as msgId and "
        "transactionId."
    ),
    source=_SEND_CHECK,
)
QUESTION_BODY = Clause(
    id="TXN-CHECK-003",
    level=Level.MUST,
    text=(
        "A check request's body is a record of the message under its own topic and "
        "queue."
    ),
    source=_SEND_CHECK,
    issues=(
        "apache/rocketmq#1375",
        "apache/rocketmq#9953",
    ),
)
QUESTION_WAITS = Clause(
    id="TXN-CHECK-004",
    level=Level.MUST,
    text=(
        "No check request is sent before the broker's transactionTimeOut has passed "
        "since the half message's born time."
    ),
    source=f"{_SERVICE}#check",
    hints=(("is earlier", "does the time count from the store time?"),),
)
QUESTION_BELIEVES_PRODUCERS = Clause(
    id="TXN-CHECK-005",
    level=Level.QUIRK,
    text=(
        "A half message that was born long ago, or in the future, by its producer's "
        "clock is checked without waiting."
    ),
    source=f"{_SERVICE}#check",
)
QUESTION_RENEWS = Clause(
    id="TXN-CHECK-006",
    level=Level.MUST,
    text=(
        "Before each check the half message is stored once more, with its "
        "TRANSACTION_CHECK_TIMES counted up from 1, and the check request names that "
        "record."
    ),
    source=f"{_SERVICE}#putBackHalfMsgQueue",
)
RENEWAL_KEEPS_COMPRESSION = Clause(
    id="TXN-CHECK-023",
    level=Level.MUST,
    text=(
        "From 4.6.0 on, a compressed half message that is stored once more keeps its "
        "compressed body and its flag. Up to 4.5.2 the body is decompressed and the "
        "flag stays. No broker of these releases can decode this record, and it "
        "checks no half message afterwards."
    ),
    source=f"{_BRIDGE}#decodeMsgList",
    since="4.6.0",
)
RENEWAL_FORGETS = Clause(
    id="TXN-CHECK-021",
    level=Level.QUIRK,
    text=(
        "A half message that is stored once more has flag 0 and reconsume times 0, "
        "and so has the message that its commit delivers."
    ),
    source=f"{_BRIDGE}#renewHalfMessageInner",
)
CHECK_REQUEST_SHOWS_THE_RECORD_BEFORE = Clause(
    id="TXN-CHECK-024",
    level=Level.QUIRK,
    text=(
        "The record in a check request has the store time, the flag and the reconsume "
        "times of the half message before it was stored once more."
    ),
    source=f"{_SERVICE}#putBackHalfMsgQueue",
)
QUESTION_ANSWERED = Clause(
    id="TXN-CHECK-007",
    level=Level.MUST,
    text=(
        "END_TRANSACTION with the offsets of a check request and "
        "fromTransactionCheck true decides the transaction."
    ),
    source=f"{_END}#processRequest",
)
DECIDED_IS_NOT_CHECKED = Clause(
    id="TXN-CHECK-008",
    level=Level.MUST,
    text="No check request is sent for a half message with an op message.",
    source=f"{_SERVICE}#fillOpRemoveMap",
)
DECIDED_AFTER_A_DELETION = Clause(
    id="TXN-CHECK-025",
    level=Level.MUST,
    text=(
        "A half message that is decided after the deletion of a topic is not checked, "
        "if a pass of the checks comes before its transactionTimeOut."
    ),
    source=f"{_SERVICE}#fillOpRemoveMap",
)
GIVEN_UP = Clause(
    id="TXN-CHECK-009",
    level=Level.MUST,
    text=(
        "From 4.5.2 on, after transactionCheckMax checks a half message is moved to "
        "TRANS_CHECK_MAX_TIME_TOPIC and never delivered."
    ),
    source=f"{_LISTENER}#resolveDiscardMsg",
    since="4.5.2",
)
GIVEN_UP_IS_DROPPED = Clause(
    id="TXN-CHECK-010",
    level=Level.MUST,
    text=(
        "Up to 4.5.1, after transactionCheckMax checks a half message is skipped "
        "permanently."
    ),
    source=f"4.4.0 {_QUEUE}.DefaultTransactionalMessageCheckListener#resolveDiscardMsg",
    until="4.5.1",
)
TOO_OLD_IS_GIVEN_UP = Clause(
    id="TXN-CHECK-011",
    level=Level.MUST,
    text=(
        "From 4.5.2 on, a half message that was born more than fileReservedTime "
        "hours ago is moved to TRANS_CHECK_MAX_TIME_TOPIC without a check request."
    ),
    source=f"{_SERVICE}#needSkip",
    since="4.5.2",
)
OWN_TIMEOUT = Clause(
    id="TXN-CHECK-012",
    level=Level.MUST,
    text=(
        "A half message with CHECK_IMMUNITY_TIME_IN_SECONDS is not checked before "
        "that time has passed since its born time, regardless of transactionTimeOut."
    ),
    source=f"{_SERVICE}#getImmunityTime",
)
OWN_TIMEOUT_RENEWS = Clause(
    id="TXN-CHECK-013",
    level=Level.QUIRK,
    text=(
        "A half message within its CHECK_IMMUNITY_TIME_IN_SECONDS is stored again at "
        "each pass, with its first queue offset in TRAN_PREPARED_QUEUE_OFFSET."
    ),
    source=f"{_BRIDGE}#renewImmunityHalfMessageInner",
)
# Before 4.5.2 what is given up leaves no trace, so the next two cannot be seen.
WAITING_COUNTS = Clause(
    id="TXN-CHECK-020",
    level=Level.QUIRK,
    text=(
        "From 4.5.2 on, each pass over a half message within its "
        "CHECK_IMMUNITY_TIME_IN_SECONDS counts as a check: after transactionCheckMax "
        "of them it is discarded unchecked."
    ),
    source=f"{_SERVICE}#needDiscard",
    since="4.5.2",
)
CHECK_WITHOUT_CLIENT = Clause(
    id="TXN-CHECK-014",
    level=Level.QUIRK,
    text=(
        "From 4.5.2 on, a check of a half message counts even if no client of its "
        "producer group is connected."
    ),
    source=_SEND_CHECK,
    since="4.5.2",
)
YOUNG_ONE_STOPS = Clause(
    id="TXN-CHECK-015",
    level=Level.QUIRK,
    text=(
        "A half message that is too young to be checked delays those behind it, "
        "regardless of their age."
    ),
    source=f"{_SERVICE}#check",
)
CHECK_PROGRESS = Clause(
    id="TXN-CHECK-016",
    level=Level.SHOULD,
    text=(
        "The broker's progress of checking is the committed offset of the group "
        "CID_RMQ_SYS_TRANS in the half topic and the op topic."
    ),
    source=f"{_BRIDGE}#updateConsumeOffset",
)
CHECK_DEFAULTS = Clause(
    id="TXN-CHECK-017",
    level=Level.SHOULD,
    text="By default transactionTimeOut is 6000 and transactionCheckMax is 15.",
    source=f"4.6.0 {_SETTINGS}#transactionCheckMax",
    hints=(("5", "5 was the default of 4.3.0"),),
)
CHECK_INTERVAL = Clause(
    id="TXN-CHECK-018",
    level=Level.SHOULD,
    text="Up to 5.1.0, transactionCheckInterval is 60000 by default.",
    source=f"4.6.0 {_SETTINGS}#transactionCheckInterval",
    until="5.1.0",
)
CHECK_INTERVAL_SHORTER = Clause(
    id="TXN-CHECK-019",
    level=Level.SHOULD,
    text="From 5.1.1 on, transactionCheckInterval is 30000 by default.",
    source=f"5.1.1 {_SETTINGS}#transactionCheckInterval",
    since="5.1.1",
)
MALFORMED_HALF = Clause(
    id="TXN-CHECK-022",
    level=Level.MUST,
    text=(
        "Up to 4.7.0, a half message or op message with malformed properties or body "
        "does not stop the checks of the half messages around it."
    ),
    source=f"{_SERVICE}#check",
    until="4.7.0",
)
