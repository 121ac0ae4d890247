"""
How far a lite pull consumer was polled, told to brokers or kept by itself.

Only what the application polled counts; what no poll has led to is not committed, and
tags that leave nothing of a queue leave its offset where it was (4.6.0
DefaultLitePullConsumerImpl#commitAll).
"""

from __future__ import annotations

from collections.abc import Callable

from reference.core.client.asking import Asker, Outcome, Remember
from reference.core.client.failure import Failure
from reference.core.client.lite_queue import LiteOptions, LiteQueue
from reference.core.client.lite_reading import LiteReader
from reference.core.client.message import Queue
from reference.core.client.requests import commit_notice, commit_request
from reference.core.client.routes import Routes
from spec.client.subscribing import OFFSET_TIMEOUT_MS
from spec.wire.response_code import ResponseCode


class LiteCommits:
    """Commits for a reader."""

    def __init__(
        self,
        options: LiteOptions,
        reader: LiteReader,
        *,
        asker: Asker,
        routes: Routes,
        remembered: dict[Queue, int],
    ) -> None:
        self._group = options.group
        self._broadcasts = options.broadcasts
        self._remembered = remembered
        """How far queues have come of which brokers are told nothing."""
        self._reader = reader
        self._asker = asker
        self._routes = routes

    def tell(self) -> None:
        """Tell brokers how far every queue was polled, and wait for nobody."""
        if self._broadcasts:
            self._remember()
            return
        for one, offset, address in self._new():
            one.told = offset
            notice = commit_notice(self._group, one.queue, offset)
            self._asker.tell(address, notice)

    def ask(self, then: Callable[[], None], now_ms: int) -> None:
        """Do the same with requests; go on when each is answered or too late.

        What a broker did not confirm is told again by the next commit.
        """
        if self._broadcasts:
            self._remember()
            then()
            return
        new = self._new()
        waiting = {one.queue for one, _, _ in new}
        for one, offset, address in new:
            one.told = offset

            def answered(
                outcome: Outcome, _later_ms: int, one: LiteQueue = one
            ) -> None:
                if isinstance(outcome, Failure) or outcome.code != ResponseCode.SUCCESS:
                    one.told = None
                waiting.discard(one.queue)
                if not waiting:
                    then()

            asked = commit_request(self._group, one.queue, offset)
            until_ms = now_ms + OFFSET_TIMEOUT_MS
            self._asker.ask(address, asked, answered, until_ms=until_ms)
        if not new:
            then()

    def _remember(self) -> None:
        """Keep them here, and for later starts."""
        for one, offset in self._polled():
            self._remembered[one.queue] = one.told = offset
        held = self._reader.held
        here = {queue: at for queue, at in self._remembered.items() if queue in held}
        if here:
            self._asker.emit(Remember(here))

    def _polled(self) -> list[tuple[LiteQueue, int]]:
        """Return the queues that have come further than was told, and how far."""
        held = self._reader.held.values()
        found = [(one, one.polled) for one in held if one.polled != one.told]
        return [(one, polled) for one, polled in found if polled is not None]

    def _new(self) -> list[tuple[LiteQueue, int, str]]:
        """Return the same with the addresses of their brokers, where one is known."""
        found = [
            (one, offset, self._routes.any_address(one.queue.broker_name))
            for one, offset in self._polled()
        ]
        return [(one, offset, to) for one, offset, to in found if to is not None]
