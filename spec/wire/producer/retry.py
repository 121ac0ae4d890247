"""
Retries of a failed send: again, at another broker, or not at all.

Synchronous, asynchronous and oneway sends differ.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_PRODUCER = "4.6.0 org.apache.rocketmq.client.producer.DefaultMQProducer"
_SENDER = "4.6.0 org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl"
_REQUESTS = "4.6.0 org.apache.rocketmq.client.impl.MQClientAPIImpl"
_LATER_REQUESTS = "4.9.7 org.apache.rocketmq.client.impl.MQClientAPIImpl"

RETRIES = 2

TRIES = Clause(
    id="CLIENT-RETRY-001",
    level=Level.MUST,
    text="A synchronous send is tried once and then retryTimesWhenSendFailed times, 2"
    " by default, as long as its timeout has not passed.",
    source=f"{_SENDER}#sendDefaultImpl",
)
SYNC_RETRY = Clause(
    id="CLIENT-RETRY-002",
    level=Level.MUST,
    text=(
        "A synchronous send is retried after a failed connection, a timeout and the "
        "codes SYSTEM_ERROR (1), SERVICE_NOT_AVAILABLE (14), NO_PERMISSION (16), "
        "TOPIC_NOT_EXIST (17), NO_BUYER_ID (204) and NOT_IN_CURRENT_UNIT (205). Any "
        "other code, except SYSTEM_BUSY (2) and GO_AWAY (1500), fails it "
        "immediately."
    ),
    source=f"{_SENDER}#sendDefaultImpl",
)
BUSY_IS_FINAL = Clause(
    id="CLIENT-RETRY-014",
    level=Level.QUIRK,
    text=(
        "Up to 5.2, a synchronous send that is answered with SYSTEM_BUSY (2) fails "
        "immediately, even if another broker could accept it."
    ),
    source=f"{_SENDER}#sendDefaultImpl",
    until="5.2",
)
BUSY_IS_RETRIED = Clause(
    id="CLIENT-RETRY-015",
    level=Level.MUST,
    text=(
        "From 5.3 on, a synchronous send that is answered with SYSTEM_BUSY (2) is "
        "retried."
    ),
    source="5.3.3 org.apache.rocketmq.client.producer.DefaultMQProducer"
    "#retryResponseCodes",
    since="5.3",
)
NOT_OK_IS_A_RESULT = Clause(
    id="CLIENT-RETRY-003",
    level=Level.MUST,
    text=(
        "A message that was stored but not flushed or replicated in time is a "
        "result; it is sent again only if retryAnotherBrokerWhenNotStoreOK is true."
    ),
    source=f"{_PRODUCER}#retryAnotherBrokerWhenNotStoreOK",
)
ASYNC_RETRIES = Clause(
    id="CLIENT-RETRY-004",
    level=Level.MUST,
    text=(
        "Up to 4.6, an asynchronous send is retried up to "
        "retryTimesWhenSendAsyncFailed times, 2 by default, if the request could not "
        "be sent or got no response."
    ),
    source=f"{_REQUESTS}#onExceptionImpl",
    until="4.6",
    hints=(
        (
            "no retry after a timeout",
            "the release retries after a timeout and not after an error code",
        ),
    ),
)
ASYNC_REFUSED = Clause(
    id="CLIENT-RETRY-005",
    level=Level.QUIRK,
    text=(
        "An asynchronous send that a broker answers with an error is not retried; "
        "its callback gets the error."
    ),
    source=f"{_REQUESTS}#sendMessageAsync",
    hints=(
        (
            "a retry after an error code",
            "the release retries after a timeout and not after an error code",
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
    text=(
        "A oneway send is written once, with RPC_ONEWAY (bit 1) of the flag set, and "
        "waits for no response."
    ),
    source=f"{_SENDER}#sendDefaultImpl",
)
LAST_FAILURE = Clause(
    id="CLIENT-RETRY-008",
    level=Level.SHOULD,
    text=(
        "When every attempt failed the caller gets the code of the last one and the "
        "list of tried brokers."
    ),
    source=f"{_SENDER}#sendDefaultImpl",
)
ASYNC_CONNECTION = Clause(
    id="CLIENT-RETRY-009",
    level=Level.QUIRK,
    text=(
        "Up to 4.6, an asynchronous send whose first connection fails is not "
        "retried; a retry that cannot connect counts, and the next one follows."
    ),
    source=f"{_REQUESTS}#sendMessageAsync",
    until="4.6",
)
ASYNC_PATIENCE = Clause(
    id="CLIENT-RETRY-010",
    level=Level.QUIRK,
    text=(
        "Up to 4.6, an asynchronous request fails one to two seconds after its "
        "timeout. A retry has a timeout of 0 ms, so a response within a second still "
        "counts."
    ),
    source="4.6.0 org.apache.rocketmq.remoting.netty.NettyRemotingAbstract"
    "#scanResponseTable",
    until="4.6",
)
ASYNC_QUEUE = Clause(
    id="CLIENT-RETRY-011",
    level=Level.QUIRK,
    text=(
        "Up to 4.6, a retry of an asynchronous send goes to another broker with the "
        "queue id of the first attempt, which that broker may not have."
    ),
    source=f"{_REQUESTS}#onExceptionImpl",
    until="4.6",
)
CHOSEN_QUEUE = Clause(
    id="CLIENT-RETRY-012",
    level=Level.MUST,
    text="A synchronous send to a queue that the application chose is not retried.",
    source=f"{_SENDER}#sendSelectImpl",
)
ASYNC_CHOSEN_QUEUE = Clause(
    id="CLIENT-RETRY-017",
    level=Level.MUST,
    text=(
        "Up to 4.6, an asynchronous send to a queue that the application chose is "
        "retried at the same broker if it got no response."
    ),
    source=f"{_REQUESTS}#onExceptionImpl",
    until="4.6",
)
ASYNC_ONE_TIMEOUT = Clause(
    id="CLIENT-RETRY-018",
    level=Level.MUST,
    text=(
        "From 4.7 on, an asynchronous send and its retries share one timeout: a send "
        "that got no response in it is not retried."
    ),
    source=f"{_LATER_REQUESTS}#onExceptionImpl",
    since="4.7",
    hints=(
        (
            "a retry after a timeout",
            "the release passes what is left of the timeout to the next attempt",
        ),
    ),
)
ASYNC_CONNECTS_AGAIN = Clause(
    id="CLIENT-RETRY-019",
    level=Level.MUST,
    text=(
        "From 4.7 on, an asynchronous send whose connection fails is retried up to "
        "retryTimesWhenSendAsyncFailed times, 2 by default, within its timeout. The "
        "retry goes to another broker with the queue id of the first attempt."
    ),
    source=f"{_LATER_REQUESTS}#sendMessageAsync",
    since="4.7",
)
LOST_CONNECTION = Clause(
    id="CLIENT-RETRY-013",
    level=Level.MUST,
    text=(
        "From 5.1.3 on, a request whose connection the broker closes fails "
        "immediately: a synchronous send is retried without waiting for its timeout."
    ),
    source="5.1.3 org.apache.rocketmq.remoting.netty.NettyRemotingClient"
    "#channelInactive",
    since="5.1.3",
    issues=("apache/rocketmq#5866",),
)
