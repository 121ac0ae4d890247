"""
A consumer's report about itself, for an administrator, through its broker.

GET_CONSUMER_RUNNING_INFO: its subscriptions, its queues and its offset in each.
CONSUME_MESSAGE_DIRECTLY: the result of consuming one message.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spec.wire.bodies.heartbeat import SubscriptionData
from spec.wire.bodies.json_body import (
    DECIMAL,
    INTEGER,
    TEXT,
    TRUTH,
    list_of,
    map_of,
    member,
    object_of,
    rest_of_members,
)
from spec.wire.bodies.queue_name import QUEUE_NAME, QueueName


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessQueueInfo:
    """A queue that a client consumes."""

    commit_offset: int = member("commitOffset", INTEGER, "committed", default=0)
    cached_min_offset: int = member(
        "cachedMsgMinOffset", INTEGER, "first message not done", default=0
    )
    cached_max_offset: int = member(
        "cachedMsgMaxOffset", INTEGER, "last message pulled", default=0
    )
    cached_count: int = member("cachedMsgCount", INTEGER, "messages", default=0)
    cached_mib: int = member("cachedMsgSizeInMiB", INTEGER, "their size", default=0)
    transaction_min_offset: int = member(
        "transactionMsgMinOffset", INTEGER, "in order: being consumed", default=0
    )
    transaction_max_offset: int = member(
        "transactionMsgMaxOffset", INTEGER, "", default=0
    )
    transaction_count: int = member("transactionMsgCount", INTEGER, "", default=0)
    is_locked: bool = member("locked", TRUTH, "in order: has the lock", default=False)
    unlock_tries: int = member("tryUnlockTimes", INTEGER, "", default=0)
    locked_at_ms: int = member("lastLockTimestamp", INTEGER, "", default=0)
    is_dropped: bool = member(
        "droped", TRUTH, "whether it is another's now", default=False
    )
    pulled_at_ms: int = member("lastPullTimestamp", INTEGER, "", default=0)
    consumed_at_ms: int = member("lastConsumeTimestamp", INTEGER, "", default=0)
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeStatus:
    """How a topic's consumption goes."""

    pull_ms: float = member("pullRT", DECIMAL, "mean of a pull", default=0.0)
    pulled_tps: float = member("pullTPS", DECIMAL, "messages a second", default=0.0)
    consume_ms: float = member("consumeRT", DECIMAL, "mean of a message", default=0.0)
    consumed_tps: float = member("consumeOKTPS", DECIMAL, "", default=0.0)
    failed_tps: float = member("consumeFailedTPS", DECIMAL, "", default=0.0)
    failed_count: int = member("consumeFailedMsgs", INTEGER, "last hour", default=0)
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerRunningInfo:
    """A client's response to GET_CONSUMER_RUNNING_INFO."""

    properties: Mapping[str, str] = member(
        "properties", map_of(TEXT, TEXT), "settings, as PROP_...", default=dict
    )
    subscriptions: tuple[SubscriptionData, ...] = member(
        "subscriptionSet", list_of(object_of(SubscriptionData)), "", default=()
    )
    queues: Mapping[QueueName, ProcessQueueInfo] = member(
        "mqTable", map_of(QUEUE_NAME, object_of(ProcessQueueInfo)), "", default=dict
    )
    rates: Mapping[str, ConsumeStatus] = member(
        "statusTable", map_of(TEXT, object_of(ConsumeStatus)), "by topic", default=dict
    )
    stacks: str | None = member("jstack", TEXT, "of its threads", default=None)
    rest: Mapping[str, object] = rest_of_members()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeMessageDirectlyResult:
    """A client's response to CONSUME_MESSAGE_DIRECTLY."""

    is_ordered: bool = member("order", TRUTH, "consumes in order", default=False)
    auto_commit: bool = member("autoCommit", TRUTH, "", default=True)
    result: str | None = member(
        "consumeResult",
        TEXT,
        "CR_SUCCESS, CR_LATER, CR_ROLLBACK, CR_COMMIT, CR_THROW_EXCEPTION"
        " or CR_RETURN_NULL",
        default=None,
    )
    remark: str | None = member("remark", TEXT, "of an exception", default=None)
    spent_ms: int = member("spentTimeMills", INTEGER, "", default=0)
    rest: Mapping[str, object] = rest_of_members()
