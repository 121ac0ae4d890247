"""
Messages can be looked up: by where they lie, by their keys, by their unique key.

The first reads the commit log, the others the index, which is only as good as a
hash: what it finds, the asker must compare.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_QUERY = "4.6.0 org.apache.rocketmq.broker.processor.QueryMessageProcessor"
_STORE = "4.6.0 org.apache.rocketmq.store.DefaultMessageStore#queryMessage"
_INDEX = "4.6.0 org.apache.rocketmq.store.index.IndexService#buildIndex"

UNIQUE_KEY_FIELD = "_UNIQUE_KEY_QUERY"
"""The header field that is true in a query by unique key."""
UNIQUE_COUNT_MAX = 32
"""How many messages a query by unique key gives at most, whatever it asks for."""

VIEW = Clause(
    id="QUERY-ID-001",
    level=Level.MUST,
    text="The offset in a message's id finds the message's record, and nothing more.",
    source=f"{_QUERY}#viewMessageById",
)
VIEW_NOTHING = Clause(
    id="QUERY-ID-002",
    level=Level.MUST,
    text="A view of an offset outside the commit log is refused with SYSTEM_ERROR (1).",
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
    text="A query by key gives the messages that have it in the order of the commit"
    " log.",
    source=_STORE,
)
BY_KEY_NEWEST = Clause(
    id="QUERY-KEY-003",
    level=Level.MUST,
    text="A query by key for fewer messages than there are gives the newest.",
    source="4.6.0 org.apache.rocketmq.store.index.IndexFile#selectPhyOffset",
)
BY_KEY_NONE = Clause(
    id="QUERY-KEY-004",
    level=Level.MUST,
    text="A query by a key that no message has is answered QUERY_NOT_FOUND (22).",
    source=f"{_QUERY}#queryMessage",
)
BY_KEY_OF_TOPIC = Clause(
    id="QUERY-KEY-005",
    level=Level.MUST,
    text="A query by key does not give another topic's messages of that key.",
    source=_INDEX,
)
BY_KEY_IN_TIME = Clause(
    id="QUERY-KEY-006",
    level=Level.MUST,
    text="A query by key for a time in which nothing was stored is answered"
    " QUERY_NOT_FOUND (22).",
    source="4.6.0 org.apache.rocketmq.store.index.IndexService#queryOffset",
)
KEY_COLLISION = Clause(
    id="QUERY-KEY-007",
    level=Level.QUIRK,
    text="Keys are compared by hash: a query for Aa also gives messages of BB, and the"
    " asker must look itself.",
    source=_STORE,
    issues=("apache/rocketmq#3613",),
)
KEY_TWICE = Clause(
    id="QUERY-KEY-008",
    level=Level.QUIRK,
    text="A message with the same key twice is given twice.",
    source=_INDEX,
    issues=("mxsm/rocketmq-rust#10428",),
)
BY_KEY_MOST = Clause(
    id="QUERY-KEY-009",
    level=Level.MUST,
    text="A query by key gives no more messages than maxMsgsNumBatch, 64 by default,"
    " whatever it asks for.",
    source="4.6.0 org.apache.rocketmq.store.index.IndexService#queryOffset",
)
BY_KEY_WITHOUT_INDEX = Clause(
    id="QUERY-KEY-010",
    level=Level.MUST,
    text="A broker whose messageIndexEnable is false finds messages by place and by no"
    " key.",
    source="4.6.0 org.apache.rocketmq.store"
    ".DefaultMessageStore$CommitLogDispatcherBuildIndex#dispatch",
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
    text="A query by unique key does not heed how many messages it asks for.",
    source=f"{_QUERY}#queryMessage",
)
INDEX_PROGRESS = Clause(
    id="QUERY-ANSWER-001",
    level=Level.SHOULD,
    text="The answer to a query names the newest record in the index, by offset and"
    " store time.",
    source=f"{_QUERY}#queryMessage",
)
