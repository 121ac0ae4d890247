"""
The settings of broker.conf (Java: BrokerConfig, MessageStoreConfig).

Names and defaults are those of 4.6.0, so that the file of a real broker works here.
4.6.0 ignores every unknown name and every number that it cannot parse. The reference
warns of a name without effect, and does not start with a bad value (BrokerStartup).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from msgspec.structs import fields

from reference.core.settings import (
    Named,
    Port,
    Range,
    Readable,
    Setting,
    SettingError,
    Settings,
    ShownOnly,
)
from reference.core.store.delay.delay_levels import DelayLevels
from reference.core.store.types import (
    PHYSICAL_MEMORY_SIZE,
    FlushMode,
    StoreOptions,
)
from spec.integers import INT64_MAX
from spec.routing.topic_config import Permission
from spec.store.consume_queue import UNIT_SIZE
from spec.store.timer import timer_log
from spec.wire.message.delay_levels import DEFAULT_DELAY_LEVELS
from spec.wire.remoting.connection import VIP_PORT_DISTANCE
from spec.wire.remoting.frame import FRAME_SIZE_MAX

Period = Annotated[int, Range(1)]
"""A period of a scheduled task in ms."""
Count = Annotated[int, Range(1)]

_SPELLINGS = {
    "mapedFileSizeCommitLog": "mappedFileSizeCommitLog",
    "mapedFileSizeConsumeQueue": "mappedFileSizeConsumeQueue",
}
"""Names before 4.6.0, which files still have."""
# Other names of 4.6.0.
_WITHOUT_EFFECT = """
adminBrokerThreadPoolNums
bitMapLengthConsumeQueueExt brokerFastFailureEnable channelNotActiveInterval
clientAsyncSemaphoreValue clientCallbackExecutorThreads clientChannelMaxIdleTimeSeconds
clientCloseSocketIfTimeout clientManagerThreadPoolQueueCapacity
clientManageThreadPoolNums clientOnewaySemaphoreValue clientPooledByteBufAllocatorEnable
clientSocketRcvBufSize clientSocketSndBufSize clientWorkerThreads commercialBaseCount
commercialBigCount commercialEnable commercialTimerCount commercialTransCount
connectTimeoutMillis consumerFallbehindThreshold consumerManagerThreadPoolQueueCapacity
consumerManageThreadPoolNums debugLockEnable destroyMapedFileIntervalForcibly
disableConsumeIfConsumerReadSlowly diskFallRecorded dLegerGroup dLegerPeers dLegerSelfId
duplicationEnable enableDLegerCommitLog endTransactionThreadPoolNums
fastFailIfNoBufferInStorePool fetchNamesrvAddrByAddressServer filterServerNums
filterSupportRetry flushCommitLogTimed flushConsumerOffsetHistoryInterval
flushDelayOffsetInterval flushLeastPagesWhenWarmMapedFile heartbeatThreadPoolNums
heartbeatThreadPoolQueueCapacity highSpeedMode maxDelayTime messageStorePlugIn
processReplyMessageThreadPoolNums pullMessageThreadPoolNums putMsgIndexHightWater
queryMessageThreadPoolNums registerBrokerTimeoutMills replyThreadPoolQueueCapacity
sendMessageThreadPoolNums serverAsyncSemaphoreValue
serverCallbackExecutorThreads serverChannelMaxIdleTimeSeconds serverOnewaySemaphoreValue
serverPooledByteBufAllocatorEnable serverSelectorThreads serverSocketRcvBufSize
serverSocketSndBufSize serverWorkerThreads storePathCommitLog storePathRootDir
transferMsgByHeap useEpollNativeSelector useReentrantLockWhenPutMessage useTLS
waitTimeMillsInHeartbeatQueue waitTimeMillsInPullQueue waitTimeMillsInSendQueue
waitTimeMillsInTransactionQueue warmMapedFileEnable
"""

_OF_TIMER = (
    Setting(
        name="mappedFileSizeTimerLog",
        attribute="timer_log_file_size",
        kind=int,
        default=timer_log.FILE_SIZE_DEFAULT,
        marks=(Range(1),),
    ),
    Setting(
        name="timerWheelEnable", attribute="timer_enabled", kind=bool, default=True
    ),
)
"""Settings of 5.x about files that a start reads; the reference has no timer."""


class Role(StrEnum):
    """The values of the setting brokerRole."""

    ASYNC_MASTER = "ASYNC_MASTER"
    SYNC_MASTER = "SYNC_MASTER"
    SLAVE = "SLAVE"


class BrokerOptions(Settings):
    """The settings of one broker; tools may change them while it runs."""

    OWNER = "broker"
    SPELLINGS = _SPELLINGS
    WITHOUT_EFFECT = _WITHOUT_EFFECT

    # Names and addresses: 4.6.0 takes their defaults from the machine.
    broker_name: str = "broker-a"
    broker_cluster_name: str = "DefaultCluster"
    broker_id: int = 0
    """0 for a master."""
    broker_ip1: Annotated[str, Named("brokerIP1")] = "127.0.0.1"
    """The host part of the address for clients."""
    broker_ip2: Annotated[str, Named("brokerIP2")] = ""
    """The host part of the address for slaves; brokerIP1 if empty."""
    namesrv_addr: str = ""
    listen_port: Port = 10911
    ha_listen_port: Annotated[Port, ShownOnly()] = 10912
    """The port above listenPort, also if the file has another one."""
    region_id: str = "DefaultRegion"

    broker_permission: int = Permission.READ | Permission.WRITE
    default_topic_queue_nums: int = 8
    auto_create_topic_enable: bool = True
    auto_create_subscription_group: bool = True
    cluster_topic_enable: bool = True
    broker_topic_enable: bool = True
    trace_topic_enable: bool = False
    acl_enable: bool = False
    rocketmq_home: str = ""
    """The folder of conf/plain_acl.yml; ROCKETMQ_HOME if empty."""
    msg_trace_topic_name: str = "RMQ_SYS_TRACE_TOPIC"
    trace_on: bool = True
    reject_transaction_message: bool = False
    store_reply_message_enable: bool = True
    long_polling_enable: bool = True
    short_polling_time_mills: int = 1000
    notify_consumer_ids_changed_enable: bool = True
    start_accept_send_request_time_stamp: int = 0
    default_query_max_num: int = 32

    flush_consumer_offset_interval: Period = 5000
    register_name_server_period: Period = 30_000
    # [ROUTE-OUTERAPI-009] [ROUTE-OUTERAPI-011]
    force_register: Annotated[bool, ShownOnly()] = True
    compressed_register: bool = False
    transaction_time_out: int = 6000  # [TXN-CHECK-017]
    transaction_check_max: int = 15
    transaction_check_interval: Period = 60_000  # [TXN-CHECK-018]

    # Capacities of queues that exist only in Java; brokerStatus prints them.
    send_thread_pool_queue_capacity: int = 10_000
    pull_thread_pool_queue_capacity: int = 100_000
    query_thread_pool_queue_capacity: int = 20_000
    end_transaction_pool_queue_capacity: int = 100_000

    broker_role: Role = Role.ASYNC_MASTER
    ha_master_address: str = ""
    ha_send_heartbeat_interval: Period = 5000
    ha_housekeeping_interval: Period = 20_000
    ha_transfer_batch_size: int = 32 * 1024
    ha_slave_fallbehind_max: int = 256 * 1024**2
    offset_check_in_slave: bool = False
    slave_read_enable: bool = False

    enable_property_filter: bool = False
    enable_consume_queue_ext: bool = False
    enable_calc_filter_bit_map: bool = False
    expect_consumer_num_use_filter: int = 32
    max_error_rate_of_bloom_filter: int = 20
    filter_data_clean_time_span: int = 24 * 3_600_000

    file_reserved_time: int = 72
    delete_when: str = "04"
    """Hours of the day, separated by semicolons."""
    disk_max_used_space_ratio: int = 75
    clean_file_forcibly_enable: bool = True
    clean_resource_interval: Period = 10_000
    delete_commit_log_files_interval: int = 100
    delete_consume_queue_files_interval: int = 100
    redelete_hanged_file_interval: int = 120_000
    # System properties of the Java process.
    disk_space_clean_forcibly_ratio: Annotated[
        float, Named("rocketmq.broker.diskSpaceCleanForciblyRatio")
    ] = 0.85
    disk_space_warning_level_ratio: Annotated[
        float, Named("rocketmq.broker.diskSpaceWarningLevelRatio")
    ] = 0.90

    flush_disk_type: FlushMode = FlushMode.ASYNC_FLUSH
    flush_interval_commit_log: Period = 500
    flush_commit_log_least_pages: int = 4
    flush_commit_log_thorough_interval: int = 10_000
    flush_interval_consume_queue: Period = 1000
    flush_consume_queue_least_pages: int = 2
    flush_consume_queue_thorough_interval: int = 60_000
    sync_flush_timeout: int = 5000
    transient_store_pool_enable: bool = False
    transient_store_pool_size: Count = 5
    commit_interval_commit_log: Period = 200
    commit_commit_log_least_pages: int = 4
    commit_commit_log_thorough_interval: int = 200

    # 4.6.0 starts with less than 256, and then refuses every message.
    mapped_file_size_commit_log: Annotated[int, Range(256)] = 1024**3
    mapped_file_size_consume_queue: Annotated[int, Range(UNIT_SIZE)] = 6_000_000
    mapped_file_size_consume_queue_ext: int = 48 * 1024**2
    max_hash_slot_num: Count = 5_000_000
    max_index_num: Count = 20_000_000
    message_index_enable: bool = True
    message_index_safe: bool = False
    max_message_size: Count = 4 * 1024**2
    os_page_cache_busy_time_out_mills: Annotated[int, ShownOnly()] = 1000
    """An append never waits for another here."""
    check_crc_on_recover: Annotated[bool, Named("checkCRCOnRecover")] = True
    access_message_in_memory_max_ratio: int = 40
    """Percent of `PHYSICAL_MEMORY_SIZE`; older messages of the log are on disk."""
    max_transfer_bytes_on_message_in_memory: int = 256 * 1024
    max_transfer_count_on_message_in_memory: int = 32
    max_transfer_bytes_on_message_in_disk: int = 64 * 1024
    max_transfer_count_on_message_in_disk: int = 8
    max_msgs_num_batch: int = 64
    message_delay_level: Annotated[str, Readable(DelayLevels)] = DEFAULT_DELAY_LEVELS

    # The name server's eighth has to hold a frame of the largest size.
    peer_memory_max: Annotated[int, Range(8 * FRAME_SIZE_MAX, INT64_MAX)] = (
        256 * 1024**2
    )
    """Bytes of unread responses and unfinished requests that all peers may hold.

    It is the reference's own: no release has such a bound.
    """

    vip_port: int
    address: str
    """Address for clients, as ``127.0.0.1:10911``."""
    address_for_slaves: str
    is_slave: bool
    """Whether the commit log comes from a master."""
    is_sync_master: bool
    """Whether responses to sends wait until a slave has the messages."""
    may_read: bool
    """Whether brokerPermission has PERM_READ."""
    may_write: bool
    """Whether brokerPermission has PERM_WRITE."""

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        super().__init__(texts)
        self.store_ip = ""
        """Numeric address of the host in `address`, for records; brokerIP1 if empty."""
        self.changes: dict[str, str] = {}
        """Settings that tools have changed, by their spelling, with their texts."""
        self.change_count = 0
        self.changed_at_ms = 0

    def derive(self) -> None:
        """Derive the attributes that every request reads."""
        self.vip_port = self.listen_port - VIP_PORT_DISTANCE
        self.address = f"{self.broker_ip1}:{self.listen_port}"
        ip_for_slaves = self.broker_ip2 or self.broker_ip1
        self.address_for_slaves = f"{ip_for_slaves}:{self.ha_listen_port}"
        self.is_slave = self.broker_role is Role.SLAVE
        self.is_sync_master = self.broker_role is Role.SYNC_MASTER
        self.may_read = bool(self.broker_permission & Permission.READ)
        self.may_write = bool(self.broker_permission & Permission.WRITE)

    def update(self, changes: Mapping[str, str], now_ms: int) -> None:
        """Apply the changes of a tool."""
        self.change(changes)
        texts = self.texts()
        names = {name: self.SPELLINGS.get(name, name) for name in changes}
        self.changes |= {
            name: texts[own] for name, own in names.items() if own in texts
        }
        self.change_count += 1  # [ADMIN-CONFIG-005]
        self.changed_at_ms = now_ms

    def shown(self) -> dict[str, str]:
        """Return the settings for tools, without empty ones and system properties."""
        texts = self.texts().items()
        return {name: text for name, text in texts if text and "." not in name}

    def store_options(self) -> StoreOptions:
        """Return the settings of the message store."""
        has_pool = (  # [STORE-FLUSH-008]
            self.transient_store_pool_enable
            and self.flush_disk_type is FlushMode.ASYNC_FLUSH
            and not self.is_slave
        )
        values = {
            one.name: getattr(self, self.TABLE[one.encode_name].attribute)
            for one in fields(StoreOptions)
            if one.encode_name in self.TABLE
        }
        if not has_pool:
            values["pool_buffer_count"] = 0
        if not self.enable_consume_queue_ext:
            values["extension_file_size"] = 0
        for row in _OF_TIMER:
            text = self.others.get(row.name)
            values[row.attribute] = row.default if text is None else row.parse(text)
        values |= self.limits_of_reads()
        return StoreOptions(is_slave=self.is_slave, **values)

    def limits_of_reads(self) -> dict[str, int]:
        """Return the settings of the message store that tools may change."""
        ratio = self.access_message_in_memory_max_ratio
        return {
            "memory_size": PHYSICAL_MEMORY_SIZE * ratio // 100,
            "max_transfer_size_in_memory": self.max_transfer_bytes_on_message_in_memory,
            "max_transfer_count_in_memory": (
                self.max_transfer_count_on_message_in_memory
            ),
            "max_transfer_size_on_disk": self.max_transfer_bytes_on_message_in_disk,
            "max_transfer_count_on_disk": self.max_transfer_count_on_message_in_disk,
            "query_count_max": self.max_msgs_num_batch,
        }

    def check_role(self) -> None:
        """Raise SettingError for a slave that 4.6.0 refuses; give a master the id 0.

        4.6.0 org.apache.rocketmq.broker.BrokerStartup#createBrokerController.
        """
        if not self.is_slave:
            self.broker_id = 0
        elif self.broker_id <= 0:  # [HA-SLAVE-012]
            raise SettingError(f"brokerId is {self.broker_id}; a slave's must be > 0")
