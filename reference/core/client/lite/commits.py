"""
Commits of a lite pull consumer, at brokers or in a local offset store.

Only polled messages count. A queue whose messages all fail the tag filter keeps its
committed offset (4.6.0 DefaultLitePullConsumerImpl#commitAll).
"""

from __future__ import annotations

from collections.abc import Callable

from reference.core.client.lite.pull_loop import LitePullLoop, LiteQueue
from reference.core.client.message import MessageQueue
from reference.core.client.options import LiteOptions
from reference.core.client.remoting.requests import update_consumer_offset_request
from reference.core.client.remoting.rpc_client import (
    PersistOffsets,
    Result,
    RpcClient,
    is_success,
)
from reference.core.client.route.routes import Routes
from spec.client.subscribing import OFFSET_TIMEOUT_MS
from spec.wire.remoting.command import Command


class LiteCommits:
    """Commits the polled offsets of a pull loop."""

    def __init__(
        self,
        options: LiteOptions,
        pull_loop: LitePullLoop,
        *,
        rpc: RpcClient,
        routes: Routes,
        local_offsets: dict[MessageQueue, int],
    ) -> None:
        self._group = options.group
        self._broadcasts = options.broadcasts
        self._local_offsets = local_offsets
        """Consumer offsets of a broadcasting member."""
        self._pull_loop = pull_loop
        self._rpc = rpc
        self._routes = routes

    def commit_oneway(self) -> None:
        """Commit the polled offset of every queue, without responses."""
        if self._broadcasts:
            self._persist()
            return
        for assigned, address, request in self._commits(oneway=True):
            assigned.committed_offset = assigned.polled
            self._rpc.invoke_oneway(address, request)

    def commit(self, callback: Callable[[], None], now_ms: int) -> None:
        """Commit, and call back after every response or timeout.

        The next commit repeats the offsets that no broker confirmed.
        """
        if self._broadcasts:
            self._persist()
            callback()
            return
        commits = self._commits(oneway=False)
        pending = {assigned.queue for assigned, _, _ in commits}
        for assigned, address, request in commits:
            assigned.committed_offset = assigned.polled

            def on_result(
                result: Result, _later_ms: int, assigned: LiteQueue = assigned
            ) -> None:
                if not is_success(result):
                    assigned.committed_offset = None
                pending.discard(assigned.queue)
                if not pending:
                    callback()

            until_ms = now_ms + OFFSET_TIMEOUT_MS
            self._rpc.invoke(address, request, on_result, until_ms=until_ms)
        if not commits:
            callback()

    def _persist(self) -> None:
        """Persist the offsets of assigned queues locally."""
        assigned_queues = self._pull_loop.assigned
        for queue, assigned in assigned_queues.items():
            if assigned.polled is not None:
                self._local_offsets[queue] = assigned.polled
                assigned.committed_offset = assigned.polled
        offsets = self._local_offsets.items()
        known = {queue: at for queue, at in offsets if queue in assigned_queues}
        if known:
            self._rpc.emit(PersistOffsets(known))

    def _commits(self, *, oneway: bool) -> list[tuple[LiteQueue, str, Command]]:
        """Build the request for each queue polled since its last commit."""
        commits = []
        for assigned in self._pull_loop.assigned.values():
            offset, queue = assigned.polled, assigned.queue
            address = self._routes.any_address(queue.broker_name)
            if offset in (None, assigned.committed_offset) or address is None:
                continue
            assert offset is not None
            request = update_consumer_offset_request(
                self._group, queue, offset, oneway=oneway
            )
            commits.append((assigned, address, request))
        return commits
