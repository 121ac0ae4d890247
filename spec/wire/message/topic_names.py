"""
Names of system topics, prefixes of topic names, and the limit of their length.

Java: TopicValidator, TransactionalMessageUtil, TimerMessageStore and MixAll.
"""

from __future__ import annotations

DEFAULT_TOPIC = "TBW102"
"""Template of topics that a send creates (Java: AUTO_CREATE_TOPIC_KEY_TOPIC)."""
SCHEDULE_TOPIC = "SCHEDULE_TOPIC_XXXX"
"""Topic of delayed messages (Java: RMQ_SYS_SCHEDULE_TOPIC)."""
HALF_TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC"
"""Topic of half messages (Java: RMQ_SYS_TRANS_HALF_TOPIC)."""
ROCKSDB_HALF_TOPIC = "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC"
"""Topic that each broker has from 5.4 on (Java: RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC).

It has the half messages of a broker with transRocksDBEnable=true and
transWriteOriginTransHalfEnable=false (5.4.0 broker.transaction.queue
.TransactionalMessageBridge#parseHalfMessageInner).
"""
HALF_TOPICS = (HALF_TOPIC, ROCKSDB_HALF_TOPIC)
OP_TOPIC = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
"""Topic of op messages (Java: RMQ_SYS_TRANS_OP_HALF_TOPIC)."""
TRANS_CHECK_MAX_TIME_TOPIC = "TRANS_CHECK_MAX_TIME_TOPIC"
"""Topic of half messages that were checked too often, from 4.5.2 on."""
TRANSACTION_CHECK_GROUP = "CID_RMQ_SYS_TRANS"
"""Group whose offsets are the progress of checking (Java: CID_SYS_RMQ_TRANS)."""
TIMER_TOPIC = "rmq_sys_wheel_timer"
"""Topic of messages in the timer, from 5.0 on (Java: TIMER_TOPIC)."""
SELF_TEST_TOPIC = "SELF_TEST_TOPIC"
BENCHMARK_TOPIC = "BenchmarkTest"
OFFSET_MOVED_TOPIC = "OFFSET_MOVED_EVENT"
REPLY_TOPIC_POSTFIX = "_REPLY_TOPIC"
"""End of the name of a cluster's reply topic, from 4.6 on."""

RETRY_PREFIX = "%RETRY%"
"""Begins the name of a group's retry topic (Java: RETRY_GROUP_TOPIC_PREFIX)."""
DLQ_PREFIX = "%DLQ%"
"""Begins the name of a group's dead letter topic (Java: DLQ_GROUP_TOPIC_PREFIX)."""
LMQ_PREFIX = "%LMQ%"
"""Begins the name of a light message queue (Java: LMQ_PREFIX)."""
UNLISTED_BEGINS = (SCHEDULE_TOPIC, "RMQ_SYS_", "rmq_sys_", LMQ_PREFIX)
"""Begins of the names that some release does not list in topics.json, although their
topics exist."""

TOPIC_LENGTH_MAX = 127
"""Bytes of a topic's name in a record, whose length field is a signed byte."""
