"""
A commit log that a failover has cut, as a broker in controller mode leaves it.

A slave drops what the new master's log does not have. The bytes stay in the file until
records of the new master take their place. So do units in the queues, and items in the
index stay for ever. What lies behind the log's end is then older than what lies before.

5.3.3 org.apache.rocketmq.store.ha.autoswitch.AutoSwitchHAClient#doTruncate,
org.apache.rocketmq.store.MappedFileQueue#truncateDirtyFiles.
"""

from __future__ import annotations

EPOCH_FILE = "epochFileCheckpoint"
"""File with the begin of each master's epoch. Only a broker in controller mode has it
(5.0.0 store.config.MessageStoreConfig#getStorePathEpochFile)."""


def is_cut_off(before_ms: int | None, behind_ms: int | None) -> bool:
    """Return whether the record behind a place without one was cut off the log.

    The arguments are store times, of the record before the place and of that behind it;
    None without a record. The clocks of two masters may differ, but a failover takes
    seconds.
    """
    return before_ms is not None and behind_ms is not None and behind_ms < before_ms
