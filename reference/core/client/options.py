"""
Options of producers and consumers; the defaults are those of 4.6.0.

Java: ClientConfig, DefaultMQProducer, DefaultMQPushConsumer, DefaultMQPullConsumer,
DefaultLitePullConsumer.
"""

from __future__ import annotations

from msgspec import Struct

from reference.core.client.hooks import ConsumeHook, SendHooks
from reference.core.client.pull.pull_request import FilterMessageHook
from reference.core.client.rebalance.process_queue import PullThresholds
from reference.core.client.rebalance.strategies import (
    AllocateStrategy,
    allocate_message_queue_averagely,
)
from spec.client.liveness import HEARTBEAT_PERIOD_MS
from spec.client.orderly import LOCK_LIVES_MS, LOCK_PERIOD_MS
from spec.client.subscription import COMMIT_PERIOD_MS
from spec.security.signature import Credentials
from spec.wire.bodies.heartbeat import ALL_MESSAGES, TAG
from spec.wire.producer.producer import (
    COMPRESS_FROM_SIZE,
    QUEUES_OF_A_NEW_TOPIC,
    SEND_TIMEOUT_MS,
)
from spec.wire.producer.retry import RETRIES
from spec.wire.producer.select_queue import ROUTE_PERIOD_MS
from spec.wire.send.send_limits import MESSAGE_SIZE_MAX


class Periods(Struct, frozen=True, kw_only=True):
    """Periods of a client's scheduled tasks."""

    route_ms: int = ROUTE_PERIOD_MS
    """Java: pollNameServerInterval."""
    heartbeat_ms: int = HEARTBEAT_PERIOD_MS
    """Java: heartbeatBrokerInterval."""
    commit_ms: int = COMMIT_PERIOD_MS
    """Java: persistConsumerOffsetInterval."""
    lock_ms: int = LOCK_PERIOD_MS
    """Java: the system property rocketmq.client.rebalance.lockInterval."""
    lock_lives_ms: int = LOCK_LIVES_MS
    """Java: the system property rocketmq.client.rebalance.lockMaxLiveTime."""


class ClientOptions(Struct, frozen=True, kw_only=True):
    """Options of every producer and consumer."""

    group: str
    client_id: str = ""
    """Empty: an id of the address and the process."""
    periods: Periods = Periods()
    credentials: Credentials | None = None
    """Keys with which every request is signed (Java: AclClientRPCHook)."""


class ProducerOptions(ClientOptions, frozen=True, kw_only=True):
    """Options of a producer."""

    timeout_ms: int = SEND_TIMEOUT_MS
    retry_count: int = RETRIES
    """Java: retryTimesWhenSendFailed."""
    async_retry_count: int = RETRIES
    """Java: retryTimesWhenSendAsyncFailed."""
    retries_not_stored: bool = False
    """Java: retryAnotherBrokerWhenNotStoreOK."""
    avoids_slow_brokers: bool = False
    """Java: sendLatencyFaultEnable."""
    uses_vip_port: bool = False
    """Java: vipChannelEnabled."""
    queue_count: int = QUEUES_OF_A_NEW_TOPIC
    """Java: defaultTopicQueueNums."""
    compress_from: int = COMPRESS_FROM_SIZE
    """Body size in bytes (Java: compressMsgBodyOverHowmuch)."""
    body_size_max: int = MESSAGE_SIZE_MAX
    """Bytes (Java: maxMessageSize)."""
    hooks: SendHooks = SendHooks()


class PullOptions(ClientOptions, frozen=True, kw_only=True):
    """Options of every consumer; a pull consumer has no others."""

    filters: tuple[FilterMessageHook, ...] = ()
    hooks: tuple[ConsumeHook, ...] = ()
    """For a pull consumer a message counts as consumed when it is pulled."""


class RebalanceOptions(PullOptions, frozen=True, kw_only=True):
    """Options of a consumer whose queues are assigned by rebalance."""

    broadcasts: bool = False
    """Message model BROADCASTING: every member has all queues and local offsets."""
    allocate_strategy: AllocateStrategy = allocate_message_queue_averagely
    thresholds: PullThresholds = PullThresholds()
    batch_size: int = 32
    """Messages in a pull (Java: pullBatchSize)."""


class LiteOptions(RebalanceOptions, frozen=True, kw_only=True):
    """Options of a lite pull consumer. Its hooks see only messages of `pull`."""

    auto_commits: bool = True
    """Whether a poll commits the messages polled before, every ``commit_ms``."""
    batch_size: int = 10
    ahead_max: int = 10_000
    """Messages of all queues pulled ahead, a pull counted as a whole batch.

    Java: pullThresholdForAll.
    """


class ConsumerOptions(RebalanceOptions, frozen=True, kw_only=True):
    """Options of a push consumer."""

    topic: str
    expression: str = ALL_MESSAGES
    expression_type: str = TAG
    """TAG or SQL92."""
    from_first: bool = False
    """CONSUME_FROM_FIRST_OFFSET for a group without offset, else ..._LAST_OFFSET."""
    from_time_ms: int | None = None
    """CONSUME_FROM_TIMESTAMP of this store time, for a group without offset."""
    is_orderly: bool = False
    """Java: MessageListenerOrderly."""
    retries_max: int | None = None
    """Java: maxReconsumeTimes. None: 16, and for orderly consumption no limit."""
