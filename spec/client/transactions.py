"""
A producer's part of a transaction: the half message, the decision, and checks.

The broker's part is in ``spec.wire.message.transactions`` and
``spec.wire.message.transaction_checks``.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_SENDER = "4.6.0 org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl"

HALF = Clause(
    id="CLIENT-TXN-001",
    level=Level.MUST,
    text=(
        "A transactional message is sent synchronously with TRAN_MSG true, its "
        "producer group in PGROUP, and without DELAY."
    ),
    source=f"{_SENDER}#sendMessageInTransaction",
)
DECIDED = Clause(
    id="CLIENT-TXN-002",
    level=Level.MUST,
    text=(
        "After the half message is stored, the producer runs the local transaction "
        "and sends END_TRANSACTION oneway to the master, with the half message's "
        "queue offset and commit-log offset. The field commitOrRollback is 8 "
        "(commit), 12 (rollback) or 0 (unknown)."
    ),
    source=f"{_SENDER}#endTransaction",
)
STORED_BADLY = Clause(
    id="CLIENT-TXN-003",
    level=Level.MUST,
    text=(
        "A half message that was stored but not flushed or replicated in time is "
        "rolled back, and the local transaction does not run."
    ),
    source=f"{_SENDER}#sendMessageInTransaction",
)
FAILED = Clause(
    id="CLIENT-TXN-004",
    level=Level.MUST,
    text=(
        "A producer whose local transaction or check fails sends commitOrRollback 0 "
        "(TRANSACTION_NOT_TYPE)."
    ),
    source=f"{_SENDER}#checkTransactionState",
)
CHECK_IS_ANSWERED = Clause(
    id="CLIENT-TXN-005",
    level=Level.MUST,
    text=(
        "A producer answers CHECK_TRANSACTION_STATE (39) for a half message of its "
        "group oneway to the same broker, with the check request's offsets and "
        "fromTransactionCheck true."
    ),
    source=f"{_SENDER}#checkTransactionState",
)
NOT_ITS_GROUP = Clause(
    id="CLIENT-TXN-006",
    level=Level.MUST,
    text=(
        "A check request for a half message of another group gets no END_TRANSACTION."
    ),
    source="4.6.0 org.apache.rocketmq.client.impl.ClientRemotingProcessor"
    "#checkTransactionState",
)
