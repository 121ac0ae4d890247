"""
What a producer does when a send fails: again, elsewhere, or not at all.

A caller that waits, one that is called back and one that does not care are served
differently.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_PRODUCER = "4.6.0 org.apache.rocketmq.client.producer.DefaultMQProducer"
_SENDER = "4.6.0 org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl"
_REQUESTS = "4.6.0 org.apache.rocketmq.client.impl.MQClientAPIImpl"

RETRIES = 2

TRIES = Clause(
    id="CLIENT-RETRY-001",
    level=Level.MUST,
    text="A synchronous send is tried once and then retryTimesWhenSendFailed times, 2"
    " by default, as long as its timeout has not passed.",
    source=f"{_SENDER}#sendDefaultImpl",
)
RETRIED_CODES = Clause(
    id="CLIENT-RETRY-002",
    level=Level.MUST,
    text="A synchronous send is tried again after a failed connection, a timeout and"
    " the codes SYSTEM_ERROR (1), SERVICE_NOT_AVAILABLE (14), NO_PERMISSION (16),"
    " TOPIC_NOT_EXIST (17), NO_BUYER_ID (204) and NOT_IN_CURRENT_UNIT (205); any other"
    " code, but SYSTEM_BUSY (2) and GO_AWAY (1500), fails it at once.",
    source=f"{_SENDER}#sendDefaultImpl",
)
BUSY_IS_FINAL = Clause(
    id="CLIENT-RETRY-014",
    level=Level.QUIRK,
    text="A synchronous send that is answered SYSTEM_BUSY (2) fails at once, though"
    " another broker may have time.",
    source=f"{_SENDER}#sendDefaultImpl",
    until="5.2",
)
BUSY_IS_RETRIED = Clause(
    id="CLIENT-RETRY-015",
    level=Level.MUST,
    text="A synchronous send that is answered SYSTEM_BUSY (2) is tried again.",
    source="5.3.3 org.apache.rocketmq.client.producer.DefaultMQProducer"
    "#retryResponseCodes",
    since="5.3",
)
NOT_OK_IS_A_RESULT = Clause(
    id="CLIENT-RETRY-003",
    level=Level.MUST,
    text="A message that was stored but not flushed or replicated in time is a result,"
    " not sent again unless retryAnotherBrokerWhenNotStoreOK is true.",
    source=f"{_PRODUCER}#retryAnotherBrokerWhenNotStoreOK",
)
ASYNC_RETRIES = Clause(
    id="CLIENT-RETRY-004",
    level=Level.MUST,
    text="An asynchronous send is tried again up to retryTimesWhenSendAsyncFailed"
    " times, 2 by default, when the request could not be sent or no answer came.",
    source=f"{_REQUESTS}#onExceptionImpl",
    hints=(
        (
            "no retry after a timeout",
            "so says the article on the send path; the release retries just then",
        ),
    ),
)
ASYNC_REFUSED = Clause(
    id="CLIENT-RETRY-005",
    level=Level.QUIRK,
    text="An asynchronous send that a broker answers with an error is not tried again;"
    " its caller is told.",
    source=f"{_REQUESTS}#sendMessageAsync",
    hints=(
        (
            "a retry after an error code",
            "so says the article on the send path; the release does it the other way"
            " round",
        ),
    ),
)
ASYNC_OPAQUE = Clause(
    id="CLIENT-RETRY-006",
    level=Level.MUST,
    text="A request that is sent again has a new opaque.",
    source=f"{_REQUESTS}#onExceptionImpl",
)
ONEWAY_IS_SENT_ONCE = Clause(
    id="CLIENT-RETRY-007",
    level=Level.MUST,
    text="A oneway send is written once, with bit 1 of the flag set, and nobody waits"
    " for an answer.",
    source=f"{_SENDER}#sendDefaultImpl",
)
LAST_FAILURE = Clause(
    id="CLIENT-RETRY-008",
    level=Level.SHOULD,
    text="When every attempt failed the caller is told the code of the last, and which"
    " brokers were tried.",
    source=f"{_SENDER}#sendDefaultImpl",
)
ASYNC_CONNECTION = Clause(
    id="CLIENT-RETRY-009",
    level=Level.QUIRK,
    text="An asynchronous send whose first connection cannot be made fails at once; a"
    " retry that cannot connect counts, and is followed by the next.",
    source=f"{_REQUESTS}#sendMessageAsync",
    until="4.6",
)
ASYNC_PATIENCE = Clause(
    id="CLIENT-RETRY-010",
    level=Level.QUIRK,
    text="An asynchronous request is given up one to two seconds after its timeout, and"
    " a retry has a timeout of 0 ms: an answer within a second still counts.",
    source="4.6.0 org.apache.rocketmq.remoting.netty.NettyRemotingAbstract"
    "#scanResponseTable",
    until="4.6",
)
ASYNC_QUEUE = Clause(
    id="CLIENT-RETRY-011",
    level=Level.QUIRK,
    text="A retry of an asynchronous send goes to another broker under the queue id of"
    " the first attempt, which that broker may not have.",
    source=f"{_REQUESTS}#onExceptionImpl",
)
CHOSEN_QUEUE = Clause(
    id="CLIENT-RETRY-012",
    level=Level.MUST,
    text="A send to a queue that the application chose is not repeated, except an"
    " asynchronous one, which is repeated at the same broker.",
    source=f"{_SENDER}#sendSelectImpl",
)
LOST_CONNECTION = Clause(
    id="CLIENT-RETRY-013",
    level=Level.MUST,
    text="A request whose connection the broker closes has failed: a synchronous send"
    " is tried again at once, not when its time is over.",
    source="5.1.3 org.apache.rocketmq.remoting.netty.NettyRemotingClient"
    "#channelInactive",
    since="5.1.3",
    issues=("apache/rocketmq#5866",),
)
