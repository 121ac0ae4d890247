"""
A producer: it finds a topic's queues, sends messages to them in turn, and tries again.

It is told what the application wants and what the network did, and answers with
effects. Each call goes its own way, in this order: check, find queues, choose one,
ask its broker, judge the outcome. The judgement leads back to choosing, or to the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reference.core.client.asking import Asker, Effect, Outcome
from reference.core.client.call import Call, Selector, Sent, Watch, result_of
from reference.core.client.checks import (
    DEFAULT_TOPIC,
    check_batch,
    check_group,
    check_message,
)
from reference.core.client.failure import ClientError, Failure, Reason
from reference.core.client.faults import FaultTable
from reference.core.client.hooks import Attempt, SendHooks
from reference.core.client.message import (
    Message,
    Mode,
    Queue,
    SendResult,
    SendStatus,
)
from reference.core.client.periods import USUAL_PERIODS, Periods
from reference.core.client.queue_choice import Turn, choose, choose_available
from reference.core.client.queues import default_route, publish_queues, vip_address
from reference.core.client.retrying import attempt_timeout_ms, retries
from reference.core.client.routes import Routes
from reference.core.client.send_request import (
    Outgoing,
    outgoing,
    outgoing_batch,
    send_command,
)
from reference.core.client.unique_keys import KeyMaker
from spec.routing.route_data import TopicRoute
from spec.wire.command import Command
from spec.wire.producer import (
    COMPRESS_FROM_SIZE,
    QUEUES_OF_A_NEW_TOPIC,
    SEND_TIMEOUT_MS,
)
from spec.wire.producer_retries import RETRIES
from spec.wire.send_limits import MESSAGE_SIZE_MAX

NO_HOOKS = SendHooks()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerOptions:
    """What a producer is set to; the defaults are those of 4.6.0."""

    group: str
    timeout_ms: int = SEND_TIMEOUT_MS
    retry_count: int = RETRIES
    """How often a synchronous send is repeated (Java: retryTimesWhenSendFailed)."""
    async_retry_count: int = RETRIES
    retries_not_stored: bool = False
    """Java: retryAnotherBrokerWhenNotStoreOK."""
    avoids_slow_brokers: bool = False
    """Java: sendLatencyFaultEnable."""
    uses_vip_port: bool = False
    queue_count: int = QUEUES_OF_A_NEW_TOPIC
    compress_from: int = COMPRESS_FROM_SIZE
    body_size_max: int = MESSAGE_SIZE_MAX
    periods: Periods = USUAL_PERIODS
    hooks: SendHooks = NO_HOOKS


class Producer:
    """Sends messages."""

    def __init__(
        self,
        options: ProducerOptions,
        *,
        asker: Asker,
        routes: Routes,
        keys: KeyMaker,
        turn: Turn,
    ) -> None:
        check_group(options.group)
        self.options = options
        self.faults = FaultTable()
        self.is_running = True
        self._asker = asker
        self._routes = routes
        self._keys = keys
        self._turn = turn
        self._call_count = 0

    def send(
        self,
        message: Message,
        *,
        now_ms: int,
        mode: Mode = Mode.SYNC,
        selector: Selector | None = None,
        timeout_ms: int | None = None,
        watch: Watch | None = None,
    ) -> int:
        """Begin to send *message*; return the number under which the result comes.

        With a *watch* it does not come to the application. Raises ClientError where
        the message may not be sent at all.
        """
        self._check_running()
        check_message(message, body_size_max=self.options.body_size_max)
        key = self._keys.make(now_ms)
        sent = outgoing(message, key, compress_from=self.options.compress_from)
        return self._begin(
            sent,
            now_ms,
            mode=mode,
            selector=selector,
            timeout_ms=timeout_ms,
            watch=watch,
        )

    def send_batch(
        self,
        messages: Sequence[Message],
        *,
        now_ms: int,
        selector: Selector | None = None,
        timeout_ms: int | None = None,
    ) -> int:
        """Begin to send *messages* in one request, as ``send`` does."""
        self._check_running()
        check_batch(messages, body_size_max=self.options.body_size_max)
        sent = outgoing_batch(messages, [self._keys.make(now_ms) for _ in messages])
        return self._begin(
            sent, now_ms, mode=Mode.SYNC, selector=selector, timeout_ms=timeout_ms
        )

    def new_key(self, now_ms: int) -> str:
        """Return a text that no other has."""
        return self._keys.make(now_ms)

    def take(self) -> list[Effect]:
        """Return the effects so far."""
        return self._asker.take()

    def _check_running(self) -> None:
        if not self.is_running:  # [CLIENT-CHECK-001]
            raise ClientError(Failure(reason=Reason.NOT_RUNNING))

    def _begin(
        self,
        message: Outgoing,
        now_ms: int,
        *,
        mode: Mode,
        selector: Selector | None,
        timeout_ms: int | None,
        watch: Watch | None = None,
    ) -> int:
        self._call_count += 1
        call = Call(
            number=self._call_count,
            message=message,
            mode=mode,
            selector=selector,
            begun_ms=now_ms,
            timeout_ms=self.options.timeout_ms if timeout_ms is None else timeout_ms,
            watch=watch,
        )
        self._find_queues(call, now_ms)
        return call.number

    def _find_queues(self, call: Call, now_ms: int) -> None:
        """Go on with the topic's queues: known, asked for, or of the default topic."""
        topic = call.message.topic
        if self._queues(topic):  # [CLIENT-PUBLISH-001]
            self._attempt(call, now_ms)
            return

        def found(route: TopicRoute | None, later_ms: int) -> None:
            if route is None:  # [CLIENT-PUBLISH-002]
                self._routes.ask(
                    DEFAULT_TOPIC, found_default, now_ms=later_ms, keep=False
                )
            else:
                self._attempt_first(call, later_ms)

        def found_default(route: TopicRoute | None, later_ms: int) -> None:
            if route is not None:
                own = default_route(route, queue_count=self.options.queue_count)
                self._routes.keep(topic, own)
            self._attempt_first(call, later_ms)

        self._routes.ask(topic, found, now_ms=now_ms)

    def _attempt_first(self, call: Call, now_ms: int) -> None:
        """Send to a queue of a topic that was just asked for."""
        if call.watch is not None:
            call.watch.found_queues(now_ms)
        self._attempt(call, now_ms)

    def _attempt(self, call: Call, now_ms: int) -> None:
        """Send to the next queue, if there is one and there is time."""
        spent_ms = now_ms - call.begun_ms
        repeats = call.mode is Mode.ASYNC and bool(call.tried)
        if spent_ms >= call.timeout_ms and not repeats:
            self._end(call, self._late(call))
            return
        queues = self._queues(call.message.topic)
        if not queues:  # [CLIENT-PUBLISH-004]
            self._end(call, Failure(reason=Reason.NO_ROUTE, remark=call.message.topic))
            return
        queue = self._choose(call, queues, now_ms)
        call.tried.append(queue.broker_name)
        address = self._routes.address(queue.broker_name)
        if address is None:  # [CLIENT-PUBLISH-011]
            failure = Failure(reason=Reason.NO_BROKER, remark=queue.broker_name)
            self._judge(call, queue, failure, now_ms=now_ms, sent_ms=now_ms)
            return
        if self.options.uses_vip_port:  # [CLIENT-SEND-010]
            address = vip_address(address)
        self._ask(call, queue, address, now_ms=now_ms)

    def _ask(self, call: Call, queue: Queue, address: str, *, now_ms: int) -> None:
        is_repeated = call.attempt is not None
        forbidden = None if is_repeated else self._tell_hooks(call, queue, address)
        if forbidden is not None:
            self._judge(call, queue, forbidden, now_ms=now_ms, sent_ms=now_ms)
            return
        command = self._command(call, queue, now_ms)
        if call.mode is not Mode.SYNC and not is_repeated:
            self._tell_end(call, None)
        if call.mode is Mode.ONEWAY:  # [CLIENT-RETRY-007]
            self._asker.tell(address, command)
            self._finish(call, None)
            return

        def then(outcome: Outcome, later_ms: int) -> None:
            self._judge(call, queue, outcome, now_ms=later_ms, sent_ms=now_ms)

        patience_ms = attempt_timeout_ms(
            call.mode,
            call.timeout_ms,
            spent_ms=now_ms - call.begun_ms,
            tried=len(call.tried) - 1,
        )
        self._asker.ask(address, command, then, until_ms=now_ms + patience_ms)

    def _tell_hooks(self, call: Call, queue: Queue, address: str) -> Failure | None:
        """Tell hooks of an attempt; return why it may not be made, if so."""
        attempt = Attempt(
            group=self.options.group,
            mode=call.mode,
            queue=queue,
            address=address,
            message=call.message,
        )
        forbidden = self.options.hooks.begin(attempt)
        if forbidden is None:
            call.attempt, call.message = attempt, attempt.message
        return forbidden

    def _tell_end(self, call: Call, found: SendResult | Failure | None) -> None:
        """Tell hooks what came of an attempt that they have heard of."""
        if call.attempt is not None:
            self.options.hooks.end(call.attempt, found)

    def _judge(
        self, call: Call, queue: Queue, outcome: Outcome, *, now_ms: int, sent_ms: int
    ) -> None:
        """Take the outcome of an attempt for the call's, or try again."""
        found = result_of(call.message, queue, outcome)
        failed = isinstance(found, Failure)
        self._note(queue, now_ms - sent_ms, now_ms=now_ms, failed=failed)
        is_async = call.mode is Mode.ASYNC
        count = self.options.async_retry_count if is_async else self.options.retry_count
        if isinstance(found, Failure):
            call.failure = found
            again = retries(
                call.mode,
                found,
                tried=len(call.tried),
                retry_count=count,
                chosen=call.selector is not None,
            )
        else:
            call.result = found
            again = self._is_not_enough(call, found)
        if not (again and call.mode is Mode.ASYNC):
            self._tell_end(call, found)
            call.attempt = None
        if again:
            self._attempt(call, now_ms)
        else:
            self._end(call, call.failure)

    def _is_not_enough(self, call: Call, result: SendResult) -> bool:
        """Return whether a stored message is sent again to be stored better."""
        return (  # [CLIENT-RETRY-003]
            self.options.retries_not_stored
            and result.status is not SendStatus.SEND_OK
            and call.mode is Mode.SYNC
            and call.selector is None
            and len(call.tried) <= self.options.retry_count
        )

    def _end(self, call: Call, failure: Failure | None) -> None:
        """Tell the application: a result where there is any, else why there is none."""
        if call.result is not None:
            self._finish(call, call.result)
            return
        assert failure is not None, "a call ends with a result or a failure"
        error = ClientError(failure, tuple(call.tried))  # [CLIENT-RETRY-008]
        self._finish(call, error)

    def _finish(self, call: Call, result: Sent) -> None:
        if call.watch is None:
            self._asker.finish(call.number, result)
        else:
            call.watch.ended(call.number, result)

    def _choose(self, call: Call, queues: Sequence[Queue], now_ms: int) -> Queue:
        if call.selector is not None:
            call.chosen = call.chosen or call.selector(queues)
            return call.chosen
        last_broker = call.tried[-1] if call.tried else None
        if not self.options.avoids_slow_brokers:  # [CLIENT-FAULT-001]
            return choose(queues, self._turn, last_broker=last_broker)
        return choose_available(
            queues, self._turn, self.faults, now_ms=now_ms, last_broker=last_broker
        )

    def _command(self, call: Call, queue: Queue, now_ms: int) -> Command:
        if call.mode is Mode.ASYNC and call.command is not None:  # [CLIENT-RETRY-011]
            return call.command
        call.command = send_command(
            call.message,
            queue,
            group=self.options.group,
            now_ms=now_ms,
            oneway=call.mode is Mode.ONEWAY,
            queue_count=self.options.queue_count,
        )
        return call.command

    def _queues(self, topic: str) -> tuple[Queue, ...]:
        route = self._routes.known(topic)
        return () if route is None else publish_queues(topic, route)

    def _note(
        self, queue: Queue, latency_ms: int, *, now_ms: int, failed: bool
    ) -> None:
        if self.options.avoids_slow_brokers:
            self.faults.note(
                queue.broker_name, latency_ms, now_ms=now_ms, failed=failed
            )

    @staticmethod
    def _late(call: Call) -> Failure:
        """Return that the call's time is over, with what the last attempt said."""
        last = call.failure or Failure(reason=Reason.CALL_TIMEOUT)
        return replace(last, reason=Reason.CALL_TIMEOUT)
