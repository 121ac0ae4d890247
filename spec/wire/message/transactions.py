"""
A transactional message is invisible until its producer decides.

The producer sends a half message, runs its local transaction, and commits or rolls back
with END_TRANSACTION. The broker keeps half messages in one system topic and op messages
of the decided ones in another; a decided half message is never removed. If a producer
does not decide, the broker sends a check request:
`spec.wire.message.transaction_checks` has the rules.
"""

from __future__ import annotations

from enum import IntEnum

from spec.clause import Clause, Level


class Decision(IntEnum):
    """Values of commitOrRollback in END_TRANSACTION: bits of the system flags."""

    UNKNOWN = 0
    COMMIT = 8
    ROLLBACK = 12


_SEND = "org.apache.rocketmq.broker.processor.SendMessageProcessor"
_END = "org.apache.rocketmq.broker.processor.EndTransactionProcessor"
_QUEUE = "org.apache.rocketmq.broker.transaction.queue"
_BRIDGE = f"4.6.0 {_QUEUE}.TransactionalMessageBridge"
_SERVICE = f"4.6.0 {_QUEUE}.TransactionalMessageServiceImpl"

HALF_IS_UNSEEN = Clause(
    id="TXN-HALF-001",
    level=Level.MUST,
    text=(
        "A message whose property TRAN_MSG is true is not in its topic's queue, and "
        "does not count there, before its commit."
    ),
    source=f"4.6.0 {_SEND}#sendMessage",
)
HALF_FLAGS = Clause(
    id="TXN-HALF-002",
    level=Level.MUST,
    text=(
        "The record of a half message has the transaction bits of its system flags "
        "clear, even if the producer set them."
    ),
    source=f"{_BRIDGE}#parseHalfMessageInner",
)
HALF_RESPONSE = Clause(
    id="TXN-HALF-003",
    level=Level.MUST,
    text=(
        "The response to the send of a half message has the producer's chosen queue, "
        "and the queue offset and id of the half message."
    ),
    source=f"4.6.0 {_SEND}#handlePutMessageResult",
)
HALF_REFUSED = Clause(
    id="TXN-HALF-004",
    level=Level.MUST,
    text=(
        "While a broker's rejectTransactionMessage is true, it refuses half messages "
        "with NO_PERMISSION (16) and accepts other messages."
    ),
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
    text="Up to 4.9, the response to the send of a half message has no transactionId.",
    source=f"4.6.0 {_SEND}#handlePutMessageResult",
    until="4.9",
)
HALF_TRANSACTION_ID = Clause(
    id="TXN-HALF-007",
    level=Level.MUST,
    text=(
        "From 5.0 on, the response to a send has the message's unique key as its "
        "transactionId."
    ),
    source=f"5.0.0 {_SEND}#handlePutMessageResult",
    since="5.0",
)
KEY_IS_REPEATED = Clause(
    id="TXN-HALF-008",
    level=Level.MUST,
    text=(
        "From 5.1 on, a half message is stored, and delivered, with its unique key "
        "in the property __transactionId__ too."
    ),
    source="5.3.3 org.apache.rocketmq.broker.transaction.queue"
    ".TransactionalMessageBridge#parseHalfMessageInner",
    since="5.1",
)
COMMIT = Clause(
    id="TXN-END-001",
    level=Level.MUST,
    text=(
        "END_TRANSACTION with TRANSACTION_COMMIT_TYPE (8) puts the message into its "
        "own topic and queue, with its original body, flag, properties, born time "
        "and born host."
    ),
    source=f"4.6.0 {_END}#endMessageTransaction",
)
COMMIT_FLAGS = Clause(
    id="TXN-END-002",
    level=Level.MUST,
    text=(
        "A committed message has TRANSACTION_COMMIT_TYPE (8) in its system flags and "
        "the commit-log offset of its half message as its prepared transaction "
        "offset."
    ),
    source=f"4.6.0 {_END}#processRequest",
)
ROLLBACK = Clause(
    id="TXN-END-003",
    level=Level.MUST,
    text=(
        "END_TRANSACTION with TRANSACTION_ROLLBACK_TYPE (12) is answered with "
        "SUCCESS (0), and the message is never delivered."
    ),
    source=f"4.6.0 {_END}#processRequest",
)
UNKNOWN_IS_SILENT = Clause(
    id="TXN-END-004",
    level=Level.QUIRK,
    text=(
        "END_TRANSACTION with TRANSACTION_NOT_TYPE (0) changes nothing and gets no "
        "response."
    ),
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
    text=(
        "END_TRANSACTION for an offset without a message is refused with "
        "SYSTEM_ERROR (1)."
    ),
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
    text=(
        "Up to 5.3, a committed message still has the properties TRAN_MSG, "
        "REAL_TOPIC and REAL_QID."
    ),
    source=f"4.6.0 {_END}#endMessageTransaction",
    hints=(("is absent", "Java removes them from a map that it has written before"),),
    until="5.3",
)
COMMIT_DROPS_REAL_TOPIC = Clause(
    id="TXN-END-018",
    level=Level.MUST,
    text="From 5.4 on, a committed message has neither REAL_TOPIC nor REAL_QID.",
    source=f"5.4.0 {_END}#endMessageTransaction (as observed)",
    since="5.4",
)
END_ONEWAY = Clause(
    id="TXN-END-011",
    level=Level.MUST,
    text="END_TRANSACTION sent oneway, as clients do, has the same effect.",
    source="4.6.0 org.apache.rocketmq.client.impl.MQClientAPIImpl#endTransactionOneway",
)
END_OF_ORDINARY = Clause(
    id="TXN-END-012",
    level=Level.MUST,
    text=(
        "END_TRANSACTION for the offset of an ordinary message is refused with "
        "SYSTEM_ERROR (1)."
    ),
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
    text=(
        "Up to 5.1.0, a producer may decide at any time, even after its message's "
        "CHECK_IMMUNITY_TIME_IN_SECONDS."
    ),
    source=f"4.6.0 {_END}#processRequest",
    until="5.1.0",
)
END_IS_LATE = Clause(
    id="TXN-END-015",
    level=Level.MUST,
    text=(
        "From 5.1.1 on, a decision later than the message's "
        "CHECK_IMMUNITY_TIME_IN_SECONDS is refused with ILLEGAL_OPERATION (604) "
        "unless it answers a check request."
    ),
    source=f"5.1.1 {_END}#rejectCommitOrRollback",
    since="5.1.1",
)
SLAVE_DECIDES_NOTHING = Clause(
    id="TXN-END-016",
    level=Level.MUST,
    text="A slave answers END_TRANSACTION with SLAVE_NOT_AVAILABLE (11).",
    source=f"4.6.0 {_END}#processRequest",
)
