"""
A transaction is a message that nobody sees until its producer has made up its mind.

The producer sends a half message, does its own work, and says with END_TRANSACTION
that the message is to be delivered or forgotten. The broker keeps half messages in a
topic of its own and notes in another which of them are decided; what is decided is
never taken out of the first. When a producer says nothing, the broker asks it.

The article on transactions in the quick start describes the same, of a snapshot of
4.4. Where it and the releases disagree the clause says so.
"""

from __future__ import annotations

from enum import IntEnum

from spec.clause import Clause, Level

HALF_TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC"
"""Where half messages lie, all in queue 0."""
OPERATIONS_TOPIC = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
"""Where it is noted which half messages are decided."""
GIVEN_UP_TOPIC = "TRANS_CHECK_MAX_TIME_TOPIC"
"""Where half messages go about which nobody is asked any more."""
CHECK_GROUP = "CID_RMQ_SYS_TRANS"
"""Under this consumer group the broker remembers how far it has looked."""
DONE_TAG = "d"
"""The tag of a note (Java: REMOVETAG)."""


class Decision(IntEnum):
    """What END_TRANSACTION says in commitOrRollback: bits of the system flags."""

    UNKNOWN = 0
    COMMIT = 8
    ROLLBACK = 12


_SEND = "org.apache.rocketmq.broker.processor.SendMessageProcessor"
_END = "org.apache.rocketmq.broker.processor.EndTransactionProcessor"
_QUEUE = "org.apache.rocketmq.broker.transaction.queue"
_BRIDGE = f"4.6.0 {_QUEUE}.TransactionalMessageBridge"
_SERVICE = f"4.6.0 {_QUEUE}.TransactionalMessageServiceImpl"
_SERVICE_5 = f"5.1.0 {_QUEUE}.TransactionalMessageServiceImpl"
_LISTENER = f"4.6.0 {_QUEUE}.DefaultTransactionalMessageCheckListener"
_ASK = (
    "4.6.0 org.apache.rocketmq.broker.transaction"
    ".AbstractTransactionalMessageCheckListener#sendCheckMessage"
)
_SETTINGS = "org.apache.rocketmq.common.BrokerConfig"

