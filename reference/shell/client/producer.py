"""
A producer for applications.

    async with ProducerClient("127.0.0.1:9876", options) as producer:
        result = await producer.send(Message(topic="TopicTest", body=b"hello"))
"""

from __future__ import annotations

import ssl
from collections.abc import Callable

from reference.core.client.message import Message, SendResult
from reference.core.client.options import ProducerOptions
from reference.core.client.producer.producer import Producer
from reference.core.client.producer.request_reply import RequestReplyService
from reference.core.client.producer.transaction import (
    LocalTransactionState,
    TransactionCheck,
    TransactionService,
    half_message,
)
from reference.core.client.pull.message_ext import MessageExt
from reference.shell.client.client_host import ClientHost
from reference.shell.client.identity import random_start, unique_id_generator
from reference.shell.client.running_client import RunningClient, forward_call


def decide_nothing(_half: MessageExt) -> LocalTransactionState:
    """Decide nothing."""
    return LocalTransactionState.UNKNOWN


class ProducerClient(RunningClient[Producer]):
    """A producer of messages, batches, transactions and requests.

    For transactions *check* returns the state of a half message.
    """

    def __init__(
        self,
        name_servers: str,
        options: ProducerOptions,
        *,
        check: TransactionCheck = decide_nothing,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        host = ClientHost(name_servers, options, tls=tls)
        producer = Producer(
            options,
            host.client,
            unique_ids=unique_id_generator(),
            first_index=random_start(),
        )
        super().__init__(producer, host)
        self._transactions = TransactionService(options.group, check, host.client)
        self._requests = RequestReplyService(producer, host.client)

    send = forward_call(Producer.send)

    async def request(self, message: Message, *, timeout_ms: int) -> Message:
        """Send *message* and return the reply.

        Raises ClientError, with the reason NO_REPLY if only the reply is missing.
        """
        return await self.host.call(
            self._requests.request(message, timeout_ms=timeout_ms)
        )

    async def send_in_transaction(
        self, message: Message, act: Callable[[], LocalTransactionState]
    ) -> tuple[SendResult, LocalTransactionState]:
        """Send a half message, run the local transaction *act*, and end it."""
        half = half_message(message, self.core.options.group)
        result = await self.send(half)
        assert result is not None, "a synchronous send has a result"
        state = self._transactions.end_transaction(result, act)
        self.host.perform()
        return result, state
