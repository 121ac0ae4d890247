"""
A producer: it selects queues of a topic, sends messages, and retries.

A send has these steps: check, find the queues, select one, send to its broker, process
the result. The last step leads back to the selection, or ends the send (Java:
DefaultMQProducerImpl).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from reference.core.client.client_instance import ClientInstance, GroupMember
from reference.core.client.hooks import SendContext
from reference.core.client.message import Message, MessageQueue, Mode, SendResult
from reference.core.client.options import ProducerOptions
from reference.core.client.producer.select_queue import (
    LatencyFaultTolerance,
    RoundRobin,
    select_available_queue,
    select_queue,
)
from reference.core.client.producer.send_call import (
    Attempt,
    Selector,
    SendCall,
    send_result,
)
from reference.core.client.producer.send_request import (
    PreparedMessage,
    UniqueIdGenerator,
    prepare_batch,
    prepare_message,
    send_command,
)
from reference.core.client.remoting.errors import ClientError, Failure, Reason
from reference.core.client.remoting.rpc_client import Result
from reference.core.client.routes import default_route, publish_queues, vip_address
from reference.core.client.validators import check_batch, check_body, check_message
from spec.wire.bodies.heartbeat import ProducerData
from spec.wire.message.topic_names import DEFAULT_TOPIC
from spec.wire.remoting.command import Command


class Producer(GroupMember):
    """A producer without sockets and threads."""

    def __init__(
        self,
        options: ProducerOptions,
        client: ClientInstance,
        *,
        unique_ids: UniqueIdGenerator,
        first_index: int = 0,
    ) -> None:
        super().__init__(options, client)
        self.options = options
        self.unique_ids = unique_ids
        self.latency_faults = LatencyFaultTolerance()
        self.is_running = True
        self._round_robins = defaultdict[str, RoundRobin](
            partial(RoundRobin, first_index)
        )
        """By topic. One for all would skip queues of topics that take turns."""

    def group_data(self) -> ProducerData:
        """Return the producer's part of a heartbeat."""
        return ProducerData(group=self.options.group)

    def stop(self) -> None:
        """Leave the group; pending sends still have their results."""
        self.is_running = False
        super().stop()

    async def send(
        self,
        message: Message | Sequence[Message],
        *,
        mode: Mode = Mode.SYNC,
        selector: Selector | None = None,
        timeout_ms: int | None = None,
        on_route: Callable[[], None] = lambda: None,
    ) -> SendResult | None:
        """Send *message*, or a batch in one request; raise ClientError if that fails.

        The result is None for a oneway send; for a batch it has the first message's
        offset. The mode ASYNC has the retries and timeouts of Java's asynchronous
        send.

        *timeout_ms* is for all attempts, by default that of the options. *on_route* is
        called if the topic's route had to be fetched.
        """
        if not self.is_running:  # [CLIENT-VALIDATE-001]
            raise ClientError(Failure(reason=Reason.NOT_RUNNING))
        call = SendCall(
            message=self._prepare(message),
            mode=mode,
            selector=selector,
            begun_ms=self._rpc.now_ms(),
            timeout_ms=self.options.timeout_ms if timeout_ms is None else timeout_ms,
        )
        topic = call.message.topic
        if not self._queues(topic):  # [CLIENT-PUBLISH-001]
            await self._fetch_queues(topic)
            on_route()
        again = True
        while again:
            attempt = self._next_attempt(call)
            if isinstance(attempt, Failure):
                return call.outcome(attempt)
            result = await self._send(call, attempt)
            if result is None:
                return None
            again = self._on_result(call, attempt, result)
        return call.outcome(call.failure)

    def _prepare(self, message: Message | Sequence[Message]) -> PreparedMessage:
        size_max = self.options.body_size_max
        next_id = partial(self.unique_ids.next_id, self._rpc.now_ms())
        if isinstance(message, Message):
            check_message(message, body_size_max=size_max)
            compress_from = self.options.compress_from
            return prepare_message(message, next_id(), compress_from=compress_from)
        check_batch(message, body_size_max=size_max)
        batch = prepare_batch(message, [next_id() for _ in message])
        check_body(batch.body, body_size_max=size_max)
        return batch

    async def _fetch_queues(self, topic: str) -> None:
        """Fetch the topic's route, or derive it from that of the default topic."""
        if await self._routes.fetch(topic) is not None:
            return
        # [CLIENT-PUBLISH-002]
        route = await self._routes.request(DEFAULT_TOPIC)
        if route is not None:
            own = default_route(route, queue_count=self.options.queue_count)
            self._routes.table[topic] = own

    def _next_attempt(self, call: SendCall) -> Attempt | Failure:
        """Begin the next attempt at the selected queue.

        Return a failure if the timeout is over or the topic has no queues.
        """
        now_ms = self._rpc.now_ms()
        spent_ms = now_ms - call.begun_ms
        repeats = call.mode is Mode.ASYNC and bool(call.attempts)
        if spent_ms >= call.timeout_ms and not repeats:
            last = call.failure or Failure(reason=Reason.CALL_TIMEOUT)
            return replace(last, reason=Reason.CALL_TIMEOUT)
        queues = self._queues(call.message.topic)
        if not queues:  # [CLIENT-PUBLISH-004]
            return self._routes.missing(call.message.topic)
        attempt = Attempt(queue=self._select_queue(call, queues), begun_ms=now_ms)
        call.attempts.append(attempt)
        return attempt

    async def _send(self, call: SendCall, attempt: Attempt) -> Result | None:
        """Send the request of *attempt*; return the result, None if oneway."""
        queue = attempt.queue
        address = self._routes.address(queue.broker_name)
        if address is None:  # [CLIENT-PUBLISH-011]
            return Failure(reason=Reason.NO_BROKER, remark=queue.broker_name)
        is_repeated = call.context is not None
        # 4.6.0 MQClientAPIImpl#onExceptionImpl does not use the VIP port.
        if self.options.uses_vip_port and not is_repeated:
            address = vip_address(address)
        forbidden = None if is_repeated else self._run_hooks(call, queue, address)
        if forbidden is not None:
            return forbidden
        request = self._request(call, attempt)
        if call.mode is not Mode.SYNC and not is_repeated:
            self._update_fault_item(attempt, failed=False)
            self.options.hooks.after(call.context, None)
        if call.mode is Mode.ONEWAY:  # [CLIENT-RETRY-007]
            self._rpc.invoke_oneway(address, request)
            return None
        timeout_ms = call.attempt_timeout_ms(self._rpc.now_ms())
        return await self._rpc.invoke(address, request, timeout_ms)

    def _run_hooks(
        self, call: SendCall, queue: MessageQueue, address: str
    ) -> Failure | None:
        """Run the hooks before an attempt; return a failure if it is forbidden."""
        context = SendContext(
            group=self.options.group,
            mode=call.mode,
            queue=queue,
            address=address,
            message=call.message,
        )
        forbidden = self.options.hooks.before(context)
        if forbidden is None:
            call.context, call.message = context, context.message
        return forbidden

    def _on_result(self, call: SendCall, attempt: Attempt, result: Result) -> bool:
        """Record the result of an attempt; return whether the send is retried."""
        message_id = call.message.message_id
        found = send_result(result, queue=attempt.queue, message_id=message_id)
        self._update_fault_item(attempt, failed=isinstance(found, Failure))
        if isinstance(found, Failure):
            call.failure = found
        else:
            call.result = found
        again = call.is_retried(found, self.options)
        if not again or call.mode is not Mode.ASYNC:
            self.options.hooks.after(call.context, found)
            call.context = None
        return again

    def _update_fault_item(self, attempt: Attempt, *, failed: bool) -> None:
        """Record the latency of *attempt*, without a response that of its write."""
        now_ms = self._rpc.now_ms()
        if self.options.avoids_slow_brokers:
            self.latency_faults.update_fault_item(
                attempt.queue.broker_name,
                now_ms - attempt.begun_ms,
                now_ms=now_ms,
                failed=failed,
            )

    def _select_queue(
        self, call: SendCall, queues: Sequence[MessageQueue]
    ) -> MessageQueue:
        if call.selector is not None:
            return call.attempts[0].queue if call.attempts else call.selector(queues)
        last_broker = call.last_broker
        round_robin = self._round_robins[call.message.topic]
        if not self.options.avoids_slow_brokers:  # [CLIENT-FAULT-001]
            return select_queue(queues, round_robin, last_broker=last_broker)
        return select_available_queue(
            queues,
            round_robin,
            self.latency_faults,
            now_ms=self._rpc.now_ms(),
            last_broker=last_broker,
        )

    def _request(self, call: SendCall, attempt: Attempt) -> Command:
        if call.mode is Mode.ASYNC and call.command is not None:  # [CLIENT-RETRY-011]
            return call.command
        call.command = send_command(
            call.message,
            attempt.queue,
            group=self.options.group,
            now_ms=attempt.begun_ms,
            oneway=call.mode is Mode.ONEWAY,
            queue_count=self.options.queue_count,
        )
        return call.command

    def _queues(self, topic: str) -> tuple[MessageQueue, ...]:
        route = self._routes.table.get(topic)
        return () if route is None else publish_queues(topic, route)
