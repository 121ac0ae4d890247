"""
A consumer's report about itself, for an administrator, through its broker.

GET_CONSUMER_RUNNING_INFO: its subscriptions, its queues and its offset in each.
CONSUME_MESSAGE_DIRECTLY: the result of consuming one message.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from spec.wire.bodies.heartbeat import SubscriptionData
from spec.wire.bodies.json_body import Member, OpenBody
from spec.wire.bodies.queue_name import QueueName


class ProcessQueueInfo(OpenBody, frozen=True, kw_only=True):
    """A queue that a client consumes."""

    commit_offset: Annotated[int, Member("commitOffset", "committed")] = 0
    cached_min_offset: Annotated[
        int, Member("cachedMsgMinOffset", "first message not done")
    ] = 0
    cached_max_offset: Annotated[
        int, Member("cachedMsgMaxOffset", "last message pulled")
    ] = 0
    cached_count: Annotated[int, Member("cachedMsgCount", "messages")] = 0
    cached_mib: Annotated[int, Member("cachedMsgSizeInMiB", "their size")] = 0
    transaction_min_offset: Annotated[
        int, Member("transactionMsgMinOffset", "in order: being consumed")
    ] = 0
    transaction_max_offset: Annotated[int, Member("transactionMsgMaxOffset")] = 0
    transaction_count: Annotated[int, Member("transactionMsgCount")] = 0
    is_locked: Annotated[bool, Member("locked", "in order: has the lock")] = False
    unlock_tries: Annotated[int, Member("tryUnlockTimes")] = 0
    locked_at_ms: Annotated[int, Member("lastLockTimestamp")] = 0
    is_dropped: Annotated[bool, Member("droped", "whether it is another's now")] = False
    pulled_at_ms: Annotated[int, Member("lastPullTimestamp")] = 0
    consumed_at_ms: Annotated[int, Member("lastConsumeTimestamp")] = 0


class ConsumeStatus(OpenBody, frozen=True, kw_only=True):
    """Rates and times of a topic's consumption."""

    pull_ms: Annotated[float, Member("pullRT", "mean of a pull")] = 0.0
    pulled_tps: Annotated[float, Member("pullTPS", "messages a second")] = 0.0
    consume_ms: Annotated[float, Member("consumeRT", "mean of a message")] = 0.0
    consumed_tps: Annotated[float, Member("consumeOKTPS")] = 0.0
    failed_tps: Annotated[float, Member("consumeFailedTPS")] = 0.0
    failed_count: Annotated[int, Member("consumeFailedMsgs", "last hour")] = 0


class ConsumerRunningInfo(OpenBody, frozen=True, kw_only=True):
    """A client's response to GET_CONSUMER_RUNNING_INFO."""

    properties: Annotated[
        Mapping[str, str], Member("properties", "settings, as PROP_...")
    ] = {}
    subscriptions: Annotated[
        tuple[SubscriptionData, ...], Member("subscriptionSet")
    ] = ()
    queues: Annotated[Mapping[QueueName, ProcessQueueInfo], Member("mqTable")] = {}
    rates: Annotated[
        Mapping[str, ConsumeStatus], Member("statusTable", "by topic")
    ] = {}
    stacks: Annotated[str | None, Member("jstack", "of its threads")] = None


class ConsumeMessageDirectlyResult(OpenBody, frozen=True, kw_only=True):
    """A client's response to CONSUME_MESSAGE_DIRECTLY."""

    is_ordered: Annotated[bool, Member("order", "consumes in order")] = False
    auto_commit: Annotated[bool, Member("autoCommit")] = True
    result: Annotated[
        str | None,
        Member(
            "consumeResult",
            "CR_SUCCESS, CR_LATER, CR_ROLLBACK, CR_COMMIT, CR_THROW_EXCEPTION"
            " or CR_RETURN_NULL",
        ),
    ] = None
    remark: Annotated[str | None, Member("remark", "of an exception")] = None
    spent_ms: Annotated[int, Member("spentTimeMills")] = 0
