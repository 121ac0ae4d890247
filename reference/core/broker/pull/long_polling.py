"""
Long polling: pull requests that wait for messages (Java: PullRequestHoldService).

A held pull request is tried again when a message arrives that its subscription selects,
and at its deadline. Every 5 s it is tried again where its queue has grown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reference.core.broker.pull.pull_message import check_pull, pull_response
from reference.core.broker.pull.pull_request import (
    PULL_TRANSITIONS,
    Pull,
    PullEvent,
    PullState,
)
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
        for message in dispatched:
            queue = message.topic, message.queue_id
            complete = []
            for pull in self._held.get(queue, ()):
                wanted = pull.subscription
                # [PULL-HOLD-003] [PULL-FILTER-001]
                if (
                    message.queue_offset >= pull.header.queue_offset
                    and (wanted.codes is None or message.tags_code in wanted.codes)
                    and (wanted.expression is None or self._accepts(pull, message))
                ):
                    complete.append(pull)
            self._end(queue, complete, PullEvent.MESSAGE_ARRIVED, now_ms)

    def check_held(self, now_ms: int) -> None:
        """Respond to pull requests whose queue has grown (Java: checkHoldRequest)."""
        for queue, pulls in list(self._held.items()):
            end = self._state.store.max_offset(*queue)
            grown = [one for one in pulls if end > one.header.queue_offset]
            self._end(queue, grown, PullEvent.QUEUE_GREW, now_ms)

    def drop(self, connection: int, now_ms: int) -> None:
        """Drop the pull requests of a closed connection."""
        for queue, pulls in list(self._held.items()):
            lost = [one for one in pulls if one.request.connection == connection]
            self._end(queue, lost, PullEvent.CONNECTION_LOST, now_ms)

    def _earliest_deadline_ms(self) -> int | None:
        held = (pull.deadline_ms for pulls in self._held.values() for pull in pulls)
        return min(held, default=None)

    def _respond_due(self, now_ms: int) -> None:
        for queue, pulls in list(self._held.items()):
            # [PULL-HOLD-002]
            due = [one for one in pulls if one.deadline_ms <= now_ms]
            self._end(queue, due, PullEvent.DEADLINE, now_ms)

    def _accepts(self, pull: Pull, message: DispatchRequest) -> bool:
        record = self._state.store.record(
            message.topic, message.queue_id, message.queue_offset
        )
        try:
            # [PULL-SQL-014]
            return record is not None and pull.subscription.accepts(record)
        except Exception as error:  # one message must not keep other groups waiting
            text = f"{message.topic}: a filter failed: {error_text(error)}"
            self._remoting.log_error(text)
            return False

    def _end(
        self, queue: Queue, pulls: Sequence[Pull], event: PullEvent, now_ms: int
    ) -> None:
        """Remove *pulls* of *queue*; respond unless *event* is a lost connection."""
        if not pulls:
            return
        for pull in pulls:
            pull.state = PULL_TRANSITIONS[pull.state, event]
        held = [one for one in self._held[queue] if one.state is PullState.HELD]
        if held:
            self._held[queue] = held
        else:
            del self._held[queue]
        for pull in pulls:
            if pull.state is not PullState.RESPONDED:
                continue
            request = pull.request
            request.now_ms = now_ms
            try:
                group, pull.subscription = check_pull(
                    self._state, request, pull.header, pull.subscription
                )
                response = pull_response(self._state, pull, group)
            except Exception as error:
                response = self._remoting.error_response(request, error)
            self._remoting.respond(request, response)
