"""
Header fields that the clients of a release add to all requests of a kind.

Since 4.9.5 a client names the broker of the queue that a request is about (Java:
``RequestHeader#setBname``, since 5.0 ``RpcRequestHeader#setBrokerName``). A broker
alone ignores the name. A proxy forwards the request by it, and refuses a request
without it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from spec.clause import release_key
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

FIRST_WITH_BROKER_NAME = (4, 9, 5)
FIRST_WITH_BROKER_NAME_IN_POPS = (5, 1)
NAME_FIELD, NAME_LETTER = "bname", "n"
WITH_LETTERS = frozenset({RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE})
"""Requests whose header fields have one letter (Java: SendMessageRequestHeaderV2)."""
ABOUT_QUEUES = WITH_LETTERS | {
    RequestCode.SEND_MESSAGE,
    RequestCode.CONSUMER_SEND_MSG_BACK,
    RequestCode.END_TRANSACTION,
    RequestCode.PULL_MESSAGE,
    RequestCode.QUERY_CONSUMER_OFFSET,
    RequestCode.UPDATE_CONSUMER_OFFSET,
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP,
    RequestCode.GET_MAX_OFFSET,
    RequestCode.GET_MIN_OFFSET,
    RequestCode.GET_EARLIEST_MSG_STORETIME,
    RequestCode.RECALL_MESSAGE,
}
"""Requests that name a broker (4.9.7 and 5.3.3 org.apache.rocketmq.client.impl
.MQClientAPIImpl, DefaultMQProducerImpl, PullAPIWrapper, RemoteBrokerOffsetStore)."""
POPS = frozenset(
    {
        RequestCode.POP_MESSAGE,
        RequestCode.ACK_MESSAGE,
        RequestCode.CHANGE_MESSAGE_INVISIBLETIME,
    }
)
"""Requests about popped messages that name a broker (5.1.0 PullAPIWrapper#popAsync,
DefaultMQPushConsumerImpl#ackAsync, #changePopInvisibleTimeAsync). 5.0.0 lacks the name.
BATCH_ACK_MESSAGE has it in its body (MQClientAPIImpl#batchAckMessageAsync)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """Release of a client, and the broker that its requests are for."""

    release: str
    broker_name: str = ""
    """Empty where it is unknown, and for a name server."""

    def completed(self, command: Command) -> Command:
        """Return *command* with the header fields that a client of the release adds.

        Fields of *command* itself are kept.
        """
        if not self._names_broker(command):
            return command
        name = NAME_LETTER if command.code in WITH_LETTERS else NAME_FIELD
        return replace(command, fields={name: self.broker_name, **command.fields})

    def _names_broker(self, command: Command) -> bool:
        if not self.broker_name or command.is_response:
            return False
        release = release_key(self.release)
        if command.code in POPS:
            return release >= FIRST_WITH_BROKER_NAME_IN_POPS
        return command.code in ABOUT_QUEUES and release >= FIRST_WITH_BROKER_NAME
