"""
Handling in order: of each queue one message at a time, and only while it is locked.

A message that fails is handled again before those behind it. Where a group broadcasts
there are no locks, and the order is kept all the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence

from reference.core.client.asking import Asker, Deliver
from reference.core.client.locks import Locks
from reference.core.client.message import Queue
from reference.core.client.pulling import Received
from reference.core.client.returning import Returns, delivered_again
from reference.core.client.share import Share
from spec.client.ordering import AFTER_FAILURE_MS, AFTER_UNLOCKED_MS

ThenLocked = Callable[[bool, int], None]
"""Told whether a queue is locked, and when."""


class InOrder:
    """Hands out what was pulled of queues."""

    def __init__(
        self,
        *,
        asker: Asker,
        locks: Locks | None,
        returns: Returns,
        retries_max: int | None,
    ) -> None:
        self._asker = asker
        self._locks = locks
        self._returns = returns
        self._retries_max = retries_max

    def has_lock(self, share: Share) -> bool:
        """Return whether the broker was not heard to refuse the lock of a queue."""
        return self._locks is None or share.locked_at_ms is not None

    def lock(self, share: Share, then: ThenLocked, now_ms: int) -> None:
        """Ask for the lock of one queue."""
        if self._locks is None:
            then(True, now_ms)
            return

        def answered(locked: Collection[Queue] | None, later_ms: int) -> None:
            is_locked = bool(locked)
            if is_locked:
                share.locked_at_ms = later_ms
            then(is_locked, later_ms)

        self._locks.take([share.queue], answered, now_ms)

    def lock_all(self, shares: Collection[Share], now_ms: int) -> None:
        """Ask for the locks of *shares* again, of each broker with one request."""
        if self._locks is None:
            return
        of_broker = defaultdict(list)
        for share in shares:
            of_broker[share.queue.broker_name].append(share)
        for some in of_broker.values():
            queues = [share.queue for share in some]  # [CLIENT-ORDER-009]
            self._locks.take(queues, _noting(some), now_ms)

    def release(self, share: Share) -> None:
        """Let go of the lock of a queue."""
        if self._locks is not None:
            self._locks.release(share.queue)

    def arrived(self, share: Share, messages: Sequence[Received], now_ms: int) -> None:
        """Hand *messages* out when it is their turn."""
        share.waiting.extend(messages)
        if share.in_hand is None:
            self._next(share, now_ms)

    def handled(
        self,
        share: Share,
        messages: Sequence[Received],
        failed: Sequence[Received],
        now_ms: int,
    ) -> None:
        """Note that the application is done with the message that it had."""
        message = share.in_hand
        if message is None or all(one is not message for one in messages):
            return  # it was dropped meanwhile
        if message not in failed:
            self._is_done(share, message, now_ms)
            return

        def then(is_sent: bool, later_ms: int) -> None:
            if is_sent:
                self._is_done(share, message, later_ms)
            else:
                self._again(share, message, later_ms)

        times = message.record.reconsume_times
        if self._retries_max is None or times < self._retries_max:
            self._again(share, message, now_ms)
        else:  # [CLIENT-ORDER-006]
            self._returns.send_anew(message, then, now_ms, times=times)

    def _is_done(self, share: Share, message: Received, now_ms: int) -> None:
        if share.in_hand is message:
            share.backlog.remove([message])
            self._next(share, now_ms)

    def _again(self, share: Share, message: Received, now_ms: int) -> None:
        """Hand *message* out once more, a second later."""
        if share.in_hand is message:
            again = delivered_again(message)  # [CLIENT-ORDER-005]
            share.in_hand = again
            at_ms = now_ms + AFTER_FAILURE_MS  # [CLIENT-ORDER-004]
            self._asker.schedule.at(at_ms, lambda at: self._hand_out(share, again, at))

    def _next(self, share: Share, now_ms: int) -> None:
        """Hand the next message out, if there is one."""
        share.in_hand = share.waiting.popleft() if share.waiting else None
        if share.in_hand is not None:
            self._hand_out(share, share.in_hand, now_ms)

    def _hand_out(self, share: Share, message: Received, now_ms: int) -> None:
        """Give *message* to the application as soon as its queue is locked."""
        if not share.is_read or share.in_hand is not message:
            return

        def then(is_locked: bool, later_ms: int) -> None:
            if is_locked:
                self._hand_out(share, message, later_ms)
            else:  # [CLIENT-ORDER-007]
                at_ms = later_ms + AFTER_UNLOCKED_MS
                self._asker.schedule.at(at_ms, hand_out)

        def hand_out(at_ms: int) -> None:
            self._hand_out(share, message, at_ms)

        if self._is_locked(share, now_ms):
            self._asker.emit(Deliver(share.queue, (message,)))
        else:
            self.lock(share, then, now_ms)

    def _is_locked(self, share: Share, now_ms: int) -> bool:
        """Return whether a queue is locked, and was confirmed to be not long ago."""
        if self._locks is None:
            return True
        locked_at_ms = share.locked_at_ms
        if locked_at_ms is None:  # [CLIENT-ORDER-002]
            return False
        return now_ms - locked_at_ms <= self._locks.lives_ms


def _noting(
    shares: Collection[Share],
) -> Callable[[Collection[Queue] | None, int], None]:
    """Return what notes which of *shares* are locked; no answer changes nothing."""

    def note(locked: Collection[Queue] | None, now_ms: int) -> None:
        if locked is None:  # [CLIENT-ORDER-008]
            return
        for share in shares:
            share.locked_at_ms = now_ms if share.queue in locked else None

    return note
