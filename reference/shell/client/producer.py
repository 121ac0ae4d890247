"""
A producer for applications: the core's decisions, with sockets and a clock.

    async with ProducerClient("127.0.0.1:9876", options) as producer:
        result = await producer.send(Message(topic="TopicTest", body=b"hello"))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

from reference.core.client.asking import Asker
from reference.core.client.call import Selector
from reference.core.client.membership import Membership
from reference.core.client.message import Message, Mode, SendResult
from reference.core.client.producer import Producer, ProducerOptions
from reference.core.client.pulling import Received
from reference.core.client.queue_choice import Turn
from reference.core.client.replies import Reply, Requests
from reference.core.client.transactions import (
    Check,
    Decision,
    Transactions,
    half_message,
)
from reference.shell.client.identity import client_id, key_maker, random_start
from reference.shell.client.links import Links, routes_from
from reference.shell.clock import now_ms
from spec.wire.heartbeat import Heartbeat, ProducerMembership


def _unknown(_half: Received) -> Decision:
    """Say what a producer says that cannot tell."""
    return Decision.UNKNOWN


class ProducerClient:
    """A producer that sends as soon as it is asked to.

    Who sends in transactions gives *check*, which says what came of a half message.
    """

    def __init__(
        self,
        name_servers: str,
        options: ProducerOptions,
        *,
        check: Check = _unknown,
        own_id: str | None = None,
    ) -> None:
        asker = Asker()
        routes = routes_from(name_servers, asker, options.periods)
        self.producer = Producer(
            options,
            asker=asker,
            routes=routes,
            keys=key_maker(),
            turn=Turn(random_start()),
        )
        membership = ProducerMembership(group=options.group)
        own_id = own_id or client_id()
        heartbeat = Heartbeat(client_id=own_id, producers=(membership,))
        self.transactions = Transactions(
            options.group, check, asker=asker, routes=routes
        )
        self._routes = routes
        self._membership = Membership(
            asker, routes, lambda: heartbeat, period_ms=options.periods.heartbeat_ms
        )
        self.requests = Requests(
            self.producer, own_id, asker=asker, beat=self._membership.beat
        )
        self._links = Links(asker)

    async def __aenter__(self) -> Self:
        self._routes.start(now_ms())
        self._membership.start(now_ms())
        self._links.perform()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.producer.is_running = False
        self._membership.leave(now_ms())
        await self._links.stop()

    async def send(
        self,
        message: Message,
        *,
        mode: Mode = Mode.SYNC,
        selector: Selector | None = None,
        timeout_ms: int | None = None,
    ) -> SendResult | None:
        """Send *message* and return where it is; None of a oneway send.

        Raises ClientError. With the mode ASYNC failures are met as by a Java client
        that is called back; whether the caller awaits the result or not is its own.
        """
        result = await self._links.call(
            lambda at_ms: self.producer.send(
                message,
                now_ms=at_ms,
                mode=mode,
                selector=selector,
                timeout_ms=timeout_ms,
            )
        )
        assert result is None or isinstance(result, SendResult)
        return result

    async def request(self, message: Message, *, timeout_ms: int) -> Reply:
        """Send *message* and return what somebody replies to it.

        Raises ClientError, of the reason NO_REPLY if only the reply did not come.
        """
        result = await self._links.call(
            lambda at_ms: self.requests.request(
                message, now_ms=at_ms, timeout_ms=timeout_ms
            )
        )
        assert isinstance(result, Reply)
        return result

    async def send_batch(
        self,
        messages: Sequence[Message],
        *,
        selector: Selector | None = None,
        timeout_ms: int | None = None,
    ) -> SendResult:
        """Send *messages* in one request and return where the first is."""
        result = await self._links.call(
            lambda at_ms: self.producer.send_batch(
                messages, now_ms=at_ms, selector=selector, timeout_ms=timeout_ms
            )
        )
        assert isinstance(result, SendResult)
        return result

    async def send_in_transaction(
        self, message: Message, act: Callable[[], Decision]
    ) -> tuple[SendResult, Decision]:
        """Store *message*, act, and have it delivered if *act* says so."""
        half = half_message(message, self.producer.options.group)
        result = await self.send(half)
        assert result is not None, "a synchronous send has a result"
        decision = self.transactions.finish(result, act)
        self._links.perform()
        return result, decision
