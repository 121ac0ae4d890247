"""
The settings of broker.conf (Java: BrokerConfig, MessageStoreConfig).

Names and defaults are Java's, so that the file of a real broker works here. Unknown
settings are kept and returned to tools.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from reference.core.store.types import FlushMode, StoreOptions
from spec.wire.message.delay_levels import DEFAULT_DELAY_LEVELS

DEFAULTS: Mapping[str, str] = {
    "brokerName": "broker-a",
    "brokerClusterName": "DefaultCluster",
    "brokerId": "0",
    "brokerIP1": "127.0.0.1",
    "brokerPermission": "6",
    "defaultTopicQueueNums": "8",
    "autoCreateTopicEnable": "true",
    "autoCreateSubscriptionGroup": "true",
    "clusterTopicEnable": "true",
    "brokerTopicEnable": "true",
    "traceTopicEnable": "false",
    "aclEnable": "false",
    "msgTraceTopicName": "RMQ_SYS_TRACE_TOPIC",
    "rejectTransactionMessage": "false",
    "storeReplyMessageEnable": "true",
    "longPollingEnable": "true",
    "shortPollingTimeMills": "1000",
    "notifyConsumerIdsChangedEnable": "true",
    "enablePropertyFilter": "false",
    "flushConsumerOffsetInterval": "5000",
    "registerNameServerPeriod": "30000",  # [ROUTE-OUTERAPI-009]
    "forceRegister": "true",  # [ROUTE-OUTERAPI-011]
    "compressedRegister": "false",
    "transactionTimeOut": "6000",  # [TXN-CHECK-017]
    "transactionCheckMax": "15",
    "transactionCheckInterval": "60000",  # [TXN-CHECK-018]
    "startAcceptSendRequestTimeStamp": "0",
    "sendThreadPoolQueueCapacity": "10000",
    "pullThreadPoolQueueCapacity": "100000",
    "queryThreadPoolQueueCapacity": "20000",
    "endTransactionPoolQueueCapacity": "100000",
    "regionId": "DefaultRegion",
    "traceOn": "true",
    "listenPort": "10911",
    "haListenPort": "10912",
    "brokerRole": "ASYNC_MASTER",
    "haMasterAddress": "",
    "haSendHeartbeatInterval": "5000",
    "haHousekeepingInterval": "20000",
    "haTransferBatchSize": "32768",
    "haSlaveFallbehindMax": "268435456",
    "offsetCheckInSlave": "false",
    "slaveReadEnable": "false",
    "fileReservedTime": "72",
    "deleteWhen": "04",
    "diskMaxUsedSpaceRatio": "75",
    "cleanFileForciblyEnable": "true",
    "cleanResourceInterval": "10000",
    "deleteCommitLogFilesInterval": "100",
    "deleteConsumeQueueFilesInterval": "100",
    "redeleteHangedFileInterval": "120000",
    "defaultQueryMaxNum": "32",
    "flushDiskType": "ASYNC_FLUSH",
    "flushIntervalCommitLog": "500",
    "flushCommitLogLeastPages": "4",
    "flushCommitLogThoroughInterval": "10000",
    "flushIntervalConsumeQueue": "1000",
    "flushConsumeQueueLeastPages": "2",
    "flushConsumeQueueThoroughInterval": "60000",
    "syncFlushTimeout": "5000",
    "osPageCacheBusyTimeOutMills": "1000",
    "transientStorePoolEnable": "false",
    "transientStorePoolSize": "5",
    "commitIntervalCommitLog": "200",
    "commitCommitLogLeastPages": "4",
    "commitCommitLogThoroughInterval": "200",
    "mappedFileSizeCommitLog": "1073741824",
    "mappedFileSizeConsumeQueue": "6000000",
    "enableConsumeQueueExt": "false",
    "enableCalcFilterBitMap": "false",
    "expectConsumerNumUseFilter": "32",
    "maxErrorRateOfBloomFilter": "20",
    "filterDataCleanTimeSpan": "86400000",
    "mappedFileSizeConsumeQueueExt": "50331648",
    "maxHashSlotNum": "5000000",
    "maxIndexNum": "20000000",
    "messageIndexEnable": "true",
    "messageIndexSafe": "false",
    "maxMessageSize": "4194304",
    "checkCRCOnRecover": "true",
    "maxTransferBytesOnMessageInMemory": "262144",
    "maxTransferCountOnMessageInMemory": "32",
    "maxTransferBytesOnMessageInDisk": "65536",
    "maxTransferCountOnMessageInDisk": "8",
    "maxMsgsNumBatch": "64",
    "messageDelayLevel": DEFAULT_DELAY_LEVELS,
    "peerMemoryMax": "268435456",
}
"""Defaults of 4.6.0. Names and addresses differ: it takes these from the machine.

