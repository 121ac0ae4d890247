"""
How a producer sends messages that count only when it says so, and answers when asked.

What a broker makes of them is in ``spec.wire.transactions`` and
``spec.wire.transaction_checks``.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_SENDER = "4.6.0 org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl"

HALF = Clause(
    id="CLIENT-TXN-001",
    level=Level.MUST,
    text="A message of a transaction is sent synchronously with TRAN_MSG true, PGROUP"
    " its producer's group, and without DELAY.",
    source=f"{_SENDER}#sendMessageInTransaction",
)
DECIDED = Clause(
    id="CLIENT-TXN-002",
    level=Level.MUST,
    text="When the half message is stored the producer acts, and tells the master"
    " oneway with END_TRANSACTION what came of it: 8 commits, 12 rolls back, 0 does not"
    " know; with the half message's queue offset and commit-log offset.",
    source=f"{_SENDER}#endTransaction",
)
STORED_BADLY = Clause(
    id="CLIENT-TXN-003",
    level=Level.MUST,
    text="A half message that was stored but not flushed or replicated in time is"
    " rolled back, and the producer does not act.",
    source=f"{_SENDER}#sendMessageInTransaction",
)
FAILED = Clause(
    id="CLIENT-TXN-004",
    level=Level.MUST,
    text="A producer that fails while it acts or is asked tells the broker 0.",
    source=f"{_SENDER}#checkTransactionState",
)
ASKED = Clause(
    id="CLIENT-TXN-005",
    level=Level.MUST,
    text="A producer that is asked about a half message of its group, with"
    " CHECK_TRANSACTION_STATE, tells the broker that asked oneway, with the offsets of"
    " the question and fromTransactionCheck true.",
    source=f"{_SENDER}#checkTransactionState",
)
NOT_ITS_GROUP = Clause(
    id="CLIENT-TXN-006",
    level=Level.MUST,
    text="A question about a half message of another group is not answered.",
    source="4.6.0 org.apache.rocketmq.client.impl.ClientRemotingProcessor"
    "#checkTransactionState",
)
