"""
Long polling: pull requests that wait for messages (Java: PullRequestHoldService).

A held pull request is tried again when a message arrives that its subscription selects,
and at its deadline. Every 5 s it is tried again where its queue has grown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from reference.core.broker.pull.pull_message import try_pull
from reference.core.broker.pull.pull_request import PULL_TRANSITIONS, Pull, PullEvent
from reference.core.broker.state import BrokerState
from reference.core.remoting.server import RemotingServer
from reference.core.remoting.timers import DeadlineTimer
from reference.core.store.types import DispatchRequest, Queue
from reference.core.unexpected import error_text


class LongPolling:
    """All held pull requests, by queue."""

    def __init__(self, state: BrokerState, remoting: RemotingServer) -> None:
        self._state = state
        self._remoting = remoting
        self._held: dict[Queue, list[Pull]] = {}
        self._timer = DeadlineTimer(
            remoting.timers, self._earliest_deadline_ms, self._respond_due
        )

    def __len__(self) -> int:
        return sum(len(pulls) for pulls in self._held.values())

    def hold(self, pull: Pull) -> None:
        """Hold a pull request at its queue until its deadline."""
        queue = pull.header.topic, pull.header.queue_id
        self._held.setdefault(queue, []).append(pull)  # [PULL-HOLD-005]
        self._timer.watch(pull.deadline_ms, pull.request.now_ms)

    def on_messages(self, dispatched: Iterable[DispatchRequest], now_ms: int) -> None:
        """Respond to the pull requests that new messages complete."""
        if not self._held:
            return
        complete: list[Pull] = []
        for message in dispatched:
            queue = message.topic, message.queue_id
            for pull in list(self._held.get(queue, ())):
                wanted = pull.subscription
                assert wanted is not None
                # [PULL-HOLD-003] [PULL-FILTER-001]
                if (
                    message.queue_offset >= pull.header.queue_offset
                    and (wanted.codes is None or message.tags_code in wanted.codes)
                    and (wanted.expression is None or self._accepts(pull, message))
                ):
                    self._held[queue].remove(pull)
                    if not self._held[queue]:
                        del self._held[queue]
                    complete.append(pull)
        for pull in complete:
            self._respond(pull, PullEvent.MESSAGE_ARRIVED, now_ms)

    def check_held(self, now_ms: int) -> None:
        """Respond to pull requests whose queue has grown (Java: checkHoldRequest)."""
        for queue in list(self._held):
            end = self._state.store.max_offset(*queue)
            for pull in self._take(queue, lambda one: end > one.header.queue_offset):  # noqa: B023
                self._respond(pull, PullEvent.QUEUE_GREW, now_ms)

    def drop(self, connection: int) -> None:
        """Drop the pull requests of a closed connection."""
        for queue in list(self._held):
            for pull in self._take(
                queue, lambda one: one.request.connection == connection
            ):
                pull.state = PULL_TRANSITIONS[pull.state, PullEvent.CONNECTION_LOST]

    def _earliest_deadline_ms(self) -> int | None:
        held = (pull.deadline_ms for pulls in self._held.values() for pull in pulls)
        return min(held, default=None)

    def _respond_due(self, now_ms: int) -> None:
        due = [
            pull
            for queue in list(self._held)
            # [PULL-HOLD-002]
            for pull in self._take(queue, lambda one: one.deadline_ms <= now_ms)
        ]
        for pull in due:
            self._respond(pull, PullEvent.DEADLINE, now_ms)

    def _accepts(self, pull: Pull, message: DispatchRequest) -> bool:
        record = self._state.store.record(
            message.topic, message.queue_id, message.queue_offset
        )
        assert pull.subscription is not None
        try:
            # [PULL-SQL-014]
            return record is not None and pull.subscription.accepts(record)
        except Exception as error:  # one message must not keep other groups waiting
            text = f"{message.topic}: a filter failed: {error_text(error)}"
            self._remoting.log_error(text)
            return False

    def _respond(self, pull: Pull, event: PullEvent, now_ms: int) -> None:
        pull.state = PULL_TRANSITIONS[pull.state, event]
        request = pull.request
        request.now_ms = now_ms
        try:
            response = try_pull(self._state, pull)
        except Exception as error:
            response = self._remoting.error_response(request, error)
        self._remoting.respond(request, response)

    def _take(self, queue: Queue, is_taken: Callable[[Pull], bool]) -> list[Pull]:
        """Remove and return the pull requests of a queue that *is_taken* selects."""
        pulls = self._held.get(queue, [])
        taken = [pull for pull in pulls if is_taken(pull)]
        rest = [pull for pull in pulls if not is_taken(pull)]
        if rest:
            self._held[queue] = rest
        else:
            self._held.pop(queue, None)
        return taken
