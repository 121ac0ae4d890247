"""
Finding messages by key.
"""

from __future__ import annotations

from collections.abc import Callable

from reference.core.store.commitlog.commit_log import CommitLog
from reference.core.store.commitlog.record_codec import stored_at_of
from reference.core.store.index.index_service import IndexService
from reference.core.store.types import QueryResult

_ROUNDS = 3


def query_records(
    log: CommitLog,
    index: IndexService,
    offsets_until: Callable[[int], list[int]],
    *,
    begin_ms: int,
    end_ms: int,
) -> QueryResult:
    """Return the records that the index has between two times.

    4.6.0 org.apache.rocketmq.store.DefaultMessageStore#queryMessage: where no record
    exists any more it asks again, for what is older than the oldest it was told of.
    """
    until_ms = end_ms
    last_update = (0, 0)
    for _ in range(_ROUNDS):
        offsets = sorted(offsets_until(until_ms))  # [QUERY-KEY-002]
        if not offsets:
            break
        last_update = index.last_update
        records = [log.record_at(offset) for offset in offsets]
        found = tuple(record for record in records if record is not None)
        if found:
            return QueryResult(found, *last_update)
        until_ms = min(until_ms, _stored_at(records[0], until_ms))
        if until_ms < begin_ms:
            break
    return QueryResult((), *last_update)


def _stored_at(record: memoryview | None, otherwise: int) -> int:
    return otherwise if record is None else stored_at_of(record)
