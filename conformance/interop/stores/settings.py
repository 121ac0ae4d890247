"""Settings of brokers whose stores are audited."""

from __future__ import annotations

from collections.abc import Mapping

SMALL_FILES: Mapping[str, str] = {
    "mappedFileSizeCommitLog": str(64 * 1024),
    "mappedFileSizeConsumeQueue": str(20 * 20),
    "maxHashSlotNum": "100",
    "maxIndexNum": "400",
    "maxMessageSize": str(32 * 1024),
    # 5.x: 1000 units of the timer for each file.
    "mappedFileSizeTimerLog": "52000",
}
"""A few hundred messages fill several files of each kind."""

PROMPT: Mapping[str, str] = {
    "messageDelayLevel": "1s 1s 1s 2s",
    "transactionTimeOut": "2000",
    "transactionCheckInterval": "1000",
    "transactionOpMsgMaxSize": "1",
    "flushConsumerOffsetInterval": "500",
    "flushDelayOffsetInterval": "500",
}
"""Delays and intervals of seconds at most."""
