"""
Group commit: puts that wait until the disk or a slave has them.

Disk (SYNC_FLUSH) and slave (SYNC_MASTER) both take the log in order. One offset
completes every request before it, so one flush answers many producers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

OnCommit = Callable[[bool], None]
"""Receives True when the put is committed, False at its deadline."""


class GroupCommitRequest(NamedTuple):
    """One waiting put (Java: CommitLog$GroupCommitRequest)."""

    end: int
    """Commit-log offset behind the last record of the put."""
    deadline_ms: int
    on_commit: OnCommit


class GroupCommitQueue:
    """The puts that wait for one disk or one set of slaves, in log order.

    Java: CommitLog$GroupCommitService and HAService$GroupTransferService.
    """

    def __init__(self) -> None:
        self._requests: deque[GroupCommitRequest] = deque()

    def __len__(self) -> int:
        return len(self._requests)

    @property
    def deadline_ms(self) -> int | None:
        """Deadline of the first request; None without one."""
        return self._requests[0].deadline_ms if self._requests else None

    def put(self, end: int, *, deadline_ms: int, on_commit: OnCommit) -> None:
        """Add a request that is complete once everything before *end* is committed."""
        self._requests.append(GroupCommitRequest(end, deadline_ms, on_commit))

    def commit(self, offset: int) -> None:
        """Complete the requests that end at *offset* or before."""
        requests = self._requests
        while requests and requests[0].end <= offset:
            requests.popleft().on_commit(True)

    def expire(self, now_ms: int) -> None:
        """Fail the requests whose deadline has passed."""
        requests = self._requests
        while requests and requests[0].deadline_ms <= now_ms:
            requests.popleft().on_commit(False)
