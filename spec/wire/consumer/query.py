"""
Queries of messages: by message id, by their keys, by their unique key.

The first reads the commit log, the others the index, which compares hashes only: the
client must compare the keys of the result.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_QUERY = "4.6.0 org.apache.rocketmq.broker.processor.QueryMessageProcessor"
_STORE = "4.6.0 org.apache.rocketmq.store.DefaultMessageStore#queryMessage"
_INDEX = "4.6.0 org.apache.rocketmq.store.index.IndexService#buildIndex"

UNIQUE_KEY_FIELD = "_UNIQUE_KEY_QUERY"
"""The header field that is true in a query by unique key."""

VIEW = Clause(
    id="QUERY-ID-001",
    level=Level.MUST,
    text=(
        "VIEW_MESSAGE_BY_ID finds a message's record by the offset in the message id "
        "alone."
    ),
    source=f"{_QUERY}#viewMessageById",
)
VIEW_NOTHING = Clause(
    id="QUERY-ID-002",
    level=Level.MUST,
    text=(
        "VIEW_MESSAGE_BY_ID of an offset outside the commit log is refused with "
        "SYSTEM_ERROR (1)."
    ),
    source=f"{_QUERY}#viewMessageById",
)
BY_KEY = Clause(
    id="QUERY-KEY-001",
    level=Level.MUST,
    text="A message is found by each of its keys.",
    source=_INDEX,
    issues=("apache/rocketmq#8007", "apache/rocketmq#7539"),
)
BY_KEY_ALL = Clause(
    id="QUERY-KEY-002",
    level=Level.MUST,
    text=(
        "A query by key returns the messages of the key in the order of the commit log."
    ),
    source=_STORE,
)
BY_KEY_NEWEST = Clause(
    id="QUERY-KEY-003",
    level=Level.MUST,
    text="A query by key for fewer messages than exist returns the newest.",
    source="4.6.0 org.apache.rocketmq.store.index.IndexFile#selectPhyOffset",
)
BY_KEY_NONE = Clause(
    id="QUERY-KEY-004",
    level=Level.MUST,
    text="A query by key that no message has is answered with QUERY_NOT_FOUND (22).",
    source=f"{_QUERY}#queryMessage",
)
BY_KEY_OF_NEGATIVE_COUNT = Clause(
    id="QUERY-KEY-012",
    level=Level.MUST,
    text="A query by key with a maxNum below 0 is answered with SYSTEM_ERROR (1).",
    source="4.6.0 org.apache.rocketmq.store.index.IndexService#queryOffset",
)
BY_KEY_OF_TOPIC = Clause(
    id="QUERY-KEY-005",
    level=Level.MUST,
    text="A query by key does not return another topic's messages of that key.",
    source=_INDEX,
)
BY_KEY_IN_TIME = Clause(
    id="QUERY-KEY-006",
    level=Level.MUST,
    text=(
        "A query by key for a time in which no message was stored is answered with "
        "QUERY_NOT_FOUND (22)."
    ),
    source="4.6.0 org.apache.rocketmq.store.index.IndexService#queryOffset",
)
KEY_COLLISION = Clause(
    id="QUERY-KEY-007",
    level=Level.QUIRK,
    text=(
        "A broker compares keys by hash: a query for Aa also returns messages of BB, "
        "and the client must compare the text."
    ),
    source=_STORE,
    issues=("apache/rocketmq#3613",),
)
KEY_TWICE = Clause(
    id="QUERY-KEY-008",
    level=Level.QUIRK,
    text="A query by key returns a message with the same key twice two times.",
    source=_INDEX,
    issues=("mxsm/rocketmq-rust#10428",),
)
BY_KEY_MOST = Clause(
    id="QUERY-KEY-009",
    level=Level.MUST,
    text=(
        "A query by key returns at most maxMsgsNumBatch messages, 64 by default, "
        "even if it requests more."
    ),
    source="4.6.0 org.apache.rocketmq.store.index.IndexService#queryOffset",
)
BY_KEY_WITHOUT_INDEX = Clause(
    id="QUERY-KEY-010",
    level=Level.MUST,
    text=(
        "A broker whose messageIndexEnable is false finds messages by offset but not "
        "by key."
    ),
    source="4.6.0 org.apache.rocketmq.store"
    ".DefaultMessageStore$CommitLogDispatcherBuildIndex#dispatch",
)
BY_KEY_BOUNDS = Clause(
    id="QUERY-KEY-011",
    level=Level.MUST,
    text=(
        "A query by key returns the messages from beginTimestamp to endTimestamp, "
        "both included, by the time in the index: seconds after its file's first."
    ),
    source="4.6.0 org.apache.rocketmq.store.index.IndexFile#selectPhyOffset",
)
BY_UNIQUE_KEY = Clause(
    id="QUERY-UNIQUE-001",
    level=Level.MUST,
    text="A message is found by its unique key.",
    source=_INDEX,
)
UNIQUE_COUNT = Clause(
    id="QUERY-UNIQUE-002",
    level=Level.QUIRK,
    text="A query by unique key ignores its maxNum.",
    source=f"{_QUERY}#queryMessage",
)
INDEX_PROGRESS = Clause(
    id="QUERY-RESPONSE-001",
    level=Level.SHOULD,
    text=(
        "The response to a query names the newest record in the index, by offset and "
        "store time."
    ),
    source=f"{_QUERY}#queryMessage",
)
