"""
Queries by key: from the index to the records.
"""

from __future__ import annotations

from reference.core.store.commitlog.commit_log import CommitLog
from reference.core.store.index.index_service import IndexService
from reference.core.store.types import QueryResult


def query_message(
    log: CommitLog,
    index: IndexService,
    topic: str,
    key: str,
    *,
    count_max: int,
    begin_ms: int,
    end_ms: int,
) -> QueryResult:
    """Return the records of a key between two store times, in the order of the log.

    4.6.0 org.apache.rocketmq.store.DefaultMessageStore#queryMessage has three rounds.
    If no record of the first exists, the others read the same index items again.
    """
    offsets = sorted(  # [QUERY-KEY-002]
        index.query(topic, key, count_max=count_max, begin_ms=begin_ms, end_ms=end_ms)
    )
    if not offsets:
        return QueryResult((), 0, 0)
    records = [log.record_at(offset) for offset in offsets]
    found = tuple(record for record in records if record is not None)
    return QueryResult(found, *index.last_update)