HALF_IS_UNSEEN = Clause(
    id="TXN-HALF-001",
    level=Level.MUST,
    text="A message whose property TRAN_MSG is true is not in its topic's queue, and"
    " does not count there, before it is committed.",
    source=f"4.6.0 {_SEND}#sendMessage",
)
HALF_FLAGS = Clause(
    id="TXN-HALF-002",
    level=Level.MUST,
    text="The record of a half message has the transaction bits of its system flags"
    " clear, whatever bits its producer set.",
    source=f"{_BRIDGE}#parseHalfMessageInner",
)
HALF_ANSWER = Clause(
    id="TXN-HALF-003",
    level=Level.MUST,
    text="The answer to the send of a half message names the queue that the producer"
    " chose, and the queue offset and id that it has as a half message.",
    source=f"4.6.0 {_SEND}#handlePutMessageResult",
)
HALF_REFUSED = Clause(
    id="TXN-HALF-004",
    level=Level.MUST,
    text="While a broker's rejectTransactionMessage is true, half messages are refused"
    " with NO_PERMISSION (16) and other messages are taken.",
    source=f"4.6.0 {_SEND}#sendMessage",
)
HALF_TRUTH = Clause(
    id="TXN-HALF-005",
    level=Level.MUST,
    text="TRAN_MSG is true in any case of its letters; with any other value the"
    " message is an ordinary one.",
    source=f"4.6.0 {_SEND}#sendMessage",
)
HALF_NO_TRANSACTION_ID = Clause(
    id="TXN-HALF-006",
    level=Level.QUIRK,
    text="The answer to the send of a half message has no transactionId.",
    source=f"4.6.0 {_SEND}#handlePutMessageResult",
    until="4.9",
)
HALF_TRANSACTION_ID = Clause(
    id="TXN-HALF-007",
    level=Level.MUST,
    text="The answer to a send names the message's unique key as its transactionId.",
    source=f"5.0.0 {_SEND}#handlePutMessageResult",
    since="5.0",
)
COMMIT = Clause(
    id="TXN-END-001",
    level=Level.MUST,
    text="END_TRANSACTION with commitOrRollback 8 puts the message into its own topic"
    " and queue, with the body, flag, properties, born time and born host that it was"
    " sent with.",
    source=f"4.6.0 {_END}#endMessageTransaction",
)
COMMIT_FLAGS = Clause(
    id="TXN-END-002",
    level=Level.MUST,
    text="A committed message has the commit bit, 8, in its system flags and the"
    " commit-log offset of its half message as its prepared transaction offset.",
    source=f"4.6.0 {_END}#processRequest",
)
ROLLBACK = Clause(
    id="TXN-END-003",
    level=Level.MUST,
    text="END_TRANSACTION with commitOrRollback 12 is a success, and the message is"
    " never delivered.",
    source=f"4.6.0 {_END}#processRequest",
)
UNKNOWN_IS_SILENT = Clause(
    id="TXN-END-004",
    level=Level.QUIRK,
    text="END_TRANSACTION with commitOrRollback 0 changes nothing and is not answered.",
    source=f"4.6.0 {_END}#processRequest",
)
WRONG_DECISION = Clause(
    id="TXN-END-017",
    level=Level.MUST,
    text="END_TRANSACTION with a commitOrRollback other than 0, 8 and 12 is refused"
    " with SYSTEM_ERROR (1).",
    source="4.6.0 org.apache.rocketmq.common.protocol.header"
    ".EndTransactionRequestHeader#checkFields",
)
END_OF_NOTHING = Clause(
    id="TXN-END-005",
    level=Level.MUST,
    text="END_TRANSACTION for an offset at which no message lies is refused with"
    " SYSTEM_ERROR (1).",
    source=f"{_SERVICE}#getHalfMessageByOffset",
)
END_OF_ANOTHER_GROUP = Clause(
    id="TXN-END-006",
    level=Level.MUST,
    text="END_TRANSACTION from another producer group than the half message's PGROUP"
    " is refused with SYSTEM_ERROR (1), and nothing is delivered.",
    source=f"4.6.0 {_END}#checkPrepareMessage",
)
END_OF_ANOTHER_OFFSET = Clause(
    id="TXN-END-007",
    level=Level.MUST,
    text="END_TRANSACTION whose tranStateTableOffset is not the half message's queue"
    " offset is refused with SYSTEM_ERROR (1), and nothing is delivered.",
    source=f"4.6.0 {_END}#checkPrepareMessage",
)
COMMIT_TWICE = Clause(
    id="TXN-END-008",
    level=Level.QUIRK,
    text="A commit that is repeated delivers the message again.",
    source=f"4.6.0 {_END}#processRequest",
)
COMMIT_AFTER_ROLLBACK = Clause(
    id="TXN-END-009",
    level=Level.QUIRK,
    text="A commit after a rollback delivers the message all the same.",
    source=f"4.6.0 {_END}#processRequest",
)
COMMIT_KEEPS_REAL_TOPIC = Clause(
    id="TXN-END-010",
    level=Level.QUIRK,
    text="A committed message still has the properties TRAN_MSG, REAL_TOPIC and"
    " REAL_QID.",
    source=f"4.6.0 {_END}#endMessageTransaction",
    hints=(("is absent", "Java removes them from a map that it has written before"),),
    until="5.3",
)
COMMIT_DROPS_REAL_TOPIC = Clause(
    id="TXN-END-018",
    level=Level.MUST,
    text="A committed message has neither REAL_TOPIC nor REAL_QID.",
    source=f"5.4.0 {_END}#endMessageTransaction (as observed)",
    since="5.4",
)
END_ONE_WAY = Clause(
    id="TXN-END-011",
    level=Level.MUST,
    text="END_TRANSACTION sent oneway, as clients do, has the same effect.",
    source="4.6.0 org.apache.rocketmq.client.impl.MQClientAPIImpl#endTransactionOneway",
)
END_OF_ORDINARY = Clause(
    id="TXN-END-012",
    level=Level.MUST,
    text="END_TRANSACTION for an offset at which an ordinary message lies is refused"
    " with SYSTEM_ERROR (1).",
    source=f"4.6.0 {_END}#checkPrepareMessage",
)
END_BY_PLACE = Clause(
    id="TXN-END-013",
    level=Level.MUST,
    text="END_TRANSACTION finds the half message by its offsets alone: msgId and"
    " transactionId are not compared.",
    source=f"4.6.0 {_END}#checkPrepareMessage",
)
END_IS_NEVER_LATE = Clause(
    id="TXN-END-014",
    level=Level.QUIRK,
    text="A producer may decide at any time, also after the"
    " CHECK_IMMUNITY_TIME_IN_SECONDS that its message names.",
    source=f"4.6.0 {_END}#processRequest",
    until="5.1.0",
)
END_IS_LATE = Clause(
    id="TXN-END-015",
    level=Level.MUST,
    text="A decision later than the message's CHECK_IMMUNITY_TIME_IN_SECONDS is refused"
    " with ILLEGAL_OPERATION (604) unless it answers a question of the broker.",
    source=f"5.1.1 {_END}#rejectCommitOrRollback",
    since="5.1.1",
)
SLAVE_DECIDES_NOTHING = Clause(
    id="TXN-END-016",
    level=Level.MUST,
    text="A slave answers END_TRANSACTION with SLAVE_NOT_AVAILABLE (11).",
    source=f"4.6.0 {_END}#processRequest",
)
NOTE = Clause(
    id="TXN-NOTE-001",
    level=Level.MUST,
    text="A commit and a rollback are each noted in RMQ_SYS_TRANS_OP_HALF_TOPIC, in the"
    " queue of the half message's number, by a message with the tag d.",
    source=f"{_BRIDGE}#addRemoveTagInTransactionOp",
)
NOTES_HAVE_NO_TOPIC = Clause(
    id="TXN-NOTE-004",
    level=Level.QUIRK,
    text="The notes' topic is not among the broker's topics, so that nobody can pull"
    " them before an administrator creates it.",
    source=f"{_BRIDGE}#writeOp",
    until="4.9",
)
NOTES_HAVE_A_TOPIC = Clause(
    id="TXN-NOTE-005",
    level=Level.SHOULD,
    text="Both topics of transactions are among the broker's topics, with one queue"
    " each.",
    source="5.0.0 org.apache.rocketmq.broker.topic.TopicConfigManager#init",
    since="5.0",
)
NOTE_BODY = Clause(
    id="TXN-NOTE-002",
    level=Level.MUST,
    text="The body of a note is the half message's queue offset in decimal digits.",
    source=f"{_BRIDGE}#addRemoveTagInTransactionOp",
    until="5.0",
)
NOTE_BODY_OF_MANY = Clause(
    id="TXN-NOTE-003",
    level=Level.MUST,
    text="The body of a note is the queue offsets of half messages in decimal digits,"
    " a comma after each.",
    source=f"{_SERVICE_5}#getOpMessage",
    since="5.1",
)
QUESTION = Clause(
    id="TXN-CHECK-001",
    level=Level.MUST,
    text="A client of the producer group of an undecided half message is sent"
    " CHECK_TRANSACTION_STATE (39), oneway.",
    source=_ASK,
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
    text="The question names the half message by commitLogOffset,"
    " tranStateTableOffset and offsetMsgId, and its unique key as msgId and"
    " transactionId.",
    source=_ASK,
)
QUESTION_BODY = Clause(
    id="TXN-CHECK-003",
    level=Level.MUST,
    text="The question's body is a record of the message under its own topic and"
    " queue.",
    source=_ASK,
    issues=(
        "apache/rocketmq#1375",
        "apache/rocketmq#9953",
    ),
)
QUESTION_WAITS = Clause(
    id="TXN-CHECK-004",
    level=Level.MUST,
    text="No question is asked before the broker's transactionTimeOut has passed since"
    " the half message's born time.",
    source=f"{_SERVICE}#check",
    hints=(("is earlier", "the article counts from the store time; no release does"),),
)
QUESTION_BELIEVES_PRODUCERS = Clause(
    id="TXN-CHECK-005",
    level=Level.QUIRK,
    text="A half message that was born long ago, or in the future, by its producer's"
    " clock is asked about without waiting.",
    source=f"{_SERVICE}#check",
)
QUESTION_RENEWS = Clause(
    id="TXN-CHECK-006",
    level=Level.MUST,
    text="Before each question the half message is stored once more, with its"
    " TRANSACTION_CHECK_TIMES counted up from 1, and the question names that record.",
    source=f"{_SERVICE}#putBackHalfMsgQueue",
)
QUESTION_ANSWERED = Clause(
    id="TXN-CHECK-007",
    level=Level.MUST,
    text="END_TRANSACTION with the offsets of a question and fromTransactionCheck true"
    " decides the message.",
    source=f"4.6.0 {_END}#processRequest",
)
DECIDED_IS_NOT_ASKED = Clause(
    id="TXN-CHECK-008",
    level=Level.MUST,
    text="No question is asked about a half message whose decision is noted.",
    source=f"{_SERVICE}#fillOpRemoveMap",
)
GIVEN_UP = Clause(
    id="TXN-CHECK-009",
    level=Level.MUST,
    text="After transactionCheckMax questions a half message is moved to"
    " TRANS_CHECK_MAX_TIME_TOPIC and never delivered.",
    source=f"{_LISTENER}#resolveDiscardMsg",
    since="4.5.2",
)
GIVEN_UP_IS_DROPPED = Clause(
    id="TXN-CHECK-010",
    level=Level.MUST,
    text="After transactionCheckMax questions a half message is passed over for good.",
    source=f"4.4.0 {_QUEUE}.DefaultTransactionalMessageCheckListener#resolveDiscardMsg",
    until="4.5.1",
)
TOO_OLD_IS_GIVEN_UP = Clause(
    id="TXN-CHECK-011",
    level=Level.MUST,
    text="A half message that was born more than fileReservedTime hours ago is moved to"
    " TRANS_CHECK_MAX_TIME_TOPIC without a question.",
    source=f"{_SERVICE}#needSkip",
    since="4.5.2",
)
OWN_TIMEOUT = Clause(
    id="TXN-CHECK-012",
    level=Level.MUST,
    text="A half message with CHECK_IMMUNITY_TIME_IN_SECONDS is not asked about before"
    " so many seconds have passed since its born time, whatever transactionTimeOut"
    " says.",
    source=f"{_SERVICE}#getImmunityTime",
)
OWN_TIMEOUT_RENEWS = Clause(
    id="TXN-CHECK-013",
    level=Level.QUIRK,
    text="A half message that waits for a time of its own is stored again and again"
    " meanwhile, with the queue offset that it had first in"
    " TRAN_PREPARED_QUEUE_OFFSET.",
    source=f"{_BRIDGE}#renewImmunityHalfMessageInner",
)
# Before 4.5.2 what is given up leaves no trace, so the next two cannot be seen.
WAITING_COUNTS = Clause(
    id="TXN-CHECK-020",
    level=Level.QUIRK,
    text="Each look at a half message that waits for a time of its own counts as a"
    " question: after transactionCheckMax of them it is given up unasked.",
    source=f"{_SERVICE}#needDiscard",
    since="4.5.2",
)
NOBODY_TO_ASK = Clause(
    id="TXN-CHECK-014",
    level=Level.QUIRK,
    text="A look at a half message counts as a question also when no client of its"
    " producer group is there to be asked.",
    source=_ASK,
    since="4.5.2",
)
YOUNG_ONE_STOPS = Clause(
    id="TXN-CHECK-015",
    level=Level.QUIRK,
    text="A half message that is too young to be asked about makes those behind it"
    " wait, however old they are.",
    source=f"{_SERVICE}#check",
)
CHECK_PROGRESS = Clause(
    id="TXN-CHECK-016",
    level=Level.SHOULD,
    text="How far the broker has looked is the committed offset of the group"
    " CID_RMQ_SYS_TRANS in both topics of transactions.",
    source=f"{_BRIDGE}#updateConsumeOffset",
)
CHECK_DEFAULTS = Clause(
    id="TXN-CHECK-017",
    level=Level.SHOULD,
    text="By default transactionTimeOut is 6000 and transactionCheckMax is 15.",
    source=f"4.6.0 {_SETTINGS}#transactionCheckMax",
    hints=(("5", "the article says 5 questions; it was 15 in 4.4.0 already"),),
)
CHECK_INTERVAL = Clause(
    id="TXN-CHECK-018",
    level=Level.SHOULD,
    text="By default transactionCheckInterval is 60000.",
    source=f"4.6.0 {_SETTINGS}#transactionCheckInterval",
    until="5.1.0",
)
CHECK_INTERVAL_SHORTER = Clause(
    id="TXN-CHECK-019",
    level=Level.SHOULD,
    text="By default transactionCheckInterval is 30000.",
    source=f"5.1.1 {_SETTINGS}#transactionCheckInterval",
    since="5.1.1",
)