peerMemoryMax is the reference's own: bytes of unread responses and unfinished requests
that all peers together may hold. No release has such a bound.
"""


class Role(StrEnum):
    """The values of the setting brokerRole."""

    ASYNC_MASTER = "ASYNC_MASTER"
    SYNC_MASTER = "SYNC_MASTER"
    SLAVE = "SLAVE"


class OptionError(ValueError):
    """A setting has a value of the wrong type."""


@dataclass(slots=True)
class BrokerOptions:
    """The settings of one broker; tools may change them while it runs."""

    settings: dict[str, str] = field(default_factory=lambda: dict(DEFAULTS))
    name: str = field(init=False)
    cluster: str = field(init=False)
    address: str = field(init=False)
    """Address for clients, as ``127.0.0.1:10911``."""
    region: str = field(init=False)
    is_traced: bool = field(init=False)
    accepts_sends_from_ms: int = field(init=False)
    is_slave: bool = field(init=False)
    """Whether the commit log comes from a master."""
    is_sync_master: bool = field(init=False)
    """Whether responses to sends wait until a slave has the messages."""
    may_read: bool = field(init=False)
    """Whether brokerPermission has PERM_READ."""
    may_write: bool = field(init=False)
    """Whether brokerPermission has PERM_WRITE."""
    is_property_filter_enabled: bool = field(init=False)
    """enablePropertyFilter: consumers may filter by expression."""
    is_slave_read_enabled: bool = field(init=False)
    """slaveReadEnable: responses to pulls may suggest a slave."""
    store_ip: str = ""
    """Numeric address of the host in `address`, for records; brokerIP1 if empty."""
    change_count: int = 0
    changed_at_ms: int = 0

    def __post_init__(self) -> None:
        """Apply the defaults and read the settings that every request needs."""
        self.settings = {**DEFAULTS, **self.settings}
        self._read()

    @property
    def ip(self) -> str:
        """The host part of the address."""
        return self.settings["brokerIP1"]

    @property
    def ip_for_slaves(self) -> str:
        """The host part of the address that slaves connect to (Java: brokerIP2)."""
        return self.settings.get("brokerIP2", self.ip)

    @property
    def broker_id(self) -> int:
        """0 for a master."""
        return self.number("brokerId")

    @property
    def permission(self) -> int:
        """Bits of brokerPermission: PERM_READ 4, PERM_WRITE 2."""
        return self.number("brokerPermission")

    def number(self, name: str) -> int:
        """Return the setting *name*, a number."""
        try:
            return int(self.settings[name])
        except ValueError:
            value = self.settings[name]
            raise OptionError(f"{name} is {value!r}, which is not a number") from None

    def truth(self, name: str) -> bool:
        """Return the setting *name*, true or false."""
        return self.settings[name].lower() == "true"

    def update(self, changes: Mapping[str, str], now_ms: int) -> None:
        """Apply the settings in *changes* that are known and have the right type."""
        known = {
            name: value
            for name, value in changes.items()
            if name in self.settings and _fits(value, self.settings[name])
        }
        self.settings.update(known)
        self.change_count += 1  # [ADMIN-CONFIG-005]
        self.changed_at_ms = now_ms
        self._read()

    def shown(self) -> dict[str, str]:
        """Return the settings for tools, without empty ones."""
        return {name: value for name, value in self.settings.items() if value}

    def store_options(self) -> StoreOptions:
        """Return the settings of the message store."""
        mode = self.settings["flushDiskType"]
        if mode not in set(FlushMode):
            raise OptionError(f"flushDiskType is {mode!r}, which is not a flush mode")
        return StoreOptions(
            commit_log_file_size=self.number("mappedFileSizeCommitLog"),
            consume_queue_file_size=self.number("mappedFileSizeConsumeQueue"),
            extension_file_size=self._extension_file_size(),
            index_slot_count=self.number("maxHashSlotNum"),
            index_item_count=self.number("maxIndexNum"),
            index_enabled=self.truth("messageIndexEnable"),
            index_safe=self.truth("messageIndexSafe"),
            max_message_size=self.number("maxMessageSize"),
            flush_mode=FlushMode(mode),
            pool_buffer_count=self._pool_buffer_count(),
            page_cache_busy_ms=self.number("osPageCacheBusyTimeOutMills"),
            check_crc_on_recover=self.truth("checkCRCOnRecover"),
            max_transfer_size_in_memory=self.number(
                "maxTransferBytesOnMessageInMemory"
            ),
            max_transfer_count_in_memory=self.number(
                "maxTransferCountOnMessageInMemory"
            ),
            max_transfer_size_on_disk=self.number("maxTransferBytesOnMessageInDisk"),
            max_transfer_count_on_disk=self.number("maxTransferCountOnMessageInDisk"),
            query_count_max=self.number("maxMsgsNumBatch"),
            delay_levels=self.settings["messageDelayLevel"],
            is_slave=self.is_slave,
        )

    def _extension_file_size(self) -> int:
        """Return the size of an extension's files; 0 without extensions."""
        is_used = self.truth("enableConsumeQueueExt")
        return self.number("mappedFileSizeConsumeQueueExt") if is_used else 0

    def _pool_buffer_count(self) -> int:
        """Return the size of the transient store pool; 0 where it has no effect."""
        # [STORE-FLUSH-008]
        is_used = (
            self.truth("transientStorePoolEnable")
            and self.settings["flushDiskType"] == FlushMode.ASYNC_FLUSH
            and not self.is_slave
        )
        return self.number("transientStorePoolSize") if is_used else 0

    def _read(self) -> None:
        # Before 4.5 these names had one p; files with the old names are still about.
        for spelt, meant in SPELLINGS.items():
            if spelt in self.settings:
                self.settings[meant] = self.settings.pop(spelt)
        self.name = self.settings["brokerName"]
        self.cluster = self.settings["brokerClusterName"]
        self.address = f"{self.ip}:{self.number('listenPort')}"
        self.region = self.settings["regionId"]
        self.is_traced = self.truth("traceOn")
        role = self.settings["brokerRole"]
        self.is_slave = role == Role.SLAVE
        self.is_sync_master = role == Role.SYNC_MASTER
        self.accepts_sends_from_ms = self.number("startAcceptSendRequestTimeStamp")
        self.may_read = bool(self.permission & _PERM_READ)
        self.may_write = bool(self.permission & _PERM_WRITE)
        self.is_property_filter_enabled = self.truth("enablePropertyFilter")
        self.is_slave_read_enabled = self.truth("slaveReadEnable")

    def check_role(self) -> None:
        """Raise OptionError for a role that 4.6.0 refuses; give a master the id 0.

        4.6.0 org.apache.rocketmq.broker.BrokerStartup#createBrokerController.
        """
        role = self.settings["brokerRole"]
        if role not in set(Role):
            raise OptionError(f"brokerRole is {role!r}, not one of {', '.join(Role)}")
        if role == Role.SLAVE and self.broker_id <= 0:  # [HA-SLAVE-012]
            raise OptionError(f"brokerId is {self.broker_id}; a slave's must be > 0")
        if role != Role.SLAVE:
            self.settings["brokerId"] = "0"


_PERM_READ, _PERM_WRITE = 4, 2
_NUMBER = re.compile(r"[+-]?\d+")
SPELLINGS = {
    "mapedFileSizeCommitLog": "mappedFileSizeCommitLog",
    "mapedFileSizeConsumeQueue": "mappedFileSizeConsumeQueue",
}


def _fits(value: str, old: str) -> bool:
    """Return whether *value* is a number if the *old* one is."""
    return not _NUMBER.fullmatch(old) or bool(
        _NUMBER.fullmatch(value)  # [ADMIN-CONFIG-003]
    )
